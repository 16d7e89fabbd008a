package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/confine"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/script"
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

	// secret is what nobody reads below a root or the project: the settings of the server, with
	// what it hands to scripts (CF-12). runsNext is what nobody writes below a root: what is
	// started later (CF-14).
	secret, runsNext []string
}

func findSystem(p *project.Project, common project.Env) systemPaths {
	search := p.ToolBase()["PATH"]
	s := systemPaths{search: search, always: []string{filepath.Join(p.Root, "lib")}}
	for _, name := range []string{"MCPBASH_HOME", "MCPBASH_HELPER_BIN", "MCPBASH_JSON_TOOL_BIN"} {
		s.always = append(s.always, common[name])
	}
	if exe, err := os.Executable(); err == nil {
		s.always = append(s.always, exe)
	}
	for _, name := range sdkPrograms {
		s.always = append(s.always, script.LookPath(name, search))
	}
	s.always = slices.DeleteFunc(s.always, func(path string) bool { return !filepath.IsAbs(path) || path == "/" })
	for _, dir := range filepath.SplitList(search) {
		if filepath.IsAbs(dir) && filepath.Clean(dir) != "/" && !confine.IsSystem(dir) {
			s.programs = append(s.programs, dir)
		}
	}
	s.secret, s.runsNext = physical(p.Server), append(RunsNext(p), physical(common["MCPBASH_HOME"])...)
	return s
}

// RunsNext returns the directories of a project that hold what is started later, which nobody
// writes below a root (CF-14).
func RunsNext(p *project.Project) []string {
	in := func(name string) string { return filepath.Join(p.Root, name) }
	return physical(p.Tools, p.Server, p.Registry, p.Providers, p.Completions, in("lib"), in("config"), in(".git"))
}

// Protected returns what nobody reads, and what nobody writes, below a root or a declared
// path (CF-12, CF-14).
func (s *Sandbox) Protected() (secret, runsNext []string) {
	state := physical(s.State.Dir)
	return slices.Concat(s.system.secret, state), slices.Concat(s.system.runsNext, state)
}

// Brings returns what may be read and started besides with a program that a declaration
// names: the file behind links, what was installed with it, and what its first line names.
func (s *Sandbox) Brings(program string) []string {
	return slices.Concat(s.installed(program), s.firstLine(program))
}

// physical returns paths without links, those that are not there as they are. The result
// can be appended to by many at once.
func physical(paths ...string) []string {
	list := make([]string, 0, len(paths))
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if path != "" {
			list = append(list, path)
		}
	}
	return slices.Clip(list)
}

// interpreter returns the program that runs a script, with where that is installed, and
// what its first line names.
func (s *Sandbox) interpreter(sub *Subject) []string {
	list := s.firstLine(sub.Script)
	if len(sub.Argv) > 1 {
		list = append(list, s.installed(sub.Argv[0])...)
	}
	return list
}

// firstLine returns what the first line of a file has the system start, as installed does.
func (s *Sandbox) firstLine(file string) (list []string) {
	for _, program := range script.Programs(file) {
		list = append(list, s.installed(program)...)
	}
	return list
}

// installed returns a program and, when it is not the system's, what was installed with it:
// what lies below PREFIX for one in PREFIX/bin, unless much else lies there too.
func (s *Sandbox) installed(program string) []string {
	if !filepath.IsAbs(program) {
		program = script.LookPath(program, s.system.search)
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return nil
	}
	if confine.IsSystem(real) {
		return []string{real}
	}
	prefix, home := filepath.Dir(filepath.Dir(real)), s.Project.Env["HOME"]
	if filepath.Base(filepath.Dir(real)) != "bin" || filepath.Base(prefix) == ".local" || prefix == "/" ||
		project.Within(prefix, home) || project.Within(prefix, s.Project.Root) {
		return []string{real}
	}
	return []string{real, prefix}
}
