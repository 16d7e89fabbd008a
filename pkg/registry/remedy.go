package registry

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/script"
)

// checkRunnable warns about a script that nothing can start (T-44).
func checkRunnable(s *subject, file string) {
	if _, err := script.Command(file); errors.Is(err, script.ErrNotRunnable) {
		s.say(mcp.Warning, fmt.Sprintf("%s: %s is not runnable; run chmod +x %s, or begin it with #!",
			s.shown, s.path, script.Quote(file)))
	}
}

// findStrays looks for tools that lie in no directory of their own, where nothing
// is discovered. They claim their path, and come to nothing.
func findStrays(l *look) {
	for file := range l.files {
		_, mode, header, err := l.intro(file)
		if err == nil && (mode&0o111 != 0 || header != nil || l.metadata(file) != nil) {
			l.add(found{path: file, claim: true})
		}
	}
}

// strays warns about those that no entry of a handwritten list names either.
func (a *assembly) strays() {
	dir := labelOf(a.p.Root, a.p.Tools)
	a.found = slices.DeleteFunc(a.found, func(f found) bool {
		if !f.claim {
			return false
		}
		if a.declared == nil || !slices.ContainsFunc(a.declared.found, func(m found) bool { return path.Clean(m.path) == f.path }) {
			a.say(message{mcp.Warning, fmt.Sprintf("%s/%s is not offered: a tool lies in a directory of its own; move it to %s/%s/, or name it in server.d/register.json",
				dir, f.path, dir, stem(f.path))})
		}
		return true
	})
}
