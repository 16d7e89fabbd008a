package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// Tools whose metadata has "output" pass on what a program prints (tools section 19). Their
// standard output belongs to the program. It is never read as a result in the form of the SDK,
// because a program may print text of strangers.

// programOutcome returns the result of a tool with "output" whose script ended by itself.
func (c *call) programOutcome(res *script.Result) (*Result, error) {
	text, listed := "", false
	if res.Signal == 0 {
		text, listed = rawjson.Text(rawjson.Get(rawjson.Get(c.entry.output, "exitCodes"), strconv.Itoa(res.Status)))
	}
	if res.Status != 0 && !listed || c.failedQuietly(res) {
		return c.programFailed(res)
	}
	r := &Result{Status: res.Status, name: c.entry.name, stderr: c.diagnostics(res.Stderr)}
	var value json.RawMessage
	binary := rawjson.TextOf(c.entry.output, "type") == "binary"
	switch stdout := res.Stdout; {
	case len(bytes.TrimSpace(stdout)) == 0:
		r.texts = c.silentTexts(text, res)
	case media.IsText(stdout):
		r.texts = [][]byte{stdout}
		if rawjson.TextOf(c.entry.output, "type") == "json" {
			value = structuredValue(stdout)
			r.structured = value
		}
	case !binary && inOtherEncoding(stdout):
		r.texts = [][]byte{escapeInvalid(stdout), []byte(escapedBytes)}
	default:
		if refused := c.addBlob(r, stdout); refused != nil {
			return refused, nil
		}
	}
	if refused, err := c.checkOutput(r, value, false, res); refused != nil || err != nil {
		return refused, err
	}
	c.addEmbeds(r)
	return r, nil
}

// ownError returns the outcome of a script that reported an error in its error file. Invalid arguments of a tool that
// passes on a program's output become a result, because models do not see the JSON-RPC errors of every client.
func (c *call) ownError(e *mcp.Error, res *script.Result) (*Result, error) {
	if c.entry.output == nil || e.Code != mcp.CodeInvalidParams || c.tools.project.Calls.FailureIsError {
		return nil, e
	}
	r := failure("validation_error", "Invalid arguments: "+e.Message, nil)
	r.Failure, r.name, r.Status, r.stderr = e, c.entry.name, res.Status, c.diagnostics(res.Stderr)
	r.cause = mcp.CauseTool
	return r, nil
}

const noOutput = "The program succeeded without output."

// silentTexts returns the texts for a success without output: the text of the exit code, and
// messages on standard error.
func (c *call) silentTexts(text string, res *script.Result) (texts [][]byte) {
	if text != "" {
		texts = append(texts, []byte(text))
	}
	if tail := c.stderrText(res); tail != "" {
		texts = append(texts, []byte(tail))
	}
	switch {
	case texts != nil:
	case len(res.Stdout) > 0:
		texts = [][]byte{res.Stdout} // white space
	default:
		texts = [][]byte{[]byte(noOutput)}
	}
	return texts
}

// structuredValue returns output as an object, or nil if it is not JSON. Values other than objects,
// and lists of values, are in the member "result".
func structuredValue(stdout []byte) json.RawMessage {
	values := jsonValues(stdout)
	if values == nil {
		return nil
	}
	if len(values) == 1 && rawjson.KindOf(values[0]) == rawjson.Object {
		return rawjson.Normal(values[0])
	}
	var b rawjson.Builder
	b.Object().Name("result")
	if len(values) == 1 {
		return b.Raw(rawjson.Normal(values[0])).End().Bytes()
	}
	b.Array()
	for _, value := range values {
		b.Raw(rawjson.Normal(value))
	}
	return b.End().End().Bytes()
}

// escapedBytes explains the output of escapeInvalid.
const escapedBytes = `The output is not UTF-8. Bytes that are not UTF-8 are written as \xNN.`

func inOtherEncoding(content []byte) bool {
	invalid := 0
	for at := 0; at < len(content); {
		r, size := utf8.DecodeRune(content[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
		case r < ' ' && !strings.ContainsRune("\t\n\r\f\b\x1b", r):
			return false
		}
		at += size
	}
	return invalid*3 <= len(content) && !bytes.HasPrefix(content, []byte("%PDF-"))
}

// escapeInvalid writes each byte that is not UTF-8 as \xNN.
func escapeInvalid(content []byte) []byte {
	text := make([]byte, 0, len(content)+64)
	for len(content) > 0 {
		r, size := utf8.DecodeRune(content)
		if r == utf8.RuneError && size == 1 {
			text = fmt.Appendf(text, `\x%02X`, content[0])
		} else {
			text = append(text, content[:size]...)
		}
		content = content[size:]
	}
	return text
}

// addBlob adds binary output to a result. It returns the error result for output that is too large.
func (c *call) addBlob(r *Result, stdout []byte) *Result {
	const around = 4096 // for the other members of the response
	calls := &c.tools.project.Calls
	mimeType := rawjson.TextOf(c.entry.output, "mimeType")
	if mimeType == "" {
		mimeType = media.Sniff(stdout)
	}
	limit := max(0, min(c.tools.project.MaxResource, calls.MaxStdout/4*3-around))
	if len(stdout) > limit {
		refused := failure("output_too_large", fmt.Sprintf("The output is %d bytes of %s, and a result can have %d. "+
			"Let the program write it to a file, with an argument that names one, or ask for less. "+
			"MCPBASH_MAX_RESOURCE_BYTES and MCPBASH_MAX_TOOL_OUTPUT_SIZE set the limit.", len(stdout), mimeType, limit), nil)
		refused.name, refused.Status, refused.stderr = r.name, r.Status, r.stderr
		return refused
	}
	r.texts = [][]byte{fmt.Appendf(nil, "The output is %d bytes of %s.", len(stdout), mimeType)}
	r.embedded = append(r.embedded, embeddedItem("output://"+c.entry.name+"/stdout", mimeType, stdout, false))
	return nil
}

// Limits on the parts of standard output in errors, in bytes.
const (
	maxFailureHead = 2 << 10
	maxFailureTail = 6 << 10
	maxPartial     = 2 << 10
)

// programFailed returns the result of a program that failed: its messages, its output within limits, and how it ended.
func (c *call) programFailed(res *script.Result) (*Result, error) {
	sent := c.sentOfFailure(&reply{}, res.Stdout)
	r, hint, err := c.beginFailure(res, nil, sent)
	if err != nil {
		return nil, err
	}
	if tail := c.tail(res.Stderr); tail != "" {
		r.texts = append(r.texts, []byte(tail))
	}
	if shown := excerpt(sent, maxFailureHead, maxFailureTail); shown != nil {
		r.texts = append(r.texts, shown)
	}
	if end := programEnd(res); !strings.HasPrefix(hint, end) {
		r.texts = append(r.texts, []byte(end+"."))
	}
	if hint != "" {
		r.texts = append(r.texts, []byte(hint))
	}
	c.addEmbeds(r)
	return r, nil
}

func programEnd(res *script.Result) string {
	if res.Signal != 0 {
		return fmt.Sprintf("The program was ended by signal %d (%s)", res.Signal, syscall.Signal(res.Signal))
	}
	return fmt.Sprintf("The program ended with exit status %d", res.Status)
}

// excerpt returns at most the first head and the last tail bytes of output, or nil if there is
// nothing to show.
func excerpt(output []byte, head, tail int) []byte {
	cut := len(output) - head - tail
	switch {
	case len(bytes.TrimSpace(output)) == 0:
		return nil
	case !media.IsText(output) && !inOtherEncoding(output):
		return fmt.Appendf(nil, "[%d bytes of %s]", len(output), media.Sniff(output))
	case cut <= 0:
		return escapeInvalid(output)
	}
	first, last := output[:results.Cut(output, head)], output[results.Cut(output, len(output)-tail):]
	text := escapeInvalid(first)
	text = fmt.Appendf(text, "\n[%d bytes left out]\n", len(output)-len(first)-len(last))
	return bytes.TrimPrefix(append(text, escapeInvalid(last)...), []byte("\n"))
}

// describeProgramEnd explains a failure of a program that is not explained otherwise.
func (c *call) describeProgramEnd(res *script.Result) string {
	text := ""
	if len(bytes.TrimSpace(res.Stderr)) == 0 && len(bytes.TrimSpace(res.Stdout)) == 0 {
		text = programEnd(res) + " without a message"
	}
	return withHint(text, c.confinedHint(res.Stderr))
}

// programTimeout returns the hint for a program that exceeded its time.
func (c *call) programTimeout(k *clock) string {
	setting := fmt.Sprintf(`"timeoutSecs" (%d now) in the tool.meta.json next to %s`, k.secs, c.shown(c.script))
	if k.progress {
		setting = fmt.Sprintf(`"timeoutSecs" (%d now) and "maxTimeoutSecs" (%d now) in the tool.meta.json next to %s`,
			k.secs, k.maxSecs, c.shown(c.script))
	}
	return "The program was stopped. Ask for less in one call: fewer files, a smaller range, a limit. " +
		"If it needs longer, a person can raise " + setting
}
