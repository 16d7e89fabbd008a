package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
)

// A reply is the JSON value that a script printed as its result (T-210, T-218).
type reply struct {
	value   json.RawMessage  // nil if standard output is text
	members []rawjson.Member // of a CallToolResult, or nil
	isError bool             // the value is a CallToolResult that reports an error
	other   int              // bytes of other output, which are not sent
}

// reply finds the result in standard output. A script that goes on after mcp_error prints no other result. If the tool
// has an outputSchema, the first of several values is the result, because only that one is checked (T-218).
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
	value := firstValue(stdout)
	if value == nil {
		return reply{}
	}
	_, rest, _ := rawjson.Next(stdout)
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
// the output of a failed tool, so with a schema that is only an error that the script reported (T-218).
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
// become "*", because they are a part of the output (T-218).
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
