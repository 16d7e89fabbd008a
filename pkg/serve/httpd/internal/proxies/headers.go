package proxies

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"mcp-bash/pkg/text/ascii"
)

// forwardedFor returns the addresses in X-Forwarded-For, the nearest first, or nil without the header. Each proxy adds
// one at the end of a list. Several lines are one list.
func forwardedFor(h http.Header) iter.Seq[string] {
	lines := h["X-Forwarded-For"]
	if len(lines) == 0 {
		return nil
	}
	return func(yield func(string) bool) {
		for _, line := range slices.Backward(lines) {
			for more := true; more; {
				at := strings.LastIndexByte(line, ',')
				if !yield(ascii.Trim(line[at+1:])) {
					return
				}
				if more = at >= 0; more {
					line = line[:at]
				}
			}
		}
	}
}

// forwarded returns the addresses in Forwarded (RFC 7239), the nearest first, or nil without the header. A header with
// an error anywhere states no address: a client could hide the end of it in a quoted text.
func forwarded(h http.Header) iter.Seq[string] {
	lines := h["Forwarded"]
	if len(lines) == 0 {
		return nil
	}
	hops, ok := parseForwarded(strings.Join(lines, ","))
	return func(yield func(string) bool) {
		for _, hop := range slices.Backward(hops) {
			if !ok || !yield(hop) {
				return
			}
		}
	}
}

// parseForwarded returns the parameter for of each element, or "" where it is missing. An element is a list of
// parameters, and an element without any does not count.
func parseForwarded(text string) (hops []string, ok bool) {
	hop, parameters, hasFor := "", 0, false
	for {
		text = strings.TrimLeft(text, " \t")
		if text != "" && text[0] != ',' && text[0] != ';' {
			name, value, rest, ok := parseParameter(text)
			if !ok {
				return nil, false
			}
			if ascii.EqualFold(name, "for") {
				if hasFor {
					return nil, false
				}
				hop, hasFor = value, true
			}
			parameters++
			text = strings.TrimLeft(rest, " \t")
		}
		if text != "" && text[0] == ';' && parameters > 0 {
			text = text[1:]
			continue
		}
		if text != "" && text[0] != ',' {
			return nil, false
		}
		if parameters > 0 {
			hops = append(hops, hop)
		}
		if text == "" {
			return hops, true
		}
		hop, parameters, hasFor, text = "", 0, false, text[1:]
	}
}

// parseParameter parses NAME=VALUE at the beginning of a text. A value is a token or a quoted text.
func parseParameter(text string) (name, value, rest string, ok bool) {
	name, text = cutToken(text)
	text, ok = strings.CutPrefix(text, "=")
	if name == "" || !ok {
		return "", "", "", false
	}
	if inner, quoted := strings.CutPrefix(text, `"`); quoted {
		value, rest, ok = cutQuoted(inner)
		return name, value, rest, ok
	}
	value, rest = cutToken(text)
	return name, value, rest, value != ""
}

// cutToken cuts a token of RFC 9110 from the beginning of a text. It also takes the colon and the brackets of an
// address, which some proxies do not quote.
func cutToken(text string) (token, rest string) {
	const others = "!#$%&'*+-.^_`|~:[]"
	end := strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(others, r)
	})
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// cutQuoted cuts the rest of a quoted text. A backslash quotes the next character.
func cutQuoted(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}
