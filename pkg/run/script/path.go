package script

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// programs remembers where programs were found, by PATH and name.
type programs struct {
	mu    sync.Mutex
	found map[[2]string]string
}

// find returns the file that name stands for on the PATH of an environment;
// name itself when it holds a separator or is not found.
func (p *programs) find(name string, env []string) string {
	if strings.ContainsRune(name, os.PathSeparator) || onWindows && strings.Contains(name, "/") {
		return name
	}
	key := [2]string{pathOf(env), name}
	p.mu.Lock()
	defer p.mu.Unlock()
	if file, ok := p.found[key]; ok && isProgram(file) {
		return file
	}
	file := LookPath(name, key[0])
	if file == "" {
		return name
	}
	if p.found == nil {
		p.found = make(map[[2]string]string)
	}
	p.found[key] = file
	return file
}

func pathOf(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], "PATH="); ok {
			return v
		}
	}
	return ""
}

// LookPath returns the first executable file of that name in a PATH, ""
// when there is none. An empty or relative element of the PATH is passed over.
func LookPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, ext := range programExtensions {
			if file := filepath.Join(dir, name+ext); isProgram(file) {
				return file
			}
		}
	}
	return ""
}
