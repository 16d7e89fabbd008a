// Package tracecontext reads the W3C trace context of a request, from its _meta or from its HTTP header.
package tracecontext

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// A Context is a trace context. Malformed and missing values are "".
type Context struct{ Parent, State, Baggage string }

// read returns the valid values. A state is valid only with a parent.
func read(parent, state, baggage string) (c Context) {
	if isTraceparent(parent) {
		c.Parent = parent
		if isHeaderList(state) {
			c.State = state
		}
	}
	if isHeaderList(baggage) {
		c.Baggage = baggage
	}
	return c
}

// OfMeta returns the context in the _meta of a request.
func OfMeta(meta json.RawMessage) Context {
	return read(rawjson.TextOf(meta, "traceparent"), rawjson.TextOf(meta, "tracestate"), rawjson.TextOf(meta, "baggage"))
}

// OfHeader returns the context in a header of net/http, whose lists may be in several lines. It shares no memory with
// the header. It does not import net/http, which would add 1.2 MB to programs.
func OfHeader(h map[string][]string) Context {
	parent, baggage := h["Traceparent"], h["Baggage"]
	if len(parent) != 1 && len(baggage) == 0 {
		return Context{}
	}
	if len(parent) != 1 {
		parent = []string{""}
	}
	c := read(parent[0], strings.Join(h["Tracestate"], ","), strings.Join(baggage, ","))
	return Context{strings.Clone(c.Parent), strings.Clone(c.State), strings.Clone(c.Baggage)}
}

// Or returns the context. Missing values are replaced by those of other.
func (c Context) Or(other Context) Context {
	if c.Parent == "" {
		c.Parent, c.State = other.Parent, other.State
	}
	if c.Baggage == "" {
		c.Baggage = other.Baggage
	}
	return c
}

// Trace returns the ids of the trace and of its caller's span, or "".
func (c Context) Trace() (trace, span string) {
	if c.Parent == "" {
		return "", ""
	}
	return c.Parent[3:35], c.Parent[36:52]
}

// NewTrace returns the id of a new trace.
func NewTrace() string {
	var id [16]byte
	binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	return hex.EncodeToString(id[:])
}

// NewSpan returns the id of a new span.
func NewSpan() string {
	var id [8]byte
	binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	return hex.EncodeToString(id[:])
}

// Child returns the context for work in a new span of a trace. A trace without a caller is sampled.
func (c Context) Child(trace, span string) Context {
	flags := "01"
	if c.Parent != "" {
		flags = c.Parent[53:55]
	}
	c.Parent = "00-" + trace + "-" + span + "-" + flags
	return c
}

// Size returns the length of the values, in bytes.
func (c Context) Size() int { return len(c.Parent) + len(c.State) + len(c.Baggage) }

// AppendEnviron appends variables, with which a script can continue the trace.
func (c Context) AppendEnviron(env []string) []string {
	for _, v := range [...]struct{ name, value string }{
		{"TRACEPARENT=", c.Parent}, {"TRACESTATE=", c.State}, {"BAGGAGE=", c.Baggage},
	} {
		if v.value != "" {
			env = append(env, v.name+v.value)
		}
	}
	return env
}

// isTraceparent reports whether a traceparent is valid: version, trace id, parent id and flags in
// lower-case hexadecimal. Zero ids and version ff are invalid.
func isTraceparent(s string) bool {
	part := strings.Split(s, "-")
	if len(part) < 4 || len(part) > 4 && part[0] == "00" {
		return false
	}
	for i, size := range []int{2, 32, 16, 2} {
		if len(part[i]) != size || strings.Trim(part[i], "0123456789abcdef") != "" {
			return false
		}
	}
	return part[0] != "ff" && strings.Trim(part[1], "0") != "" && strings.Trim(part[2], "0") != ""
}

const maxHeaderList = 8192 // bytes that a receiver must accept (W3C Baggage)

// isHeaderList reports whether a list has name=value members of printable ASCII, separated by commas.
func isHeaderList(s string) bool {
	if s == "" || len(s) > maxHeaderList {
		return false
	}
	for member := range strings.SplitSeq(s, ",") {
		name, value, found := strings.Cut(strings.Trim(member, " \t"), "=")
		if member != "" && (!found || !isToken(strings.TrimRight(name, " \t")) || !isPrintable(value)) {
			return false
		}
	}
	return true
}

// isToken reports whether s is an HTTP token. Vendor keys of tracestate may also contain "/" and
// "@".
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~/@", c)
	})
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c != '\t' && (c < ' ' || c > '~') })
}
