package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/ansi"
	"mcp-bash/pkg/wire/mcp"
)

// timeoutStatus is the exit status of a tool that exceeded its timeout.
const timeoutStatus = 124

var errCancelled = mcp.Errorf(mcp.CodeToolCancelled, "Tool cancelled")

const toolFailed = "Tool failed"

// outcome returns the response for the end of the script, by the first matching row of T-180.
func (c *call) outcome(res *script.Result) (*Result, error) {
	calls := &c.tools.project.Calls
	if e := c.errorFile(); e != nil {
		c.explained(c.variableHint([]byte(e.Message)))
		return c.ownError(e, res)
	}
	var timeout *timeoutError
	var lost *lostAnswer
	switch {
	case errors.Is(res.Cause, script.ErrStdoutLimit):
		return c.tooLarge(res, "output", len(res.Stdout), c.maxStdout(), largeOutput)
	case errors.Is(res.Cause, script.ErrStderrLimit):
		return c.tooLarge(res, "stderr", len(res.Stderr), calls.MaxStderr, largeStderr)
	case errors.As(res.Cause, &lost):
		e := mcp.Errorf(mcp.CodeInternal, "Tool '%s' cannot be given its client's answer", c.entry.name)
		return nil, e.WithReason(lost)
	case c.cancelled(res.Cause) != nil:
		return nil, errCancelled
	case errors.As(res.Cause, &timeout):
		return c.timedOut(timeout, res), nil
	case res.Signal == int(syscall.SIGTERM) || res.Signal == int(syscall.SIGINT):
		return nil, errCancelled
	case c.entry.output != nil:
		return c.programOutcome(res)
	case res.Status != 0:
		return c.failed(res)
	}
	return c.succeeded(res)
}

// removeColors removes colors and other control sequences of terminals from what a script printed, unless the tool
// keeps them.
func (c *call) removeColors(res *script.Result) {
	if c.entry.keepColors {
		return
	}
	if c.entry.output == nil || media.IsText(res.Stdout) {
		res.Stdout = ansi.Strip(res.Stdout)
	}
	res.Stderr = ansi.Strip(res.Stderr)
}

// tooLarge returns the outcome of a script whose output exceeded a limit.
func (c *call) tooLarge(res *script.Result, stream string, size, limit int, hint string) (*Result, error) {
	c.logf(mcp.Err, "Tool %s %s %d bytes exceeds limit %d", c.entry.name, stream, size, limit)
	message := fmt.Sprintf("Tool %s exceeded %d bytes", stream, limit)
	if c.entry.output != nil {
		hint = "Ask for less in one call: a smaller range, fewer files, a limit, or an output file if an argument " +
			"names one. " + hint
	}
	hint = c.explained(hint)
	if c.tools.project.Calls.FailureIsError {
		return nil, mcp.Errorf(mcp.CodeInternal, "%s", message)
	}
	r := failure("output_too_large", message, nil)
	r.name, r.Status, r.texts = c.entry.name, res.Status, append(r.texts, []byte(hint))
	c.addPartial(r, res)
	return r, nil
}

// addPartial adds the end of what a script printed before the server stopped it. A tool with an outputSchema sends
// nothing of its standard output.
func (c *call) addPartial(r *Result, res *script.Result) {
	if output := excerpt(res.Stdout, 0, maxPartial); output != nil && c.entry.outputSchema == nil {
		r.texts = append(r.texts, append([]byte("Output until then:\n"), output...))
	}
	if reason := c.reason(res.Stderr); reason != "" && c.tools.project.Calls.TimeoutCapture {
		r.texts = append(r.texts, []byte("Messages until then:\n"+reason))
	}
}

// errorFile returns the JSON-RPC error that the tool wrote to its error file, or nil.
func (c *call) errorFile() *mcp.Error {
	content, err := c.files.ReadErrors(c.tools.project.Calls.MaxStdout)
	if err != nil {
		return mcp.Errorf(mcp.CodeInternal, "%s", toolFailed).WithData("error file: " + err.Error())
	}
	if len(content) == 0 {
		return nil
	}
	if v, err := rawjson.Check(content); err == nil {
		message, ok := rawjson.Text(rawjson.Get(v, "message"))
		code, isInt := integer(rawjson.Get(v, "code"))
		if ok && isInt {
			if !c.entry.keepColors {
				message = string(ansi.Strip([]byte(message)))
			}
			return &mcp.Error{Code: code, Message: message, Data: dataOf(v), Cause: mcp.CauseTool}
		}
	}
	e := mcp.Errorf(mcp.CodeInternal, "%s", toolFailed).Because(mcp.CauseTool)
	return e.WithData(strings.TrimRight(validText(content), "\r\n"))
}

func dataOf(v json.RawMessage) json.RawMessage {
	data := rawjson.Get(v, "data")
	if rawjson.Absent(data) {
		return nil
	}
	return rawjson.Normal(data)
}

// integer parses an error code. Zero means an internal error.
func integer(v json.RawMessage) (int, bool) {
	n, err := strconv.Atoi(string(v))
	return cmp.Or(n, mcp.CodeInternal), err == nil
}

// timedOut returns the result of a call that exceeded its timeout, with the hint of the tool or the settings.
func (c *call) timedOut(timeout *timeoutError, res *script.Result) *Result {
	calls, k := &c.tools.project.Calls, timeout.clock
	hint := cmp.Or(c.entry.timeoutHint, calls.TimeoutHint)
	message := timeout.message
	if hint != "" {
		message += "\n\nSuggestion: " + hint
	}
	r := failure("timeout", message, func(b *rawjson.Builder) {
		b.Name("timeoutSecs").Int(k.secs).Name("reason").String(timeout.reason).Name("exitCode").Int(timeoutStatus)
		if k.progress {
			b.Name("progressExtendsTimeout").Bool(true).Name("maxTimeoutSecs").Int(k.maxSecs)
		}
		b.Optional("hint", hint)
		b.Optional("setting", k.option)
	})
	r.Status = timeoutStatus
	if calls.TimeoutCapture {
		r.stderr = c.diagnostics(res.Stderr)
	}
	if !k.progress && !k.silent {
		c.logf(mcp.Warning, "Tool '%s' emitted progress but timed out. Consider enabling "+
			"MCPBASH_PROGRESS_EXTENDS_TIMEOUT=true or adding progressExtendsTimeout:true to tool.meta.json", c.entry.name)
	}
	c.summarise(res, message, true)
	if explanation := c.explained(c.timeoutHint(k)); hint == "" {
		r.texts = append(r.texts, []byte(explanation))
	}
	c.addPartial(r, res)
	return r
}

// beginFailure returns a result without texts, and its hint. The error is set if failures are errors. sent is the
// part of standard output that the client may get.
func (c *call) beginFailure(res *script.Result, value json.RawMessage, sent []byte) (*Result, string, error) {
	message, _, _ := strings.Cut(c.reason(res.Stderr), "\n")
	message = cmp.Or(strings.TrimRight(message, "\r"), toolFailed)
	c.summarise(res, message, false)
	hint, failure := c.explained(c.diagnose(res, value)), c.failureError(res, sent, message)
	if c.tools.project.Calls.FailureIsError {
		return nil, "", failure
	}
	return &Result{
		IsError: true, Failure: failure, Status: res.Status, name: c.entry.name, stderr: c.diagnostics(res.Stderr),
	}, hint, nil
}

// failed returns the result of a script with a nonzero exit status.
func (c *call) failed(res *script.Result) (*Result, error) {
	a := c.reply(res.Stdout)
	if e := printedError(a.value); e != nil {
		return nil, e
	}
	sent := c.sentOfFailure(&a, res.Stdout)
	r, hint, err := c.beginFailure(res, a.value, sent)
	if err != nil {
		return nil, err
	}
	if a.members != nil && sent != nil {
		r.own = a.members
		r.structured = c.ownStructured(a.members)
		c.warnOther(&a)
	} else {
		r.texts = failureTexts(sent, c.reason(res.Stderr))
		if rawjson.KindOf(a.value) == rawjson.Object && sent != nil {
			r.structured = rawjson.Normal(a.value)
		}
	}
	if hint != "" {
		r.texts = append(r.texts, []byte(hint))
	} else if a.isError {
		c.explained(c.variableHint(sent))
	}
	if sent != nil {
		r.addOwnHint(a.value)
	}
	c.addEmbeds(r)
	return r, nil
}

// printedError returns the error that a tool printed, or nil.
func printedError(value json.RawMessage) *mcp.Error {
	if rawjson.KindOf(value) != rawjson.Object {
		return nil
	}
	message := rawjson.TextOf(value, "message")
	code := rawjson.Get(value, "code")
	if s, ok := rawjson.Text(code); ok {
		code = json.RawMessage(s)
	}
	n, ok := integer(code)
	if message == "" || !ok {
		return nil
	}
	return &mcp.Error{Code: n, Message: message, Data: dataOf(value), Cause: mcp.CauseTool}
}

func failureTexts(stdout []byte, tail string) [][]byte {
	var texts [][]byte
	if len(bytes.TrimSpace(stdout)) > 0 {
		texts = append(texts, stdout)
	}
	if tail != "" {
		texts = append(texts, []byte(tail))
	}
	if texts == nil {
		texts = [][]byte{[]byte(toolFailed)}
	}
	return texts
}

// failureError returns the error that the Bash edition sends.
func (c *call) failureError(res *script.Result, sent []byte, message string) *mcp.Error {
	if len(sent) > 0 {
		return mcp.Errorf(mcp.CodeInternal, "%s", toolFailed).WithData(strings.TrimRight(validText(sent), "\r\n"))
	}
	e, tail := mcp.Errorf(mcp.CodeInternal, "%s", message), c.diagnostics(res.Stderr)
	var b rawjson.Builder
	b.Object().Name("exitCode").Int(res.Status).Name("_meta").Object().Name("exitCode").Int(res.Status)
	b.Optional("stderr", tail)
	b.End()
	b.Optional("stderrTail", tail)
	if line := c.traceLine(); line != "" && c.tools.project.Calls.StderrTo.Client {
		b.Name("traceLine").String(line)
	}
	e.Data = b.End().Bytes()
	return e
}

// succeeded returns the result of a script with exit status 0. A printed CallToolResult is used as the result. Other
// output becomes text and structured content, which is checked against the output schema.
func (c *call) succeeded(res *script.Result) (*Result, error) {
	r := &Result{Status: res.Status, name: c.entry.name, stderr: c.diagnostics(res.Stderr)}
	a := c.reply(res.Stdout)
	if a.members == nil && c.failedQuietly(res) {
		return c.failed(res)
	}
	sent := a.sent(res.Stdout)
	if a.members != nil {
		c.explained(c.deniedHint(res.Stderr))
		r.own, r.IsError = a.members, a.isError
		r.structured = c.ownStructured(a.members)
	} else {
		r.texts = [][]byte{sent}
		if text := c.messages(res); text != "" && len(bytes.TrimSpace(sent)) == 0 {
			r.texts[0] = []byte(text)
		}
		if c.mayStructure(a.value) {
			r.structured = rawjson.Normal(a.value)
		}
	}
	switch {
	case r.IsError:
	case c.entry.outputSchema != nil:
		if refused, err := c.checkOutput(r, a.value, a.members != nil, res); refused != nil || err != nil {
			return refused, err
		}
	case a.value == nil:
		c.explained(cmp.Or(c.strayText(res.Stdout), c.noiseText(res.Stdout)))
	}
	c.warnOther(&a)
	if note := c.invalidText(sent); note != "" {
		r.texts = append(r.texts, []byte(note))
	}
	if r.IsError {
		r.addOwnHint(a.value)
		c.explained(c.variableHint(sent))
	}
	c.review()
	c.addEmbeds(r)
	return r, nil
}

// callToolResult returns the members of a value that is a CallToolResult: an object with a content array and a boolean
// isError.
func callToolResult(value json.RawMessage) []rawjson.Member {
	if rawjson.KindOf(rawjson.Get(value, "content")) != rawjson.Array ||
		rawjson.KindOf(rawjson.Get(value, "isError")) != rawjson.Bool {
		return nil
	}
	return rawjson.Members(value)
}

// diagnostics returns the end of standard error for the members of a result or an error, if the client gets it.
func (c *call) diagnostics(stderr []byte) string {
	if !c.tools.project.Calls.StderrTo.Client {
		return ""
	}
	return c.tail(stderr)
}

// reason returns the end of standard error for the text of a failure.
func (c *call) reason(stderr []byte) string {
	return c.tools.project.Calls.StderrTo.Reason(c.tail(stderr))
}

// tail returns the end of standard error.
func (c *call) tail(stderr []byte) string {
	calls := &c.tools.project.Calls
	if !calls.StderrCapture {
		return ""
	}
	if cut := len(stderr) - calls.StderrTail; cut > 0 {
		for cut < len(stderr) && !utf8.RuneStart(stderr[cut]) {
			cut++
		}
		stderr = stderr[cut:]
	}
	return strings.TrimRight(strings.ReplaceAll(validText(stderr), "\x00", ""), "\r\n")
}

// messages returns standard error as the text of a script that printed nothing on standard output.
func (c *call) messages(res *script.Result) string {
	if !c.tools.project.Calls.StderrTo.Client {
		return c.reason(res.Stderr)
	}
	return c.stderrText(res)
}

// stderrText returns the tail as the text of a result, or "".
func (c *call) stderrText(res *script.Result) string {
	tail := c.tail(res.Stderr)
	if cut := len(res.Stderr) - c.tools.project.Calls.StderrTail; tail != "" && cut > 0 {
		return fmt.Sprintf("[%d bytes left out]\n%s", cut, tail)
	}
	return tail
}

func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}
