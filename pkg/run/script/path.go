package script

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

type programs struct {
	mu    sync.Mutex
	found map[[2]string]string
}

// find returns the file of a program on the PATH of an environment. It returns name if it contains
// a separator or is not found.
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

// LookPath returns the first executable file with a name in a PATH, or "". It skips empty and relative directories.
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

// Locate returns the file of a program that is named as on a PATH, or by its absolute path, or "".
func Locate(name, path string) string {
	if filepath.IsAbs(name) {
		return LookPath(filepath.Base(name), filepath.Dir(name))
	}
	return LookPath(name, path)
}

// Find returns the path of a program next to this one, or else on a PATH, or "".
func Find(name, path string) string {
	if sibling := Sibling(name); sibling != "" {
		return sibling
	}
	return LookPath(name, path)
}

// Sibling returns the path of a program next to this one, or "".
func Sibling(name string) string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if physical, err := filepath.EvalSymlinks(exe); err == nil {
		exe = physical
	}
	return LookPath(name, filepath.Dir(exe))
}
