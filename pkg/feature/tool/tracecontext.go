package tool

import (
	"encoding/json"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// traceContext returns the W3C trace context of a request as variables, so that a tool can continue
// the trace (M-13). It omits malformed values.
func traceContext(meta json.RawMessage) []string {
	var env []string
	parent := rawjson.TextOf(meta, "traceparent")
	if isTraceparent(parent) {
		env = append(env, "TRACEPARENT="+parent)
		if state := rawjson.TextOf(meta, "tracestate"); isHeaderList(state) {
			env = append(env, "TRACESTATE="+state)
		}
	}
	if baggage := rawjson.TextOf(meta, "baggage"); isHeaderList(baggage) {
		env = append(env, "BAGGAGE="+baggage)
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
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~/@", rune(c)) {
			return false
		}
	}
	return s != ""
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c != '\t' && (c < ' ' || c > '~') })
}
