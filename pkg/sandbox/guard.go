package sandbox

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// A Listed is a script in the registry.
type Listed struct {
	Tool   string             // the name of the tool; "" for a script of another kind
	Script string             // absolute path; the file need not exist
	Needs  access.Declaration // the declaration of a tool
}

// A guard contains the files that confined scripts never read or write, whatever they declare, and the
// folders in which they change files.
type guard struct {
	secret   *fence        // not readable below a root: settings and secrets of the server
	runsNext func() *fence // not writable below a root: code
	controls func() fences // files that control the kernel, not writable by tools
	reached  reached

	*view
	made  time.Time
	count int      // seen.count when the guard was made
	roots []string // of all calls
}

// seen contains the roots and declarations of the scripts that a sandbox has confined.
type seen struct {
	roots []string
	tools map[string]Listed
	count int // grows with each addition
}

// maxRoots is the maximum number of stored roots. With more roots, every file counts as changeable.
const maxRoots = 1024

func (m *seen) add(sub *Subject) {
	for i := range sub.Roots {
		path := sub.Roots[i].Path
		if len(m.roots) >= maxRoots {
			path = "/"
		}
		if !slices.Contains(m.roots, path) {
			m.roots = append(m.roots, path)
			m.count++
		}
	}
	if known, ok := m.tools[sub.key()]; ok && known.Needs.Equal(&sub.Needs) {
		return
	}
	if m.tools == nil {
		m.tools = map[string]Listed{}
	}
	m.tools[sub.key()] = Listed{sub.Name, sub.Script, sub.Needs}
	m.count++
}

// guard returns the guard for a script that starts now.
func (s *Sandbox) guard(sub *Subject) (*guard, error) {
	s.guarding.Lock()
	defer s.guarding.Unlock()
	s.seen.add(sub)
	if g := s.guarded; g != nil && time.Since(g.made) < profileTTL && g.count == s.seen.count {
		return g, nil
	}
	g, err := s.newGuard()
	if err == nil {
		s.guarded = g
	}
	return g, err
}

// anyGuard returns the last guard, or a first one. The caller has locked guarding.
func (s *Sandbox) anyGuard() (g *guard, err error) {
	if s.guarded == nil {
		s.guarded, err = s.newGuard()
	}
	return s.guarded, err
}

func (s *Sandbox) newGuard() (*guard, error) {
	g := &guard{made: time.Now(), count: s.seen.count, roots: slices.Clone(s.seen.roots)}
	var err error
	if g.view, err = newView(); err != nil {
		return nil, err
	}
	g.secret = newFence(g.view, []string{s.Project.Server, s.State.Dir})
	listed := slices.Collect(maps.Values(s.seen.tools))
	if s.Listed != nil {
		more, err := s.Listed()
		if err != nil { // any file of the project may be a script
			more = []Listed{{Script: s.Project.Root}}
		}
		listed = append(listed, more...)
	}
	written := reached{view: g.view}
	edits := false
	for i := range listed {
		edits = edits || listed[i].Needs.Has(access.Edit)
		for _, path := range listed[i].Needs.Write {
			written.add(s.resolve(path))
		}
	}
	g.reached = reached{g.view, slices.Clone(written.paths)}
	if edits {
		for _, root := range g.roots {
			g.reached.add(root)
		}
	}
	g.runsNext = sync.OnceValue(func() *fence { return s.code(listed, g, written) })
	g.controls = sync.OnceValue(func() fences {
		all, processes := g.mounts.controls()
		return fences{
			all: newFence(g.view, all), processes: newFence(g.view, processes),
			withCode: newFence(g.view, slices.Concat(g.runsNext().paths, all)),
		}
	})
	return g, nil
}

// fences contain the file systems that control the kernel.
type fences struct{ all, processes, withCode *fence }

// allowWriting adds a root or a declared path to the writable files of a profile, except code and files that
// control the kernel. A file that controls the kernel, but no processes, is writable if it is declared.
func (g *guard) allowWriting(p *confine.Profile, path string, declared bool) {
	f := g.controls()
	if declared && f.all.covers(path) {
		f.processes.allow(&p.Write, path)
		return
	}
	f.withCode.allow(&p.Write, path)
}

// code returns the fence around code. written are the paths that tools declare in confine.write.
func (s *Sandbox) code(listed []Listed, g *guard, written reached) *fence {
	paths := slices.Concat(s.system().code, s.system().siblings(), s.Project.RunsNext(), []string{s.State.Dir})
	fixed := newFence(g.view, paths)
	programs := s.programsOf(listed, &guard{view: g.view, roots: g.roots, reached: written,
		runsNext: func() *fence { return fixed }})
	if len(programs) == 0 {
		return fixed
	}
	return newFence(g.view, slices.Concat(fixed.paths, programs))
}

// programsOf returns the programs that scripts of the project start, and the completion scripts. All of these are code.
// It leaves out a program that only confined tools start and that another tool can write, because confined tools do not
// start such a program.
func (s *Sandbox) programsOf(listed []Listed, g *guard) (list []string) {
	known := map[string]bool{}
	add := func(program string, confined bool) {
		if known[program] || confined && g.changeable(program) {
			return
		}
		known[program] = true
		real, _, _ := g.follow(program)
		if !g.runsNext().covers(program) || !g.runsNext().covers(real) {
			list = append(list, program)
		}
		for _, file := range []string{program, real} {
			if dir := s.installation(file, g.roots); dir != "" && !known[dir] {
				known[dir] = true
				list = append(list, dir)
			}
		}
	}
	names := map[string]string{}
	ofScript := func(file string, confined bool) {
		for _, name := range script.Programs(file) {
			if _, ok := names[name]; !ok {
				names[name] = s.find(name)
			}
			if names[name] != "" {
				add(names[name], confined)
			}
		}
	}
	for i := range listed {
		one := &listed[i]
		confined := one.Tool != "" && s.confines(&one.Needs)
		if one.Tool == "" {
			list = append(list, one.Script)
		}
		ofScript(one.Script, confined)
		for _, entry := range one.Needs.Exec {
			file := s.program(entry)
			if add(file, confined); !g.changeable(file) {
				ofScript(file, confined)
			}
		}
	}
	for _, name := range entries(s.Project.Providers) {
		ofScript(filepath.Join(s.Project.Providers, name), s.Mode.All)
	}
	return list
}

// reached contains the folders and files that confined scripts can change. These are the paths in
// confine.write of all tools, and the roots if a tool declares Edit.
type reached struct {
	*view
	paths []string // without links
}

func (r *reached) add(path string) {
	real, _, _ := r.follow(path)
	r.paths = append(r.paths, real)
}

// holds reports whether confined scripts can change the file or the files in the folder at a path without links.
func (r *reached) holds(path string) bool {
	if len(r.paths) == 0 {
		return false
	}
	for _, alias := range append(r.mounts.aliases(path), path) {
		if slices.ContainsFunc(r.paths, func(one string) bool { return fsys.Within(one, alias) }) {
			return true
		}
	}
	for at := path; ; at = filepath.Dir(at) { // the path may have another spelling
		if id, ok := r.identify(at); ok && slices.ContainsFunc(r.paths, func(one string) bool {
			other, ok := r.identify(one)
			return ok && other == id
		}) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// changeable reports whether a confined script can change the file at a path, or a link on the way.
func (g *guard) changeable(path string) bool {
	if len(g.reached.paths) == 0 {
		return false
	}
	real, links, _ := g.follow(path)
	return g.reached.holds(real) && !g.runsNext().covers(real) || g.exchangeable(links)
}

// exchangeable reports whether a confined script can replace one of the links. It can if it may write to
// the whole folder of the link.
func (g *guard) exchangeable(links []string) bool {
	return slices.ContainsFunc(links, func(link string) bool {
		dir := filepath.Dir(link)
		return g.reached.holds(dir) && !g.runsNext().holds(dir) && !g.runsNext().covers(dir)
	})
}

func (s *Sandbox) resolve(path string) string {
	return access.Resolve(path, s.Project.Root, s.Project.Env["HOME"])
}

// find returns the file of a program, given its path or its name on PATH, or "".
func (s *Sandbox) find(program string) string {
	if filepath.IsAbs(program) {
		return filepath.Clean(program)
	}
	return script.LookPath(program, s.system().search)
}

// program returns the file for an entry of confine.exec.
func (s *Sandbox) program(entry string) string {
	if !strings.ContainsRune(entry, '/') {
		if file := script.LookPath(entry, s.system().search); file != "" {
			return file
		}
	}
	return s.resolve(entry)
}

// shared are directories whose bin has programs of many packages.
var shared = []string{"/", "/usr", "/usr/local", "/opt", "/snap", "/home/linuxbrew/.linuxbrew"}

// installation returns the directory of the package that a program belongs to, or "". It is the outermost
// node_modules, or the directory PREFIX of a program in PREFIX/bin. The result is also "" for a directory with other
// contents, such as a root or the home directory.
func (s *Sandbox) installation(program string, rootDirs []string) string {
	bin := filepath.Dir(program)
	dir := filepath.Dir(bin)
	if before, _, ok := strings.Cut(program, "/node_modules/"); ok {
		dir = before + "/node_modules"
	} else if filepath.Base(bin) != "bin" || slices.Contains(shared, dir) || filepath.Base(dir) == ".local" {
		return ""
	}
	for _, other := range append([]string{s.Project.Root}, rootDirs...) {
		if fsys.Within(dir, other) {
			return ""
		}
	}
	if s.Homes().Hold(dir) {
		return ""
	}
	return dir
}

// The faults of entries of a declaration, for messages.
var (
	errNotThere   = errors.New("is not there")
	errNoProgram  = errors.New("is not an executable file")
	errSecret     = errors.New("is one of the server's own files")
	errChangeable = errors.New("is in a folder that a tool writes to, so anything could be started there")
	errLink       = errors.New("leads over a link in a folder that a tool writes to, so it could lead anywhere")
)

// startable returns the file of a program, without links. The error is the reason why it cannot be allowed.
func (g *guard) startable(program string) (real string, err error) {
	real, links, err := g.follow(program)
	switch {
	case g.exchangeable(links):
		return "", errLink
	case err != nil:
		return "", errNotThere
	}
	switch mode := g.status(real).mode; {
	case !mode.IsRegular() || mode&0o111 == 0:
		return "", errNoProgram
	case g.secret.covers(real):
		return "", errSecret
	case g.changeable(real):
		return "", errChangeable
	}
	return real, nil
}

func (s *Sandbox) warnOnce(text string) {
	if _, logged := s.warned.LoadOrStore(text, true); !logged {
		s.Log(mcp.Warning, logger, text)
	}
}

// A fence contains files and folders that a capability does not cover. It identifies them by path, and by device and
// inode. So another spelling of a path, a bind mount or a hard link leads to the same file.
type fence struct {
	view   *view
	paths  []string        // without links; some may not exist
	inside map[fileID]bool // the files and folders at the paths
	above  map[fileID]bool // the folders above the paths
}

// newFence returns a fence with the targets of the paths and the links on the way. The links count,
// because a script that can replace a link chooses its target.
func newFence(v *view, paths []string) *fence {
	f := &fence{view: v, inside: map[fileID]bool{}, above: map[fileID]bool{}}
	known := map[string]bool{}
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		real, links, _ := v.follow(path)
		f.surround(real, known)
		for _, link := range links {
			f.surround(link, known)
		}
		for _, alias := range v.mounts.aliases(real) {
			f.surround(alias, known)
		}
	}
	return f
}

// surround adds a path without links. known are the folders that are in above already.
func (f *fence) surround(path string, known map[string]bool) {
	if slices.Contains(f.paths, path) {
		return
	}
	f.paths = append(f.paths, path)
	if id, ok := f.view.identify(path); ok {
		f.inside[id] = true
	}
	for dir := path; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if known[dir] {
			break
		}
		known[dir] = true
		if id, ok := f.view.identify(dir); ok {
			f.above[id] = true
		}
	}
}

// covers reports whether a path without links leads to a file inside the fence, or below one.
func (f *fence) covers(path string) bool {
	for at := path; ; at = filepath.Dir(at) {
		if f.has(at) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// has reports whether a path without links leads to a file that was added to the fence.
func (f *fence) has(path string) bool {
	if slices.Contains(f.paths, path) {
		return true
	}
	id, ok := f.view.identify(path)
	return ok && f.inside[id]
}

// holds reports whether a folder contains a file inside the fence.
func (f *fence) holds(dir string) bool {
	if id, ok := f.view.identify(dir); ok && f.above[id] {
		return true
	}
	return slices.ContainsFunc(f.paths, func(path string) bool { return path != dir && fsys.Within(dir, path) })
}

// allow adds a path without links to a list of usable files, except files inside the fence. Landlock
// has no exceptions, so a folder that contains a file inside the fence is added entry by entry, and
// holds is true.
func (f *fence) allow(list *[]string, path string) (holds bool) {
	if f.covers(path) {
		return false
	}
	return f.add(list, path)
}

// add is allow for a path that the fence does not cover.
func (f *fence) add(list *[]string, path string) (holds bool) {
	if !f.holds(path) {
		*list = append(*list, path)
		return false
	}
	for _, name := range entries(path) {
		if entry := filepath.Join(path, name); !f.has(entry) {
			f.add(list, entry)
		}
	}
	return true
}

// maxEntries is the maximum number of entries of one directory that are added.
const maxEntries = 256

// entries returns at most maxEntries names of regular files and directories in a directory.
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
