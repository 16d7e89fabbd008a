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
	"unicode/utf8"

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

// explained logs a hint and returns it, because operators may not see results. The hint may be "".
func (c *call) explained(hint string) string {
	if hint != "" {
		c.warn(hint)
	}
	return hint
}

func (c *call) warn(text string) { c.logf(mcp.Warning, "Tool '%s': %s", c.entry.name, text) }

func (c *call) logf(level mcp.Level, format string, args ...any) {
	c.tools.Log(level, logger, fmt.Sprintf(format, args...))
}

// diagnose returns the likely cause of a failure and its remedy, or "" if the tool reported an error itself. value is
// standard output as JSON. It checks for the causes of T-189, in their order.
func (c *call) diagnose(res *script.Result, value json.RawMessage) string {
	head, stderr := c.head(c.script, maxHead), res.Stderr[:min(len(res.Stderr), maxHead)]
	if text := c.fileHint(head, stderr); text != "" {
		return text
	}
	where := c.shown(c.script)
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

// Exit statuses of scripts that could not start.
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

// fileHint returns the hint for a shell file with Windows line ends, or for a script after a byte order mark, or "".
func (c *call) fileHint(head, stderr []byte) string {
	if file := c.windowsFile(head, stderr); file != "" {
		return windowsLines(c.shown(file))
	}
	if !isShell(c.script, head) || !script.HasMark(head) {
		return ""
	}
	where := c.shown(c.script)
	return where + " begins with a byte order mark, so Bash takes its first line for a command; " +
		"remove the mark: " + script.RemoveMark(where)
}

// windowsLines returns the hint for a shell file with Windows line ends.
func windowsLines(file string) string {
	return file + " has Windows (CRLF) line ends; convert it with: " + script.RemoveReturns(file)
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
		if fsys.Within(above, file) { // if the file is a link, its target is below this folder
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

// Remedies for common mistakes.
const (
	askInstead = `ask the user with mcp_elicit, or declare an argument in "inputSchema" and read it with mcp_args_get`

	largeOutput = "standard output is limited by MCPBASH_MAX_TOOL_OUTPUT_SIZE; print less (mcp_json_truncate, head), " +
		"or write a file and return it with mcp_result_text_with_resource"
	largeStderr = "standard error is limited by MCPBASH_MAX_TOOL_STDERR_SIZE; print less there, or write a log file"
)

var (
	noTerminal = lazyregexp.New(`/dev/tty['"’]?: (?:No such device or address|Device not configured|Permission denied)`)
	noProgram  = lazyregexp.New(`(?m): (?:line )?([0-9]+): (?:exec: )?([A-Za-z0-9_][\w.+-]*): (?:command )?not found\r?$`)
	// noInput matches the message of Python, and the unanswered question of select.
	noInput = lazyregexp.New(`(?m)^EOFError: EOF when reading a line|^#\? $`)
	// readsInput matches a read, or cat or jq without a file, that no redirection or pipe of its line feeds.
	// The first group is its indentation.
	readsInput = lazyregexp.New(`(?m)^([ \t]*)(?:(?:if|while|until) )?(?:IFS=\S* )?` +
		`(read(?: [^<|;&\n]*)?|` +
		`\w+="?\$\((?:cat|jq (?:-[cerMS]+ )?(?:'[^'\n]*'|\.[\w.]*))\)"?)[ \t]*(?:$|;|&&|\|\|)`)
	isLoopStart = lazyregexp.New(`^(?:while|until) `)
	// feedsLoop matches the end of a loop with another standard input.
	feedsLoop = lazyregexp.New(`\bdone[^\n]*<`)
	// otherInput matches a change of standard input, and a read of another descriptor.
	otherInput = lazyregexp.New(`(?m)^[ \t]*exec[ \t][^\n]*<|\bread [^\n]*-u`)
)

// missingProgram returns the hint for a program that the script could not start, or "".
func (c *call) missingProgram(where string, stderr []byte) string {
	m := noProgram.FindSubmatch(stderr)
	if m == nil || bytes.HasPrefix(m[2], []byte("mcp_")) || script.LookPath(string(m[2]), c.tools.path()) != "" {
		return ""
	}
	return fmt.Sprintf("%s starts %s in line %s, which is not on the PATH of tools (%s); "+
		"install it, and list it in server.d/requirements.json so that validate and doctor report it",
		where, m[2], m[1], c.tools.path())
}

// inputHint returns the hint for a script that failed and may have read its standard input, or "".
func (c *call) inputHint(where string, head, stderr []byte) string {
	if noInput.Match(stderr) {
		return where + " " + emptyInput
	}
	if len(bytes.TrimSpace(stderr)) > 0 {
		return ""
	}
	return c.inputLine(head, true)
}

const emptyInput = "reads standard input, which is empty for tools; " + askInstead

// inputLine returns the hint for the first line of a shell script that reads standard input, or "". Lines within blocks
// and functions count only if within is true, because their input may be redirected elsewhere.
func (c *call) inputLine(head []byte, within bool) string {
	if !isShell(c.script, head) || otherInput.Match(head) {
		return ""
	}
	for _, m := range readsInput.FindAllStringSubmatchIndex(string(head), -1) {
		isLoop := isLoopStart.Match(head[m[3]:m[1]])
		fed := isLoop && feedsLoop.Match(head) || bytes.HasSuffix(bytes.TrimRight(head[:m[0]], " \t\n"), []byte("|"))
		if !fed && (within || m[2] == m[3]) {
			line := bytes.Count(head[:m[0]], []byte("\n")) + 1
			return fmt.Sprintf("Line %d (%s) %s", line, bytes.TrimSpace([]byte(validText(head[m[4]:m[5]]))), emptyInput)
		}
	}
	return ""
}

// review logs a mistake in a script that succeeds despite the mistake, once for each script.
func (c *call) review() {
	if _, reviewed := c.tools.reviewed.LoadOrStore(c.script, true); reviewed {
		return
	}
	head := c.head(c.script, maxHead)
	if text := c.fileHint(head, nil); text != "" {
		c.warn(text)
		return
	}
	c.explained(c.inputLine(head, false))
	c.explained(c.variableLine(c.script, head, false))
}

// timeoutHint returns the hint for a script that exceeded its time.
func (c *call) timeoutHint(k *clock) string {
	if c.entry.output != nil {
		return c.programTimeout(k)
	}
	limit := `"timeoutSecs" in its tool.meta.json`
	if k.option != "" {
		limit += " or " + k.option
	}
	text := fmt.Sprintf("%s did not end within its time. If it needs longer, raise %s, or report progress with "+
		`mcp_progress and set "progressExtendsTimeout": true. If not, look for a loop that never ends`,
		c.shown(c.script), limit)
	if line := c.traceLine(); line != "" {
		return text + "; the last command in its trace is " + line
	}
	return text + "; MCPBASH_TRACE_TOOLS=true shows the last command"
}

// invalidText returns the note on output that is not UTF-8, or "".
func (c *call) invalidText(stdout []byte) string {
	if utf8.Valid(stdout) {
		return ""
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(stdout[at:])
		if r == utf8.RuneError && size < 2 {
			break
		}
		at += size
	}
	return c.explained(fmt.Sprintf("standard output is not UTF-8 at byte %d (0x%02x), so such bytes are replaced. "+
		"Convert text with iconv -f ENCODING -t UTF-8, and return binary data as a blob with mcp_result_text_with_resource",
		at+1, stdout[at]))
}

// outputHint returns the hint for output that an outputSchema refuses.
func (c *call) outputHint(message string, data json.RawMessage, stdout []byte) string {
	if c.entry.output == nil && soleValue(stdout) == nil {
		if text := c.strayText(stdout); text != "" {
			return text
		}
	}
	const remedy = `; print the result with mcp_result_success "$(mcp_json_obj NAME VALUE)"`
	switch message {
	case outputEmpty:
		return c.shown(c.script) + " printed nothing, but outputSchema requires JSON" + remedy
	case outputNotJSON:
		return fmt.Sprintf("standard output is %d bytes of text, but outputSchema requires JSON",
			len(bytes.TrimSpace(stdout))) + remedy
	}
	violations := c.outputViolations(data)
	if violations == nil {
		return "the output does not match outputSchema; correct the tool, or its tool.meta.json"
	}
	return fmt.Sprintf("outputSchema: %s; correct the tool, or its tool.meta.json", violations[0])
}

// addOwnHint adds the hint of mcp_error to the texts, because models may read only texts.
func (r *Result) addOwnHint(value json.RawMessage) {
	hint := rawjson.TextOf(rawjson.Path(value, "structuredContent", "error"), "hint")
	if hint == "" {
		return
	}
	for item := range rawjson.Elements(rawjson.Get(value, "content")) {
		if strings.Contains(rawjson.TextOf(item, "text"), hint) {
			return
		}
	}
	r.texts = append(r.texts, []byte(hint))
}
