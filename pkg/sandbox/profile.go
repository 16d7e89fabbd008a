package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/confine"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/script"
)

// toolProfile puts what a script declares into a profile (CF-10 to CF-20).
func (s *Sandbox) toolProfile(sub *Subject, private *privateDir) *confine.Profile {
	needs := &sub.Needs
	p := &confine.Profile{
		AllFiles: needs.Has(access.FileSystem), Modes: needs.Has(access.Edit), Network: needs.Has(access.Network),
		Process: needs.Has(access.Process), Connect: needs.Connect, Write: slices.Clone(sub.Files),
	}
	extra := s.extraPaths(sub)
	state := filepath.Dir(private.real)
	secret, runsNext := append(s.system.secret, state), append(s.system.runsNext, state)
	p.Programs = slices.Concat(s.system.always, []string{s.ownFolder(sub.Script)}, s.interpreter(sub), extra.exec)
	if p.Process {
		p.Programs = append(p.Programs, s.system.programs...)
	}
	if p.AllFiles {
		return p
	}
	read := func(path string) {
		if s.allow(&p.Read, path, secret) { // its names tell nothing that reading the rest would not
			p.List = append(p.List, path)
		}
	}
	for _, path := range extra.read {
		read(path)
	}
	for _, path := range extra.write {
		read(path)
		s.allow(&p.Write, path, runsNext)
	}
	search, edit := needs.Has(access.Search), needs.Has(access.Edit)
	if search {
		read(s.Project.Root)
	}
	for _, r := range sub.Roots {
		if search || edit {
			read(r.Path)
		}
		if edit {
			s.allow(&p.Write, r.Path, runsNext)
		}
	}
	return p
}

// ownFolder is the folder of a script; for one that has none the script.
func (s *Sandbox) ownFolder(script string) string {
	switch dir := filepath.Dir(script); dir {
	case s.Project.Tools, s.Project.Root, s.Project.Providers, s.Project.Completions, s.Project.Prompts,
		s.Project.Resources, s.Project.Server:
		return script
	default:
		return dir
	}
}

// allow adds a path to a list, but for what is protected. Landlock knows no exceptions, so
// in a directory that holds something protected what is there is added entry by entry, and
// holds is true.
func (s *Sandbox) allow(list *[]string, path string, protected []string) (holds bool) {
	for _, dir := range protected {
		if project.Within(dir, path) {
			return false
		}
		holds = holds || project.Within(path, dir)
	}
	if !holds {
		*list = append(*list, path)
		return false
	}
	for _, name := range entries(path) {
		s.allow(list, filepath.Join(path, name), protected)
	}
	return true
}

// maxEntries is how many entries of one directory are added.
const maxEntries = 256

// entries returns the regular files and directories in a directory, as many as are added.
func entries(dir string) (names []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(maxEntries)
	for _, e := range list {
		if e.IsDir() || e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// extraPaths are what the paths of a declaration stand for.
type extraPaths struct {
	extras            access.Extras
	read, write, exec []string
}

// extraPaths resolves the paths of a declaration when they are seen first, so that a link
// that a script puts in their way later leads to nothing (CF-17).
func (s *Sandbox) extraPaths(sub *Subject) *extraPaths {
	x := &sub.Needs.Extras
	if len(x.Read)+len(x.Write)+len(x.Exec) == 0 {
		return &extraPaths{}
	}
	if known, ok := s.found.Load(sub.Script); ok {
		known := known.(*extraPaths)
		if slices.Equal(known.extras.Read, x.Read) && slices.Equal(known.extras.Write, x.Write) &&
			slices.Equal(known.extras.Exec, x.Exec) {
			return known
		}
	}
	e := &extraPaths{extras: *x}
	resolve := func(list []string) (resolved []string) {
		for _, path := range list {
			path = access.Resolve(path, s.Project.Root, s.Project.Env["HOME"])
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
			resolved = append(resolved, path)
		}
		return resolved
	}
	e.read, e.write = resolve(x.Read), resolve(x.Write)
	for _, program := range x.Exec {
		file := ""
		if !strings.ContainsRune(program, '/') {
			file = script.LookPath(program, s.system.search)
		}
		if file == "" {
			file = resolve([]string{program})[0]
		}
		e.exec = slices.Concat(e.exec, s.installed(file), s.firstLine(file))
	}
	s.found.Store(sub.Script, e)
	return e
}
