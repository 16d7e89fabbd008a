package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/shellscript"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/toolnames"
)

// checkContent checks whether the content works on other machines.
func (s *Stage) checkContent() {
	if slices.Contains(s.Platforms(), "win32") {
		for _, f := range mcpb.CheckWindows(nil, &s.Content.Names) {
			s.Fault("cannot be in a bundle for Windows: %s; rename it, or choose other systems with --platform", f)
		}
	}
	s.checkRequirements()
	total := int64(0)
	for _, f := range s.Content.files {
		total += f.Size
	}
	if total > advisedSize {
		s.Warn("%d MB of files; clients may refuse bundles of more than %d MB", total>>20, advisedSize>>20)
	}
}

// advisedSize is the size of a bundle's files above which there is a warning, in bytes.
const advisedSize int64 = 100 << 20

// checkTool reports problems that prevent a tool's script from running on other machines.
func (s *Stage) checkTool(tool json.RawMessage) {
	name, file := rawjson.TextOf(tool, "name"), rawjson.TextOf(tool, "path")
	if !toolnames.IsPortable(name) {
		s.Warn("tool name %q must match ^[a-zA-Z0-9_-]{1,64}$ for some clients", name)
	}
	if file == "" {
		return
	}
	shown := path.Join("tools", file)
	head, err := s.Staged.ReadFile(filepath.Join(s.Staged.Tools, filepath.FromSlash(file)), mcpb.MaxFile)
	switch line, _, _ := bytes.Cut(head, []byte("\n")); {
	case err != nil:
		s.Fault("tool %q: %s: not in the bundle", name, shown)
	case script.HasShebang(line) && bytes.HasSuffix(line, []byte("\r")):
		s.Fault("tool %q: %s has Windows line ends, with which nothing finds its interpreter; "+
			"convert it: %s", name, shown, script.RemoveReturns(shown))
	case !script.HasShebang(line) && strings.HasSuffix(file, ".sh"):
		s.Warn("tool %q: %s has no first line such as #!/usr/bin/env bash", name, shown)
	}
}

// checkRequirements reports requirements that the server in the bundle does not meet or cannot read.
func (s *Stage) checkRequirements() {
	r, err := requirements.Read(s.Staged)
	if err != nil {
		s.Warn("server.d/requirements.json: %v", err)
	} else if r != nil {
		if older := r.Framework(cli.Version); older != "" {
			s.Warn("server.d/requirements.json: %s", older)
		}
	}
}

const smokeTime = 60 * time.Second

// smoke starts the server in the staged tree, and compares its tools with those of the manifest.
func (s *Stage) smoke(ctx context.Context) error {
	at := slices.IndexFunc(s.Binaries, func(bin runtimes.Binary) bool { return bin.Target == runtimes.Host })
	if s.NoSmoke || at < 0 {
		s.Detail("Not started: no binary for %s in it, or --no-smoke", runtimes.Host)
		return nil
	}
	dir := s.Staged.Root
	for _, f := range s.Content.files {
		forOther := func(bin runtimes.Binary) bool {
			return bin.Target != runtimes.Host && strings.HasSuffix(f.Name, "/bin/"+bin.Path())
		}
		if _, err := s.Content.work.Lstat(f.Name); err == nil || slices.ContainsFunc(s.Binaries, forOther) {
			continue
		}
		if _, _, err := f.Create(s.Content.work, f.Name, false); err != nil {
			return err
		}
	}
	program := code.Launcher.In(s.Staged)
	if runtimes.Host.OS == "windows" {
		program = code.Vendored.Below(s.Staged, "bin/"+runtimes.Host.Path())
	}
	env := s.Staged.Env.Clone()
	env["MCPBASH_PROJECT_ROOT"], env["MCPB_SKIP_LOGIN_SHELL"] = dir, "1"
	var listed []string
	for cursor := ""; ; {
		args := []string{"request", "tools/list"}
		if cursor != "" {
			args = append(args, `{"cursor":`+string(rawjson.Quote(cursor))+"}")
		}
		r := s.runner.Run(ctx, script.Spec{Script: program, Args: args, Dir: dir, Timeout: smokeTime,
			Env: append(env.Entries(), s.Environment()...), StdoutLimit: 256 << 20, StderrLimit: 1 << 20})
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		answer, err := rawjson.Check(r.Stdout)
		if r.Cause != nil || r.Status != 0 || err != nil {
			return fmt.Errorf("the bundle does not start (exit %d): %s (--no-smoke leaves this check out)",
				r.Status, strings.TrimSpace(string(r.Stderr)))
		}
		for t := range rawjson.Elements(rawjson.Get(answer, "tools")) {
			listed = append(listed, rawjson.TextOf(t, "name"))
		}
		if cursor = rawjson.TextOf(answer, "nextCursor"); cursor == "" {
			break
		}
	}
	var want []string
	for _, t := range s.Tools {
		want = append(want, rawjson.TextOf(t, "name"))
	}
	lacks := func(name string) bool { return !slices.Contains(listed, name) } // the server can add own tools
	if slices.ContainsFunc(want, lacks) {
		return fmt.Errorf("the bundle lists the tools %q, its manifest %q", listed, want)
	}
	return nil
}

// Check checks a project that is shared as a folder. It reports files and programs that others would lack, as for all
// products. The error is for a project that cannot be read.
func Check(ctx context.Context, p *project.Project, o Options) error {
	s, err := begin(p, o)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.copyFiles(ctx); err != nil {
		return err
	}
	s.report()
	if err := s.buildRegistry(ctx); err != nil {
		return err
	}
	s.checkComplete()
	return nil
}

// checkComplete reports dependencies that other machines lack. These are files outside of the content, programs that
// the project does not require, and paths of this machine.
func (s *Stage) checkComplete() {
	for _, t := range s.Tools {
		s.checkTool(t)
	}
	started := map[string]string{}  // programs, by the first file that starts them
	places := map[string][]string{} // where each path of this machine is
	functions := map[string]bool{}  // the functions of all scripts, because a script can source another one
	for _, f := range s.Content.Files() {
		name, isOurs := strings.CutPrefix(f.Name, ServerDir+"/")
		if !isOurs || strings.HasPrefix(name, cacheDir+"/") {
			continue
		}
		isSetting := slices.Contains(settingEndings, path.Ext(name))
		if !isSetting && !f.Exec && !script.IsShellName(name) {
			continue
		}
		text, err := s.Staged.ReadFile(filepath.Join(s.Staged.Root, filepath.FromSlash(name)), shellscript.MaxSize)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			continue // a large file or a program
		}
		if !s.isExplained(name) {
			if at, found := s.ownPath(text); found != "" {
				places[found] = append(places[found], fmt.Sprintf("%s:%d", name, at))
			}
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			functions[m[1]] = true
		}
		if !isSetting {
			s.checkScript(name, text, started)
		}
	}
	for _, found := range slices.Sorted(maps.Keys(places)) {
		s.Warn("%s: %s is a path of this machine; begin with $MCPBASH_PROJECT_ROOT or $HOME, or ask with user_config",
			cli.Some(places[found], shown), found)
	}
	r, err := requirements.Read(s.Staged)
	if err != nil {
		return // checkRequirements reports it
	}
	for _, program := range slices.Sorted(maps.Keys(started)) {
		if !r.Names(program) && !functions[program] && !strings.HasPrefix(program, "mcp_") { // the SDK's
			s.Warn(`%s starts %s, which server.d/requirements.json does not name; add {"name": %q}`, started[program], program,
				program)
		}
	}
}

var settingEndings = []string{".json", ".yaml", ".yml", ".toml", ".conf", ".cfg", ".ini"}

var (
	// homePath is a path in somebody's home directory. Words of examples do not count.
	homePath = lazyregexp.New(`(?:/home|/Users|[A-Za-z]:(?:\\\\?|/)Users)(?:/|\\\\?)` +
		`([A-Za-z0-9._-]+)[^\s"'\x60:;,)]*`)
	examples = []string{"you", "user", "username", "USER", "USERNAME", "me", "name", "NAME", "linuxbrew", "Shared"}
	function = lazyregexp.New(`(?m)^[ \t]*(?:function[ \t]+)?([A-Za-z_][A-Za-z0-9_:.-]*)[ \t]*(?:\(\)|\{)`)
	// fromRoot is a file of the project that a script sources.
	fromRoot = lazyregexp.New(`(?m)^[ \t]*(?:source|\.)[ \t]+"?\$\{?MCPBASH_PROJECT_ROOT\}?"?/([A-Za-z0-9._/-]+)`)
)

// isExplained reports whether paths of this machine in a file need no warning. The file is the record of an imported
// tool, or its tool has the fault that it starts a file outside of the project.
func (s *Stage) isExplained(name string) bool {
	dir, isTool := strings.CutPrefix(path.Dir(name), "tools/")
	return isTool && (path.Base(name) == ".wrap.json" || s.outside[dir])
}

// ownPath returns the first path of this machine in a text, and its line. Comments do not count.
func (s *Stage) ownPath(text []byte) (at int, found string) {
	for line := range strings.Lines(string(text)) {
		at++
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, own := range []string{s.Project.Root, s.Project.Env["HOME"]} {
			if len(own) > 1 && strings.Contains(line, own+"/") {
				found = own
			}
		}
		if m := homePath.FindStringSubmatch(line); found == "" && m != nil && !slices.Contains(examples, m[1]) {
			found = m[0]
		}
		if found != "" {
			return at, found
		}
	}
	return 0, ""
}

// checkScript reports files that a script sources or starts, and that the content lacks. It records the programs that
// the script starts.
func (s *Stage) checkScript(name string, text []byte, started map[string]string) {
	note := func(program string) {
		if _, isNoted := started[program]; !isNoted && !shellscript.IsStandard(program) {
			started[program] = name
		}
	}
	if interpreter := script.Interpreter(text); len(interpreter) > 0 {
		language := path.Base(interpreter[0])
		if note(language); !shellscript.IsShell(language) {
			return
		}
	}
	var missing []string
	read := func(file string) []byte {
		content, err := s.Staged.ReadFile(filepath.Join(s.Staged.Root, filepath.FromSlash(file)), shellscript.MaxSize)
		if err != nil {
			return nil
		}
		return content
	}
	says, err := shellscript.Read(text, func(other string) []byte {
		for _, from := range []string{path.Dir(name), "."} { // tools run in the folder of the project
			if content := read(path.Join(from, other)); content != nil {
				return content
			}
		}
		missing = append(missing, path.Join(path.Dir(name), other))
		return nil
	})
	if err != nil {
		return // validate reports it
	}
	for _, m := range fromRoot.FindAllStringSubmatch(string(text), -1) {
		if file := path.Clean(m[1]); read(file) == nil {
			missing = append(missing, file)
		}
	}
	for _, program := range says.Programs {
		if own, isOwn := strings.CutPrefix(program, "./"); !isOwn {
			note(program)
		} else if file := path.Join(path.Dir(name), own); !s.Content.Has(path.Join(ServerDir, file)) {
			missing = append(missing, file)
		}
	}
	slices.Sort(missing)
	for _, file := range slices.Compact(missing) {
		s.Warn("%s needs %s, which is not part of the product; add the file, or name it in MCPB_INCLUDE", name, file)
	}
}
