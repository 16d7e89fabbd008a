package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// soleValue returns the JSON value that is the whole output, apart from white space, or nil.
func soleValue(stdout []byte) json.RawMessage {
	text := rawjson.SkipSpace(stdout)
	if len(text) == 0 || !bytes.ContainsRune([]byte("{[\"-0123456789tfn"), rune(text[0])) {
		return nil
	}
	v, err := rawjson.Check(text)
	if err != nil {
		return nil
	}
	return v
}

// jsonValues returns the JSON values that an output consists of, or nil if it has other text or none.
func jsonValues(stdout []byte) (list []json.RawMessage) {
	for rest := stdout; ; {
		value, after, err := rawjson.Next(rest)
		switch {
		case err == io.EOF:
			return list
		case err != nil:
			return nil
		}
		list, rest = append(list, value), after
	}
}

// nothingElse is the end of a hint, without the initial "p" or "P".
const nothingElse = "rint nothing else there, and messages to standard error (>&2)"

// strayText describes output next to a result, because all output then becomes plain text, or returns "".
func (c *call) strayText(stdout []byte) string {
	begins := []string{`{"content":`, `{"success":`}
	if c.entry.outputSchema != nil { // any object may be the result
		begins = append(begins, "{")
	}
	for _, begin := range begins {
		at := bytes.Index(stdout, []byte(begin))
		if at < 0 {
			continue
		}
		value, rest, err := rawjson.Next(stdout[at:])
		if err != nil || begin != "{" && callToolResult(value) == nil && !isEnvelope(value) {
			continue
		}
		place, stray := "after", len(bytes.TrimSpace(rest))
		if before := len(bytes.TrimSpace(stdout[:at])); before > 0 {
			place, stray = "before", before
		} else if stray == 0 {
			continue
		}
		if c.entry.outputSchema != nil {
			return fmt.Sprintf("standard output has %d bytes %s the result, so it is not the JSON that outputSchema requires. "+
				"P"+nothingElse, stray, place)
		}
		return "standard output holds something " + place + " the result, so all of it is sent as text; p" + nothingElse
	}
	return ""
}

// noiseText describes text next to an object of a tool without outputSchema, once for each script, or returns "".
func (c *call) noiseText(stdout []byte) string {
	place, n := noise(stdout)
	if n == 0 {
		return ""
	}
	if _, reported := c.tools.reviewed.LoadOrStore("noise "+c.script, true); reported {
		return ""
	}
	return fmt.Sprintf("standard output has %d bytes of text %s an object, so all of it is sent as text, and nothing as "+
		"structuredContent. If the object is the result, p%s", n, place, nothingElse)
}

// noise returns the number of bytes before or after an object. The object must begin a line and be the only JSON value
// of the output, because the lines of a log can be objects, too.
func noise(stdout []byte) (place string, n int) {
	rest := bytes.TrimSpace(stdout)
	before := rest
	for range maxErrors {
		value, after, err := rawjson.Next(rest)
		after = bytes.TrimSpace(after)
		switch {
		case err != nil || rawjson.Members(value) == nil:
		case len(rest) == len(before) && len(after) > 0 && after[0] != '{' && after[0] != '[':
			return "after", len(after)
		case len(rest) < len(before) && len(after) == 0 && before[0] != '{' && before[0] != '[':
			return "before", len(bytes.TrimSpace(before[:len(before)-len(rest)]))
		default:
			return "", 0
		}
		at := bytes.Index(rest, []byte("\n{"))
		if at < 0 {
			break
		}
		rest = rest[at+1:]
	}
	return "", 0
}

// isEnvelope reports whether a value is the output of mcp_result_success.
func isEnvelope(value json.RawMessage) bool {
	return rawjson.KindOf(rawjson.Get(value, "success")) == rawjson.Bool &&
		(rawjson.Get(value, "result") != nil || rawjson.Get(value, "error") != nil)
}

// mayStructure reports whether a value can be structured content. Every revision permits objects. The newest permits
// all values, but null only if the tool's schema permits it.
func (c *call) mayStructure(value json.RawMessage) bool {
	switch rawjson.KindOf(value) {
	case rawjson.Object:
		return true
	case rawjson.Invalid:
		return false
	case rawjson.Null:
		s := c.entry.outputSchema
		return c.request.AnyStructured && s != nil && c.check(s, value, "outputSchema") == nil
	}
	return c.request.AnyStructured
}

// ownStructured returns the structured content of a CallToolResult that the tool printed.
func (c *call) ownStructured(members []rawjson.Member) json.RawMessage {
	if own := member(members, "structuredContent"); c.mayStructure(own) {
		return rawjson.Normal(own)
	}
	return nil
}

// validateArguments converts the arguments to the form that the tool's schema requires. It returns the result for
// arguments that violate the schema, or nil.
func (c *call) validateArguments() *Result {
	p := c.tools.project
	if !c.entry.validates(p.Calls.Validate, p.Meta.ValidateInput) || c.trial.words() != nil {
		return nil
	}
	violations := c.check(c.entry.inputSchema, c.request.Arguments, "inputSchema")
	if violations != nil && p.Calls.Adjust {
		s, _, _ := c.tools.schemas.Get(c.entry.inputSchema)
		if c.request.Arguments, c.adjusted = s.Adjust(c.request.Arguments); c.adjusted != nil {
			violations = s.Check(c.request.Arguments)
		}
	}
	if violations == nil {
		return nil
	}
	r := violated("validation_error", "Invalid arguments: ", violations)
	r.name, r.cause = c.entry.name, mcp.CauseArguments
	return r
}

// check returns how a value violates a schema of the tool. An invalid schema permits every value, with one warning.
func (c *call) check(text, value json.RawMessage, what string) []schema.Violation {
	s, first, err := c.tools.schemas.Get(text)
	if err != nil {
		if first {
			c.logf(mcp.Warning, "Tool '%s' %s cannot be used for validation: %s", c.entry.name, what, err)
		}
		return nil
	}
	return s.Check(value)
}

func violated(kind, prefix string, violations []schema.Violation) *Result {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.String()
	}
	r := failure(kind, prefix+strings.Join(texts, "; "), func(b *rawjson.Builder) {
		b.Name("violations").Array()
		for _, v := range violations {
			b.Object().Name("path").String(v.Path).Name("message").String(v.Message).End()
		}
		b.End()
	})
	r.noMeta = true
	return r
}

// Messages of T-215.
const (
	outputNotJSON = "Tool output is not valid JSON for declared outputSchema"
	outputEmpty   = "Tool output is empty for declared outputSchema"
	outputInvalid = "Tool output does not satisfy outputSchema"
)

// checkOutput validates a success against the tool's outputSchema. value is standard output as JSON. isResult means
// that the value is a CallToolResult.
func (c *call) checkOutput(r *Result, value json.RawMessage, isResult bool, res *script.Result) (*Result, error) {
	s, p := c.entry.outputSchema, c.tools.project
	if s == nil {
		return nil, nil
	}
	full := c.entry.validates(p.Calls.Validate, p.Meta.ValidateInput)
	data, message := value, ""
	if isResult {
		if data = rawjson.Get(value, "structuredContent"); data == nil {
			data = json.RawMessage("{}")
		}
	}
	var violations []schema.Violation
	switch {
	case data == nil && len(bytes.TrimSpace(res.Stdout)) == 0:
		message = outputEmpty
	case data == nil:
		message = outputNotJSON
	case full:
		if violations = c.outputViolations(data); violations != nil {
			message = outputInvalid
		}
	case c.request.AnyStructured && !describesObject(s):
		if c.check(s, data, "outputSchema") != nil {
			message = outputInvalid
		}
	case !satisfies(s, data):
		message = outputInvalid
	}
	if message == "" {
		return nil, nil
	}
	hint := c.explained(c.outputHint(message, data, res.Stdout))
	if p.Calls.FailureIsError && !full {
		e := mcp.Errorf(mcp.CodeInternal, "%s", message)
		e.Data = c.outputDiagnosis(res)
		return nil, e
	}
	var refused *Result
	if violations != nil {
		refused = violated("output_validation_error", "Invalid output: ", violations)
	} else {
		refused = failure("output_validation_error", message, nil)
		refused.texts = append(refused.texts, []byte(hint))
	}
	refused.name, refused.Status, refused.stderr, refused.noMeta = c.entry.name, res.Status, r.stderr, false
	refused.cause = mcp.CauseSchema
	return refused, nil
}

// satisfies is the check for projects without validation: required members, and types of members at the top level.
func satisfies(s, data json.RawMessage) bool {
	if !describesObject(s) {
		return true
	}
	if rawjson.KindOf(data) != rawjson.Object {
		return false
	}
	for e := range rawjson.Elements(rawjson.Get(s, "required")) {
		if name, ok := rawjson.Text(e); ok && rawjson.Get(data, name) == nil {
			return false
		}
	}
	for name, property := range rawjson.All(rawjson.Get(s, "properties")) {
		v := rawjson.Get(data, name)
		if !rawjson.Absent(v) && !isOfType(v, rawjson.TextOf(property, "type")) {
			return false
		}
	}
	return true
}

func describesObject(s json.RawMessage) bool {
	t := rawjson.Get(s, "type")
	return t == nil || string(t) == `"object"`
}

func isOfType(v json.RawMessage, name string) bool {
	kind := rawjson.KindOf(v)
	switch name {
	case "string":
		return kind == rawjson.String
	case "number":
		return kind == rawjson.Number
	case "integer":
		return kind == rawjson.Number && isWhole(v)
	case "boolean":
		return kind == rawjson.Bool
	case "array":
		return kind == rawjson.Array
	case "object":
		return kind == rawjson.Object
	}
	return true
}

// isWhole reports whether a number has no fraction, in any spelling.
func isWhole(v json.RawMessage) bool {
	var f float64
	return json.Unmarshal(v, &f) != nil || f == float64(int64(f)) || f >= 1<<63 || f <= -1<<63
}

// outputDiagnosis returns the data of T-216, or nil unless debugging is enabled.
func (c *call) outputDiagnosis(res *script.Result) json.RawMessage {
	if !c.tools.project.Logging.DebugErrors {
		return nil
	}
	var b rawjson.Builder
	b.Object().Name("tool").String(c.entry.name).Name("exitCode").Int(res.Status).
		Name("traceAvailable").Bool(c.trace.available())
	b.Optional("stderrTail", c.tail(res.Stderr))
	b.Optional("traceLine", c.traceLine())
	return b.End().Bytes()
}

// dropInvalid removes structured content that violates the tool's schema from an error result. Strict clients would
// reject the whole result. The text has the same content.
func (c *call) dropInvalid(r *Result) {
	if r.IsError && r.structured != nil && c.entry.outputSchema != nil &&
		c.check(c.entry.outputSchema, r.structured, "outputSchema") != nil {
		r.structured = nil
	}
}

// A reply is the JSON value that a script printed as its result.
type reply struct {
	value   json.RawMessage  // nil if standard output is text
	members []rawjson.Member // of a CallToolResult, or nil
	isError bool             // the value is a CallToolResult that reports an error
	other   int              // bytes of other output, which are not sent
}

// reply finds the result in standard output. A script that goes on after mcp_error prints no other result. If the tool
// has an outputSchema, the first of several values is the result, because only that one is checked.
func (c *call) reply(stdout []byte) reply {
	if value := soleValue(stdout); value != nil {
		return newReply(value, nil, nil)
	}
	if value, rest, err := rawjson.Next(stdout); err == nil {
		if a := newReply(value, nil, rest); a.isError {
			return a
		}
	}
	if c.entry.outputSchema == nil {
		return reply{}
	}
	if a := laterError(stdout); a.isError {
		return a
	}
	if jsonValues(stdout) == nil {
		return reply{}
	}
	value, rest, _ := rawjson.Next(stdout)
	return newReply(value, nil, rest)
}

func newReply(value json.RawMessage, before, after []byte) reply {
	a := reply{value: value, members: callToolResult(value)}
	a.isError = a.members != nil && rawjson.True(rawjson.Get(value, "isError"))
	a.other = len(bytes.TrimSpace(before)) + len(bytes.TrimSpace(after))
	return a
}

// maxErrors limits the lines that may be the error result of a script that also prints other text.
const maxErrors = 16

// laterError returns the first error result that begins a line after other output.
func laterError(stdout []byte) reply {
	rest, begin := stdout, []byte("\n"+`{"content":`)
	for range maxErrors {
		at := bytes.Index(rest, begin)
		if at < 0 {
			break
		}
		rest = rest[at+1:]
		value, after, err := rawjson.Next(rest)
		if err != nil {
			continue
		}
		if a := newReply(value, stdout[:len(stdout)-len(rest)], after); a.isError {
			return a
		}
	}
	return reply{}
}

// sent returns the part of standard output that a client may get.
func (a *reply) sent(stdout []byte) []byte {
	if a.other > 0 {
		return a.value
	}
	return stdout
}

// sentOfFailure returns the part of standard output that a client may get if the call failed. No outputSchema describes
// the output of a failed tool. So if the tool has one, the part is only an error that the script reported.
func (c *call) sentOfFailure(a *reply, stdout []byte) []byte {
	if c.entry.outputSchema == nil || a.isError {
		return a.sent(stdout)
	}
	if n := len(bytes.TrimSpace(stdout)); n > 0 {
		c.warn(fmt.Sprintf("%d bytes of standard output are not sent, because outputSchema does not describe the output "+
			"of a failed tool; report errors with mcp_error", n))
	}
	return nil
}

// warnOther logs that output next to the result is not sent. It is not quoted, because clients get the log, too.
func (c *call) warnOther(a *reply) {
	switch {
	case a.other == 0:
	case a.isError:
		c.warn(fmt.Sprintf("%d bytes of standard output next to an error result are not sent; end the script after mcp_error",
			a.other))
	default:
		c.warn(fmt.Sprintf("%d bytes of standard output after the result are not sent, because outputSchema describes one "+
			"value. Print nothing else there, and messages to standard error (>&2)", a.other))
	}
}

// outputViolations returns how output violates the outputSchema of the tool. Names that the schema does not contain
// become "*", because they are a part of the output.
func (c *call) outputViolations(data json.RawMessage) []schema.Violation {
	s := c.entry.outputSchema
	violations := slices.Clone(c.check(s, data, "outputSchema"))
	for i, v := range violations {
		names := strings.Split(v.Path, "/")
		for j, name := range names {
			quoted := rawjson.Quote(rawjson.FromPointer.Replace(name))
			isIndex := name != "" && len(name) <= 4 && strings.Trim(name, "0123456789") == ""
			if name != "" && !isIndex && !bytes.Contains(s, quoted) {
				names[j] = "*"
			}
		}
		violations[i].Path = strings.Join(names, "/")
	}
	return violations
}
