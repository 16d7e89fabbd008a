package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/lazyregexp"
)

// Remedies for common mistakes (T-400 to T-408).
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

// missingProgram returns the hint for a program that the script could not start, or "" (T-402).
func (c *call) missingProgram(where string, stderr []byte) string {
	m := noProgram.FindSubmatch(stderr)
	if m == nil || bytes.HasPrefix(m[2], []byte("mcp_")) || script.LookPath(string(m[2]), c.tools.path()) != "" {
		return ""
	}
	return fmt.Sprintf("%s starts %s in line %s, which is not on the PATH of tools (%s); "+
		"install it, and list it in server.d/requirements.json so that validate and doctor report it",
		where, m[2], m[1], c.tools.path())
}

// inputHint returns the hint for a script that failed and may have read its standard input, or "" (T-400).
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

// review logs a mistake in a script that succeeds in spite of it, once for each script (T-189, T-400).
func (c *call) review() {
	if _, reviewed := c.tools.reviewed.LoadOrStore(c.script, true); reviewed {
		return
	}
	head := c.head(c.script, maxHead)
	if file := c.windowsFile(head, nil); file != "" {
		c.warn(windowsLines(c.shown(file)))
		return
	}
	if isShell(c.script, head) && script.HasMark(head) {
		c.warn(markedFirstLine(c.shown(c.script)))
		return
	}
	c.explained(c.inputLine(head, false))
	c.explained(c.variableLine(c.script, head, false))
}

// timeoutHint returns the hint for a script that exceeded its time (T-403).
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

// invalidText returns the note on output that is not UTF-8, or "" (T-404).
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

// outputHint returns the hint for output that an outputSchema refuses (T-405).
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

// addOwnHint adds the hint of mcp_error to the texts, because models may read only texts (T-406).
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
