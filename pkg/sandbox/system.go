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

// sdkPrograms are the system's programs that the SDK starts. Every script can start them, also
// without the capability Process, so that the SDK works (CF-10).
var sdkPrograms = []string{
	"base64", "bash", "cat", "date", "file", "mkfifo", "mktemp", "mv", "od", "readlink", "rm", "sleep", "tail", "tr", "wc",
}

// systemPaths are the files that all scripts of a project may use, in addition to the system's
// libraries.
type systemPaths struct {
	search   string   // the PATH of scripts
	always   []string // lib/, the SDK, the programs that the SDK starts
	programs []string // the directories of the PATH other than the system's
	code     []string // code outside the project (CF-14)
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

// Protected returns the files that confined scripts never read, and those that they never write,
// below a root or a declared path (CF-12, CF-14). processes are the file systems that control
// processes (CF-21).
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
