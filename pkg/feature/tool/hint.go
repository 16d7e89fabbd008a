package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/sdk"
)

// maxHead limits the part of a script and of its standard error that is searched for known faults.
const maxHead = 64 << 10

// hint returns the likely cause of a failure and its remedy, or "" if the tool reported an error
// itself (T-188). value is standard output as JSON. The hint is also logged, because operators may
// not see results.
func (c *call) hint(res *script.Result, value json.RawMessage) string {
	return c.explained(c.diagnose(res, value))
}

// explained logs a hint and returns it. The hint may be "".
func (c *call) explained(hint string) string {
	if hint != "" {
		c.warn(hint)
	}
	return hint
}

func (c *call) warn(text string) {
	c.tools.Log(mcp.Warning, logger, fmt.Sprintf("Tool '%s': %s", c.entry.name, text))
}

// diagnose checks for the causes of T-189, in their order.
func (c *call) diagnose(res *script.Result, value json.RawMessage) string {
	head, stderr := c.head(c.script, maxHead), res.Stderr[:min(len(res.Stderr), maxHead)]
	if file := c.windowsFile(head, stderr); file != "" {
		return windowsLines(c.shown(file))
	}
	where := c.shown(c.script)
	if isShell(c.script, head) && script.HasMark(head) {
		return markedFirstLine(where)
	}
	if res.Status == statusNotFound || res.Status == statusNoExec {
		if reason := c.missingInterpreter(); reason != "" {
			return where + " cannot start: " + reason
		}
	}
	if words := script.Interpreter(head); len(words) > 0 && isPlainShell(words[0]) && wantsBash.Match(stderr) {
		return where + " is run by " + words[0] + ", which lacks what it uses of Bash; " +
			"make its first line #!/usr/bin/env bash"
	}
	if m := syntaxError.FindSubmatch(stderr); m != nil && bytes.HasPrefix(m[1], []byte(c.script)) {
		return fmt.Sprintf("%s has a syntax error, which Bash found in line %s; mcp-bash validate checks all scripts, "+
			"and bash -n %s checks this one", where, m[2], shell.Quote(where))
	}
	if m := missingFunction.FindSubmatch(stderr); m != nil {
		names := sdk.Functions()
		if slices.Contains(names, string(m[1])) {
			return where + " uses the SDK without loading it; put this line before the others: " +
				`source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"`
		}
		if near := item.NearestKey(string(m[1]), names); near != "" {
			return fmt.Sprintf("%s calls %s, which is not a function of the SDK (did you mean %s?)", where, m[1], near)
		}
	}
	if noTerminal.Match(stderr) {
		return where + " reads /dev/tty, but tools have no terminal; " + askInstead
	}
	if text := c.missingProgram(where, stderr); text != "" {
		return text
	}
	if text := c.variableHint(stderr); text != "" {
		return text
	}
	if text := cmp.Or(c.deniedHint(stderr), c.dormantHint(stderr)); text != "" {
		return text
	}
	if c.entry.output != nil {
		return withHint(c.describeProgramEnd(res), c.failedLine(head))
	}
	text := c.describeEnd(where, res, value)
	if read := c.failedLine(head); read != "" && !reportsError(value) {
		return withHint(text, read)
	}
	if input := c.inputHint(where, head, stderr); input != "" && rawjson.KindOf(value) != rawjson.Object {
		return withHint(text, input)
	}
	if !reportsError(value) {
		return withHint(text, c.confinedHint(stderr))
	}
	return text
}

// withHint joins two sentences without their final stops. Each may be "".
func withHint(text, hint string) string {
	if text == "" || hint == "" {
		return text + hint
	}
	return text + ". " + hint
}

// Exit statuses of scripts that could not start (T-181).
const (
	statusNoExec   = 126
	statusNotFound = 127
)

var (
	missingFunction = lazyregexp.New(`\b(mcp_\w+): (?:command )?not found`)
	wantsBash       = lazyregexp.New(`(?:source|\[\[|mapfile|declare|shopt): not found|` +
		`Illegal option -o pipefail|Bad substitution|tool-sdk\.sh: \d+:`)
	syntaxError    = lazyregexp.New(`(?m)^(.+?): line (\d+): (?:syntax error|unexpected (?:EOF|end of file))`)
	windowsMessage = lazyregexp.New(`(?m)^(.+?): line \d+: .*\$'[^']*\\r'`)
)

// windowsFile returns the shell file with Windows line ends, or "". This is the tool's script, or
// another file of the project that appears in an error message of Bash.
func (c *call) windowsFile(head, stderr []byte) string {
	if first := bytes.IndexByte(head, '\n'); first > 0 && head[first-1] == '\r' && isShell(c.script, head) {
		return c.script
	}
	m := windowsMessage.FindSubmatch(stderr)
	if m == nil {
		return ""
	}
	file := string(m[1])
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.tools.project.Root, file)
	}
	if !fsys.Within(c.tools.project.Root, file) || !bytes.Contains(c.head(file, maxHead), []byte("\r\n")) {
		return ""
	}
	return file
}

// markedFirstLine returns the hint for a shell script after a byte order mark.
func markedFirstLine(file string) string {
	return file + " begins with a byte order mark, so Bash takes its first line for a command; " + script.RemoveMark(file)
}

// windowsLines returns the hint for such a file. The remedy works in every shell and keeps the mode of the file.
func windowsLines(file string) string {
	f := shell.Quote(file)
	lf := shell.Quote(file + ".lf")
	remedy := fmt.Sprintf(`tr -d '\r' <%s >%s && cat %s >%s && rm %s`, f, lf, lf, f, lf)
	return file + " has Windows (CRLF) line ends; convert it with: " + remedy
}

func (c *call) missingInterpreter() string {
	head := c.head(c.script, firstLine)
	program := c.argv[0]
	if len(c.argv) == 1 { // the first line names the interpreter
		words := script.Interpreter(head)
		if words == nil {
			return ""
		}
		program = words[0]
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	asks := "it needs " + program
	if bytes.HasPrefix(line, []byte("#!")) {
		asks = fmt.Sprintf("line 1 (%s) asks for %s", strings.TrimRight(validText(line), "\r"), program)
	}
	if strings.ContainsRune(program, '/') {
		if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		return asks + ", which does not exist here; install it, or name another"
	}
	search := c.tools.path()
	if script.LookPath(program, search) != "" {
		return ""
	}
	return fmt.Sprintf("%s, which is not on the PATH of tools (%s); "+
		"install it, or start the server with a PATH that leads to it", asks, search)
}

func (t *Tools) path() string {
	for _, entry := range t.base {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			return value
		}
	}
	return ""
}

// isPlainShell reports whether a program is a shell that may lack features of Bash.
func isPlainShell(program string) bool {
	return slices.Contains([]string{"sh", "dash", "ash"}, path.Base(program))
}

// describeEnd explains how a script ended that reported no error, or that failed after it printed a result.
func (c *call) describeEnd(where string, res *script.Result, value json.RawMessage) string {
	silent := len(bytes.TrimSpace(res.Stderr)) == 0
	result := rawjson.KindOf(value) == rawjson.Object
	switch {
	case result && reportsError(value), !result && !silent && c.traceLine() == "":
		return ""
	}
	text := fmt.Sprintf("%s ended with exit status %d", where, res.Status)
	if res.Signal != 0 {
		text = fmt.Sprintf("%s was ended by signal %d (%s)", where, res.Signal, syscall.Signal(res.Signal))
	}
	switch {
	case result:
		text += " after it had printed its result, so the call counts as failed"
	case silent:
		text += " without a message on standard error"
	}
	if end := c.end(res.Status); end != "" {
		text += end
	} else if res.Signal == 0 && isShell(c.script, c.head(c.script, firstLine)) {
		text += `. Under "set -e", which the SDK turns on, a script ends at the first command that fails; ` +
			"MCPBASH_TRACE_TOOLS=true shows which"
	}
	if result && res.Signal == 0 {
		text += `. Where a failure does not matter, add "|| true" to the command`
	}
	return text
}

func reportsError(value json.RawMessage) bool {
	return rawjson.True(rawjson.Get(value, "isError")) || !rawjson.Absent(rawjson.Get(value, "error")) ||
		string(rawjson.Get(value, "success")) == "false" || string(rawjson.Get(value, "ok")) == "false"
}

// head returns the first bytes of a regular file, at most max, or nil.
func (c *call) head(file string, max int) []byte {
	dir := filepath.Dir(file)
	for _, above := range []string{c.tools.project.Tools, c.tools.project.Root} {
		if fsys.Within(above, file) { // the link of a script may lead to another place there
			dir = above
		}
	}
	f, err := boundedfile.OpenBelow(dir, file)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, max)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

func (c *call) shown(file string) string {
	if rel, err := filepath.Rel(c.tools.project.Root, file); err == nil && fsys.Within(c.tools.project.Root, file) {
		return rel
	}
	return file
}
