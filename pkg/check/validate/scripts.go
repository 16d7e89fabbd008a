package validate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
)

// The purpose of a script determines who may change it.
type purpose int

const (
	otherScript    purpose = iota // of a prompt, resource, completion or provider
	toolScript                    // run by tools/call: T-41
	importedScript                // started by an imported tool
	serverScript                  // in server.d: controls what the server runs
)

// maxScript is the maximum size of a script that is checked.
const maxScript = 1 << 20

type shellScript struct {
	file  string // absolute
	label string
	text  []byte
	as    purpose
	tool  string              // the script of the tool that is this script or starts it, or ""
	needs *access.Declaration // of the tool; nil: the tool declares nothing, or there is no tool
}

// script checks a script that the server runs, once: owner, mode, first line and line ends. dir is
// the directory of the project that contains it.
func (c *check) script(dir, file string, as purpose) {
	if !c.once("script " + file) {
		return
	}
	label := c.label(file)
	if info, err := os.Lstat(file); err != nil {
		return // the registry reported the file, or it was removed
	} else if info.Mode()&fs.ModeSymlink != 0 {
		c.link(file, label)
		return
	}
	c.trust(dir, file, label, as)
	text, stamp, err := folder.ReadFile(file, maxScript)
	switch {
	case errors.Is(err, folder.ErrTooLarge):
		if head, err := boundedfile.ReadHead(file, 256); err == nil && media.IsText(head) {
			c.at("script.too_large", label, "larger than %d bytes, so it is not looked into", maxScript)
		}
		c.executable("script.not_executable", file, label, stamp)
		return
	case err != nil:
		if !folder.Vanished(err) {
			c.at("script.unreadable", label, "cannot be read: %v", fsys.Cause(err))
		}
		return
	}
	interpreter := script.Interpreter(firstLine(text))
	if script.HasMark(text) && isBash(file, interpreter) {
		c.add(finding.Finding{ID: "script.byte_order_mark", Path: label, Line: 1,
			Message: "a byte order mark before the first line, which Bash takes for a command",
			Fix:     "remove the mark: " + script.RemoveMark(label)})
	}
	if as != serverScript { // server scripts are sourced
		c.executable("script.not_executable", file, label, stamp)
		if script.IsShellName(file) && interpreter == nil {
			c.at("script.no_shebang", label, "missing shebang")
		}
	}
	if !script.IsShellName(file) && interpreter == nil {
		return
	}
	if at := bytes.Index(text, []byte("\r\n")); at >= 0 {
		line := bytes.Count(text[:at], []byte("\n")) + 1
		c.add(finding.Finding{ID: "script.crlf", Path: label, Line: line, Message: "Windows line ends (CRLF)",
			Fix: "convert it: " + script.RemoveReturns(label)})
	}
	if as != serverScript {
		c.interpreter(label, text, interpreter)
	}
	if isBash(file, interpreter) {
		s := shellScript{file: file, label: label, text: text, as: as}
		if as == toolScript {
			s.tool = file
		}
		c.scripts = append(c.scripts, s)
	}
}

// firstLine returns the part of a script that determines its interpreter.
func firstLine(text []byte) []byte {
	if at := bytes.IndexByte(text, '\n'); at >= 0 {
		return text[:at+1]
	}
	return append(bytes.Clone(text), '\n')
}

// isBash reports whether Bash runs a script, according to its first line or, without one, its name.
func isBash(file string, interpreter []string) bool {
	if len(interpreter) == 0 {
		return script.IsShellName(file)
	}
	return slices.Contains([]string{"bash", "bash.exe"}, path.Base(interpreter[0]))
}

// executable checks the execute bit of a script, whose absence breaks the rule id. With --fix it sets the bit.
func (c *check) executable(id, file, label string, stamp folder.Stamp) {
	switch {
	case stamp.Mode&0o111 != 0 || runtime.GOOS == "windows":
		c.good("script.executable", label, "executable")
	case !c.o.Fix:
		c.add(finding.Finding{ID: id, Path: label, Message: "not executable", Fixable: true,
			Command: "chmod +x " + shell.Quote(file)})
	case makeExecutable(file, stamp) != nil:
		c.at(id, label, "not executable (chmod failed)")
	default:
		c.result.Fixed++
		c.good("script.made_executable", label, "fixed: made executable")
	}
}

// makeExecutable sets the execute bit of a file for all users who may read it. The file must be the
// one with the stamp seen, and not a link in its place.
func makeExecutable(file string, seen folder.Stamp) error {
	f, err := boundedfile.OpenBelow(filepath.Dir(file), file)
	if err != nil {
		return err
	}
	defer f.Close()
	if now := folder.StampOfFile(f); now.Dev != seen.Dev || now.Ino != seen.Ino {
		return errors.New("it has become another file")
	}
	mode := seen.Mode.Perm()
	return f.Chmod(mode | mode>>2&0o111)
}

// link reports a script that is a symbolic link, which the server does not offer.
func (c *check) link(file, label string) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return // link.dangling
	}
	if err == nil && info.Mode()&0o111 == 0 && runtime.GOOS != "windows" {
		c.at("script.link_not_executable", label, "not executable (symlink; skipped auto-fix, please inspect target)")
	}
	c.at("script.link", label, "is a symbolic link, which the server does not offer")
}

// danglingLinks reports the links below a directory whose targets do not exist.
func (c *check) danglingLinks(dir string) {
	filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // checks of the directory report it
		case d.IsDir() && file != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.Type() == fs.ModeSymlink:
			if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
				target, _ := os.Readlink(file)
				c.at("link.dangling", c.label(file), "is a link to %s, which does not exist", target)
			}
		}
		return c.ctx.Err()
	})
}

func isLink(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// trust applies the path rules of the server to a file. It reports each folder once.
func (c *check) trust(dir, file, label string, as purpose) {
	var err error
	switch as {
	case toolScript:
		err = trust.CheckScript(c.p.Root, dir, file)
	case serverScript:
		err = c.p.CheckTrusted(c.serverFile(file))
	default:
		err = c.p.CheckPath(file)
	}
	var insecure *trust.InsecureError
	if !errors.As(err, &insecure) || !c.once("insecure "+insecure.Path) {
		return
	}
	f := finding.Finding{ID: "path.insecure", Path: label, Message: "refused by the server: " + insecure.Why(shell.Quote)}
	if insecure.Path != file {
		f.Path = c.label(insecure.Path)
		f.Message = "the server refuses its content: " + insecure.Why(shell.Quote)
	}
	c.add(f)
}

var serverFiles = []code.Kind{code.Env, code.Policy, code.Register, code.HealthChecks}

func (c *check) serverFile(path string) code.File {
	at := slices.IndexFunc(serverFiles, func(k code.Kind) bool { return k.In(c.p).Path() == path })
	return serverFiles[at].In(c.p)
}

// recipes checks the recipes of the project, recipes/*.json.
func (c *check) recipes() {
	if c.o.Recipe == nil {
		return
	}
	dir := abs(c.p.Root, "recipes")
	for _, e := range c.listing(dir) {
		if e.IsDir || !strings.HasSuffix(e.Name, ".json") {
			continue
		}
		file := abs(dir, e.Name)
		label := c.label(file)
		text, _, err := folder.ReadFile(file, maxScript)
		if err != nil {
			continue // the file is too large or was removed
		}
		faults := c.o.Recipe(e.Name, text)
		for _, f := range faults {
			f.ID, f.Path = "recipe.invalid", label
			c.add(f)
		}
		if len(faults) == 0 {
			c.good("recipe.valid", label, "valid")
		}
	}
}

// imported checks the script from which the tool in a directory was imported. The script may be outside of the project,
// so --fix does not change it.
func (c *check) imported(dir string) {
	record, _, err := folder.ReadFile(abs(dir, ".wrap.json"), maxScript)
	if err != nil {
		return // the tool was not imported, or the record was removed
	}
	file := rawjson.TextOf(record, "script")
	if file == "" {
		return
	}
	if !filepath.IsAbs(file) {
		file = abs(c.p.Root, file)
	}
	label, tool := c.label(file), abs(dir, "tool.sh")
	text, stamp, err := folder.ReadFile(file, maxScript)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.at("script.gone", label, "%s starts it, and it does not exist", c.label(tool))
		return
	case err != nil:
		c.at("script.unreadable", label, "cannot be read: %v", fsys.Cause(err))
		return
	case stamp.Mode&0o111 == 0 && runtime.GOOS != "windows":
		c.add(finding.Finding{ID: "script.not_executable", Path: label, Command: "chmod +x " + shell.Quote(file),
			Message: "not executable, so " + c.label(tool) + " cannot start it"})
	}
	interpreter := script.Interpreter(firstLine(text))
	c.interpreter(label, text, interpreter)
	if isBash(file, interpreter) || len(interpreter) > 0 && isPlainShell(interpreter[0]) {
		c.scripts = append(c.scripts, shellScript{file: file, label: label, text: text, as: importedScript, tool: tool})
	}
}

// unconfirmed reports the arguments of a wrapped tool that nobody has confirmed.
func (c *check) unconfirmed(dir string) {
	if !isFile(abs(dir, ".wrap.json")) {
		return
	}
	file := abs(dir, "tool.sh")
	text, _, err := folder.ReadFile(file, maxScript)
	if err != nil {
		return // the check of the script reports the fault
	}
	line := 0
	for content := range strings.Lines(string(text)) {
		line++
		code, what, marked := strings.Cut(content, " # unconfirmed: ")
		words := strings.Fields(code)
		if !marked || len(words) < 3 || !strings.HasPrefix(words[0], "mcp_argv_") {
			continue
		}
		c.atLine("wrap.unconfirmed", c.label(file), line, "%s was guessed from the help or the script: %s",
			strings.TrimPrefix(words[2], "."), strings.TrimSpace(what))
	}
}

const (
	syntaxTime   = 10 * time.Second // Bash needs a millisecond
	syntaxOutput = 64 << 10
)

// checkScripts checks the syntax of the section's Bash scripts, their use of features that macOS
// lacks, and runs shellcheck.
func (c *check) checkScripts() {
	list := c.scripts
	c.scripts = nil
	if c.only != nil {
		return // a migration starts no program
	}
	found, unreadable := make([][]finding.Finding, len(list)), make([]bool, len(list))
	bash := c.bash()
	c.declare(list)
	parallel(len(list), func(i int) {
		if c.ctx.Err() != nil {
			return
		}
		if f := c.syntax(bash, &list[i]); f != nil {
			found[i], unreadable[i] = []finding.Finding{*f}, true
			return
		}
		parsed, ok := bash32.Read(list[i].text)
		if !ok {
			return
		}
		found[i] = c.mistakes(&list[i], parsed)
		if list[i].as == importedScript {
			return // the script is not shared and may have another style
		}
		for _, n := range parsed.Newer() {
			found[i] = append(found[i], finding.Finding{
				ID: "bash.newer", Path: list[i].label, Line: n.Line, Fix: n.Instead,
				Message: fmt.Sprintf("%s needs Bash %s; macOS comes with 3.2", n.What, n.Since),
			})
		}
	})
	for _, one := range found {
		for _, f := range one {
			c.add(f)
		}
	}
	var readable []shellScript // shellcheck would repeat the syntax errors of other scripts
	for i, s := range list {
		if !unreadable[i] && s.as != importedScript {
			readable = append(readable, s)
		}
	}
	c.shellcheck(readable)
}

// parallel calls f with 0 to n-1, on all processors.
func parallel(n int, f func(i int)) {
	var group sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	group.Wait()
}

// syntax lets Bash parse a script without running it. It returns nil for valid scripts. Scripts
// that enable extglob are parsed with it.
func (c *check) syntax(bash string, s *shellScript) *finding.Finding {
	if bash == "" {
		return nil // doctor reports the missing Bash
	}
	message, ok := c.parse(bash, s, "-n")
	if !ok && bytes.Contains(s.text, []byte("extglob")) {
		_, ok = c.parse(bash, s, "-O", "extglob", "-n")
	}
	if ok {
		return nil
	}
	f := &finding.Finding{ID: "script.syntax", Path: s.label, Message: "Bash cannot read it"}
	// bash: FILE: line 3: syntax error near ...
	if _, rest, found := strings.Cut(message, ": line "); found {
		number, what, _ := strings.Cut(rest, ": ")
		f.Line, _ = strconv.Atoi(number)
		message = what
	}
	if message != "" {
		f.Message += ": " + message
	}
	return f
}

// parse runs Bash on a script and returns the first line of its errors. Bash reads the file that
// was opened here, even if another file replaces it.
func (c *check) parse(bash string, s *shellScript, options ...string) (complaint string, ok bool) {
	spec := script.Spec{
		Argv: slices.Concat([]string{bash, "--norc"}, options, []string{s.file}),
		Env:  []string{"PATH=" + c.p.Env["PATH"], "LC_ALL=C"},
		Dir:  c.p.Root, Timeout: syntaxTime, StdoutLimit: syntaxOutput, StderrLimit: syntaxOutput,
	}
	if runtime.GOOS != "windows" {
		f, err := boundedfile.OpenBelow(filepath.Dir(s.file), s.file)
		if err != nil {
			return fsys.Cause(err).Error(), false
		}
		defer f.Close()
		spec.Argv[len(spec.Argv)-1] = "/dev/fd/3"
		spec.Extra = map[int]uintptr{3: f.Fd()}
	}
	res := c.o.Runner.Run(c.ctx, spec)
	line, _, _ := strings.Cut(string(res.Stderr), "\n")
	if res.Cause != nil {
		line = res.Cause.Error()
	}
	return line, res.Status == 0 && res.Cause == nil
}

const (
	shellcheckTime   = 20 * time.Second // for all scripts of a section
	shellcheckBatch  = 16               // scripts for one process
	shellcheckOutput = 16 << 20
	unusedVariable   = "2034"
)

// shellcheck runs shellcheck if it is installed and enabled. The verdict about a project must not
// depend on it, so its findings are warnings.
func (c *check) shellcheck(list []shellScript) {
	program := script.LookPath("shellcheck", c.p.Env["PATH"])
	if !c.o.ShellCheck || program == "" || len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, shellcheckTime)
	defer cancel()
	batches := (len(list) + shellcheckBatch - 1) / shellcheckBatch
	outputs := make([]json.RawMessage, batches)
	parallel(batches, func(i int) {
		// All are Bash scripts, also those that are sourced and have no first line. script.crlf reports SC1017.
		argv := []string{program, "--format=json1", "--severity=warning", "--shell=bash", "--exclude=SC1017", "--"}
		for _, s := range list[i*shellcheckBatch : min(len(list), (i+1)*shellcheckBatch)] {
			argv = append(argv, s.file)
		}
		res := c.o.Runner.Run(ctx, script.Spec{
			Argv: argv, Dir: c.p.Root, Env: c.p.Env.Entries(), StdoutLimit: shellcheckOutput, StderrLimit: syntaxOutput,
		})
		if doc, err := rawjson.Check(res.Stdout); err == nil && res.Cause == nil {
			outputs[i] = doc
		}
	})
	scripts := make(map[string]*shellScript, len(list))
	for i := range list {
		scripts[list[i].file] = &list[i]
	}
	silent := 0
	for _, doc := range outputs {
		if doc == nil {
			silent++
		}
		for remark := range rawjson.Elements(rawjson.Get(doc, "comments")) {
			c.remark(remark, scripts)
		}
	}
	if silent > 0 && c.ctx.Err() == nil {
		c.at("shellcheck.incomplete", "", "shellcheck did not look at all %d scripts of %s", len(list), c.section)
	}
}

func (c *check) remark(remark json.RawMessage, scripts map[string]*shellScript) {
	s := scripts[rawjson.TextOf(remark, "file")]
	code := string(rawjson.Get(remark, "code"))
	switch {
	case s == nil || rawjson.PositiveInt(rawjson.Get(remark, "code")) == 0:
		return
	case s.as == serverScript && code == unusedVariable: // the server reads the variables of a file that it sources
		return
	}
	c.add(finding.Finding{
		ID: "shellcheck", Path: s.label, Line: rawjson.PositiveInt(rawjson.Get(remark, "line")),
		Message: fmt.Sprintf("%s (SC%s)", rawjson.TextOf(remark, "message"), code),
		Fix:     fmt.Sprintf("see https://www.shellcheck.net/wiki/SC%s", code),
	})
}
