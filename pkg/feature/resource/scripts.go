package resource

import (
	"os"
	"slices"
	"sync"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/run/code"
)

// Scripts finds the provider scripts of a project. It is safe for concurrent use.
type Scripts struct {
	project *project.Project
	now     func() time.Time
	mu      sync.Mutex
	missing map[string]time.Time // the names of built-in providers without a script, and when that was found
}

// NewScripts returns the scripts of a project. It does not access the disk.
func NewScripts(p *project.Project) *Scripts {
	return &Scripts{project: p, now: time.Now, missing: map[string]time.Time{}}
}

// lookEvery is the minimum time between two looks for a script that is missing (RES-70).
const lookEvery = 100 * time.Millisecond

// Find returns the project's script for a provider with a valid name, or a zero file (RES-70).
func (s *Scripts) Find(name string) code.File {
	if !slices.Contains(provider.Names, name) { // names come from clients, so unknown ones are not stored
		return s.look(name)
	}
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.missing[name]) < lookEvery {
		return code.File{}
	}
	file := s.look(name)
	if file == (code.File{}) {
		s.missing[name] = now
	}
	return file
}

func (s *Scripts) look(name string) code.File {
	file := code.Provider.Below(s.project, name+".sh")
	if info, err := os.Stat(file.Path()); err != nil || !info.Mode().IsRegular() {
		return code.File{}
	}
	return file
}
