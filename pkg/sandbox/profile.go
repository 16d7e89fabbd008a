package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
)

// toolProfile returns the profile for a declaration, without files.
func toolProfile(needs *access.Declaration) confine.Profile {
	return confine.Profile{
		AllFiles: needs.Has(access.FileSystem), Modes: needs.Has(access.Edit), Network: needs.Has(access.Network),
		Process: needs.Has(access.Process), Connect: needs.Connect,
	}
}

// toolFiles adds the files that a script may use to its profile.
func (s *Sandbox) toolFiles(p *confine.Profile, sub *Subject, g *guard) {
	needs := &sub.Needs
	p.Write = slices.Clone(sub.Files)
	for _, path := range s.system().always {
		if real, _, err := g.follow(path); err == nil {
			p.Programs = append(p.Programs, real)
		}
	}
	s.allowOwn(p, sub, g)
	if p.Process {
		p.Programs = append(p.Programs, s.searched(g)...)
	}
	for _, entry := range needs.Exec {
		if err := s.allowDeclared(p, sub, g, entry); err != nil {
			s.leaveOut(sub, "exec", entry, err)
		}
	}
	if p.AllFiles {
		g.controls().all.allow(&p.Write, "/")
	}
	read := func(path string) {
		if g.secret.allow(&p.Read, path) { // the names in a folder whose other files may be read
			p.List = append(p.List, path)
		}
	}
	for _, entry := range needs.Read {
		if real := s.declaredPath(sub, g, "read", entry); real != "" {
			read(real)
		}
	}
	for _, entry := range needs.Write {
		if real := s.declaredPath(sub, g, "write", entry); real != "" {
			read(real)
			if !p.AllFiles || g.controls().all.covers(real) {
				g.allowWriting(p, real, true)
			}
		}
	}
	if p.AllFiles {
		return
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
			g.allowWriting(p, r.Path, false)
		}
	}
}

// allowOwn allows the folder of a script, or the script, and the programs of its first line.
func (s *Sandbox) allowOwn(p *confine.Profile, sub *Subject, g *guard) {
	if real, links, err := g.follow(s.ownFolder(sub.Script)); err == nil && !g.exchangeable(links) {
		g.secret.allow(&p.Programs, real)
	}
	var interpreters []string
	if !g.changeable(sub.Script) {
		interpreters = script.Programs(sub.Script)
	}
	if len(sub.Argv) > 1 {
		interpreters = append(interpreters, sub.Argv[0])
	}
	for _, program := range interpreters {
		if err := s.allowProgram(p, g, program); err != nil {
			s.warnOnce(fmt.Sprintf("%s: its interpreter %s %v; left out", sub.Name, program, err))
		}
	}
}

// allowDeclared allows a program of confine.exec, and the programs in its first line. Later changes of the
// line have no effect.
func (s *Sandbox) allowDeclared(p *confine.Profile, sub *Subject, g *guard, entry string) error {
	key := declaredKey{sub.key(), "exec", entry}
	known, ok := s.found.Load(key)
	if !ok {
		real, err := g.startable(s.program(entry))
		if err != nil {
			return err
		}
		known = &declaredFile{real, script.Programs(real)}
		s.found.Store(key, known)
	}
	found := known.(*declaredFile)
	err := s.allowProgram(p, g, found.real)
	for i := 0; err == nil && i < len(found.brings); i++ {
		err = s.allowProgram(p, g, found.brings[i])
	}
	return err
}

func (s *Sandbox) allowProgram(p *confine.Profile, g *guard, program string) error {
	real, err := g.startable(s.find(program))
	if err != nil {
		return err
	}
	p.Programs = append(p.Programs, real)
	if dir := s.installation(real, g.roots); dir != "" {
		g.secret.allow(&p.Programs, dir)
	}
	return nil
}

// searched returns the directories of the PATH other than the system's and those that a confined script
// can change.
func (s *Sandbox) searched(g *guard) (list []string) {
	for _, dir := range s.system().programs {
		if real, _, err := g.follow(dir); err == nil && !g.changeable(dir) {
			g.secret.allow(&list, real)
		}
	}
	return list
}

// ownFolder returns the folder of a script, or the script itself if it is not in a separate folder.
func (s *Sandbox) ownFolder(script string) string {
	switch dir := filepath.Dir(script); dir {
	case s.Project.Tools, s.Project.Root, s.Project.Providers, s.Project.Completions, s.Project.Prompts,
		s.Project.Resources, s.Project.Server:
		return script
	default:
		return dir
	}
}

type declaredKey struct{ tool, list, entry string }

// A declaredFile is the first target of an entry. A link that a script creates later has no effect.
type declaredFile struct {
	real   string   // without links
	brings []string // for a program: the programs in its first line
}

// declaredPath returns the target of an entry of confine.read or confine.write, or "" if the target cannot
// be allowed. The target of a path that does not exist is the path.
func (s *Sandbox) declaredPath(sub *Subject, g *guard, list, entry string) string {
	key := declaredKey{sub.key(), list, entry}
	if known, ok := s.found.Load(key); ok {
		return known.(*declaredFile).real
	}
	real, links, err := g.follow(s.resolve(entry))
	if g.exchangeable(links) {
		s.leaveOut(sub, list, entry, errLink)
		return ""
	}
	if err == nil {
		s.found.Store(key, &declaredFile{real: real})
	}
	return real
}

// leaveOut logs once that an entry of a declaration has no effect.
func (s *Sandbox) leaveOut(sub *Subject, list, entry string, err error) {
	s.warnOnce(fmt.Sprintf("%s: confine.%s: %s %v; left out", sub.Name, list, entry, err))
}

// A Fault is an entry of "confine" that has no effect.
type Fault struct {
	List  string // "read", "write" or "exec"
	Entry string
	Err   error
}

// Missing reports whether the fault is a missing file.
func (f *Fault) Missing() bool { return f.Err == errNotThere }

var errRunsNext = errors.New("is code that runs later, which no confined tool writes")

// Faults returns the entries of a declaration that have no effect with any roots.
func (s *Sandbox) Faults(needs *access.Declaration) (list []Fault, err error) {
	s.guarding.Lock()
	defer s.guarding.Unlock()
	g, err := s.anyGuard()
	if err != nil {
		return nil, err
	}
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
// for a program that does not exist.
func (s *Sandbox) Starts(sub *Subject, program string) bool {
	s.guarding.Lock()
	defer s.guarding.Unlock()
	g, err := s.anyGuard()
	if err != nil {
		return true
	}
	p, file := toolProfile(&sub.Needs), s.find(program)
	real, _, err := g.follow(file)
	if p.Process || file == "" || err != nil {
		return true
	}
	s.toolFiles(&p, sub, g)
	return slices.ContainsFunc(p.Programs, func(allowed string) bool { return fsys.Within(allowed, real) })
}

// sdkPrograms are the system's programs that the SDK starts. Every script can start them, also without the capability
// Process, so that the SDK works.
var sdkPrograms = []string{
	"base64", "bash", "cat", "date", "file", "mkfifo", "mktemp", "mv", "od", "readlink", "rm", "sleep", "tail", "tr", "wc",
}

// systemPaths are the files that all scripts of a project may use, in addition to the system's
// libraries.
type systemPaths struct {
	search   string   // the PATH of scripts
	always   []string // lib/, the SDK, the programs that the SDK starts
	programs []string // the directories of the PATH other than the system's
	code     []string // code outside the project
	bin      string   // the directory of this program
}

func findSystem(p *project.Project, state *project.State, common project.Env, sourced []string) *systemPaths {
	search := p.ToolBase(&p.Scripts.Tools)["PATH"]
	s := &systemPaths{search: search, always: []string{filepath.Join(p.Root, "lib")}}
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
	for _, path := range []string{search, p.Env["PATH"]} { // the PATH of tools and the PATH of the server
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

// siblings returns the other commands in the directory of this program. Commands start each other.
func (s *systemPaths) siblings() (list []string) {
	entries, _ := os.ReadDir(s.bin)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "mcp-") {
			list = append(list, filepath.Join(s.bin, e.Name()))
		}
	}
	return list
}

// Protected returns the files below roots and declared paths that confined scripts never read (secret) or never write
// (runsNext). processes are the file systems that control processes.
func (s *Sandbox) Protected() (secret, runsNext, processes []string) {
	s.guarding.Lock()
	defer s.guarding.Unlock()
	g, err := s.anyGuard()
	if err != nil {
		return nil, nil, nil
	}
	_, processes = g.mounts.controls()
	return slices.Clone(g.secret.paths), slices.Clone(g.runsNext().paths), processes
}

// Brings returns the files that a declared program also makes readable and executable. These are
// the target of links, the installation directory, and the interpreter in its first line.
func (s *Sandbox) Brings(program string) (list []string) {
	for _, file := range append([]string{program}, script.Programs(program)...) {
		if real, err := filepath.EvalSymlinks(s.find(file)); err == nil {
			list = append(list, real)
			if dir := s.installation(real, nil); dir != "" {
				list = append(list, dir)
			}
		}
	}
	return list
}
