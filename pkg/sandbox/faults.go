package sandbox

import (
	"errors"
	"os"
	"slices"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/registry/access"
)

// A Fault is an entry of "confine" that has no effect.
type Fault struct {
	List  string // "read", "write" or "exec"
	Entry string
	Err   error
}

// Missing reports whether the fault is a missing file.
func (f *Fault) Missing() bool { return f.Err == errNotThere }

var errRunsNext = errors.New("is code that runs later, which no confined tool writes")

// Faults returns the entries of a declaration that have no effect with any roots (CF-17).
func (s *Sandbox) Faults(needs *access.Declaration) (list []Fault, err error) {
	s.guarding.Lock()
	defer s.guarding.Unlock()
	if s.guarded == nil {
		if s.guarded, err = s.newGuard(); err != nil {
			return nil, err
		}
	}
	g := s.guarded
	add := func(name, entry string, err error) {
		if err != nil {
			list = append(list, Fault{name, entry, err})
		}
	}
	path := func(entry string, inside *fence, why error) error {
		real, links, err := g.follow(s.resolve(entry))
		switch {
		case g.exchangeable(links):
			return errLink
		case inside.covers(real):
			return why
		case err != nil:
			return errNotThere
		}
		_, err = os.Lstat(real)
		return err
	}
	for _, entry := range needs.Read {
		add("read", entry, path(entry, g.secret, errSecret))
	}
	for _, entry := range needs.Write {
		add("write", entry, path(entry, g.runsNext(), errRunsNext))
	}
	for _, entry := range needs.Exec {
		_, err := g.startable(s.program(entry))
		add("exec", entry, err)
	}
	return list, nil
}

// Starts reports whether a tool that is confined to its declaration can start a program, given by its name. It is true
// for a program that does not exist (CF-15).
func (s *Sandbox) Starts(sub *Subject, program string) bool {
	s.guarding.Lock()
	defer s.guarding.Unlock()
	var err error
	if s.guarded == nil {
		if s.guarded, err = s.newGuard(); err != nil {
			return true
		}
	}
	p, file := toolProfile(&sub.Needs), s.find(program)
	real, _, err := s.guarded.follow(file)
	if p.Process || file == "" || err != nil {
		return true
	}
	s.toolFiles(&p, sub, s.guarded)
	return slices.ContainsFunc(p.Programs, func(allowed string) bool { return fsys.Within(allowed, real) })
}
