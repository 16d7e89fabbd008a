package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
)

// sdkPrograms are the system's programs that the SDK starts; without Process they can be
// started all the same, so that the SDK works (CF-10).
var sdkPrograms = []string{
	"base64", "bash", "cat", "date", "file", "mkfifo", "mktemp", "mv", "od", "readlink", "rm", "sleep", "tail", "tr", "wc",
}

// systemPaths are what all scripts of a project may use beside the system's libraries.
type systemPaths struct {
	search   string   // the PATH of scripts
	always   []string // lib/, the SDK, what the SDK starts
	programs []string // the directories of the PATH that are not the system's
	code     []string // code that is not the project's (CF-14)
	bin      string   // where our programs lie
}

func findSystem(p *project.Project, state *project.State, common project.Env, sourced []string) systemPaths {
	search := p.ToolBase(&p.Scripts.Tools)["PATH"]
	s := systemPaths{search: search, always: []string{filepath.Join(p.Root, "lib")}}
	for _, name := range []string{"MCPBASH_HOME", "MCPBASH_HELPER_BIN", "MCPBASH_JSON_TOOL_BIN"} {
		s.always = append(s.always, common[name])
	}
	if exe, err := os.Executable(); err == nil {
		s.always = append(s.always, exe)
		s.bin = filepath.Dir(exe)
	}
	if state != nil {
		s.always = append(s.always, state.Program)
	}
	s.code = append(s.code, s.always...)
	for _, name := range sdkPrograms {
		s.always = append(s.always, script.LookPath(name, search))
	}
	for _, path := range []string{search, p.Env["PATH"]} { // tools have the one, our own code the other
		s.code = append(s.code, filepath.SplitList(path)...)
	}
	for _, name := range []string{"MCPBASH_LOGIN_PROFILE", "BASH_ENV"} {
		s.code = append(s.code, p.Env[name])
	}
	s.code = append(s.code, sourced...)
	usable := func(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) != "/" }
	for _, list := range []*[]string{&s.always, &s.code} {
		*list = slices.DeleteFunc(*list, func(path string) bool { return !usable(path) })
	}
	for _, dir := range filepath.SplitList(search) {
		if usable(dir) && !confine.IsSystem(dir) {
			s.programs = append(s.programs, dir)
		}
	}
	return s
}

// programsOfOurs returns the programs that lie next to this one: commands start each other.
func (s *systemPaths) programsOfOurs() (list []string) {
	entries, _ := os.ReadDir(s.bin)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "mcp-") {
			list = append(list, filepath.Join(s.bin, e.Name()))
		}
	}
	return list
}

// Protected returns what nobody reads, and what nobody writes, below a root or a declared
// path (CF-12, CF-14), and where processes are controlled (CF-21).
func (s *Sandbox) Protected() (secret, runsNext, processes []string) {
	s.guarding.Lock()
	defer s.guarding.Unlock()
	g := s.guarded
	if g == nil {
		var err error
		if g, err = s.newGuard(); err != nil {
			return nil, nil, nil
		}
	}
	_, processes = g.mounts.controls()
	return slices.Clone(g.secret.paths), slices.Clone(g.runsNext().paths), processes
}

// Brings returns what may be read and started besides with a program that a declaration
// names: the file behind links, what was installed with it, and what its first line names.
func (s *Sandbox) Brings(program string) (list []string) {
	for _, file := range append([]string{program}, script.Programs(program)...) {
		if real, err := filepath.EvalSymlinks(s.find(file)); err == nil {
			list = append(list, real)
			if prefix := s.prefix(real, nil); prefix != "" {
				list = append(list, prefix)
			}
		}
	}
	return list
}
