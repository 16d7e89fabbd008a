package secrets

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A form is the format of an issuer's secrets: a prefix, and the characters after it.
type form struct {
	rule      string
	prefix    string
	chars     charset
	minLength int // the minimum number of characters after the prefix, or the exact number if exact is set
	exact     bool
	apart     bool // a letter or digit must not precede the prefix, because the prefix can be the end of a word
}

type charset int

const (
	alnum   charset = iota // letters and digits
	upper                  // capital letters and digits
	hex                    // lower-case hexadecimal digits
	word                   // letters, digits, "_" and "-"
	base64s                // standard Base64
	dotted                 // letters, digits, "_", "-", ".", "=", "/" and ":"
)

func (s charset) has(c byte) bool {
	isDigit, isUpper, isLower := c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z'
	switch s {
	case upper:
		return isDigit || isUpper
	case hex:
		return isDigit || c >= 'a' && c <= 'f'
	case word:
		return isDigit || isUpper || isLower || c == '_' || c == '-'
	case base64s:
		return isDigit || isUpper || isLower || c == '+' || c == '/' || c == '='
	case dotted:
		return isDigit || isUpper || isLower || strings.IndexByte("_-.=/:", c) >= 0
	}
	return isDigit || isUpper || isLower
}

//go:embed tokens.txt
var tokensText string

// forms returns the rows of tokens.txt, a form for each prefix. It recognizes them in any context.
var forms = sync.OnceValue(func() (list []form) {
	for line := range strings.Lines(tokensText) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		chars := charset(slices.Index([]string{"alnum", "upper", "hex", "word", "base64", "dotted"}, f[1]))
		number, exact := strings.CutPrefix(f[2], "=")
		minLength, _ := strconv.Atoi(number)
		for _, prefix := range f[3:] {
			prefix, apart := strings.CutPrefix(prefix, "^")
			list = append(list, form{f[0], prefix, chars, minLength, exact, apart})
		}
	}
	return list
})

type span struct {
	start, end int
	rule       string
}

// shortest is the length of the shortest token of all forms, in bytes.
const shortest = 20

// tokens returns the tokens in a text, form by form.
func tokens(text string) (list []span) {
	if len(text) < shortest {
		return nil
	}
	for _, f := range forms() {
		for at := 0; ; {
			found := strings.Index(text[at:], f.prefix)
			if found < 0 {
				break
			}
			start := at + found
			end := start + len(f.prefix)
			if at = end; f.apart && start > 0 && endsWord(text[:start]) {
				continue
			}
			for end < len(text) && f.chars.has(text[end]) && (!f.exact || end-at <= f.minLength) {
				end++
			}
			if n := end - at; n == f.minLength || n > f.minLength && !f.exact {
				list = append(list, span{start, end, f.rule})
				at = end
			}
		}
	}
	return append(list, webTokens(text)...)
}

// endsWord reports whether a text ends with a letter or digit that is not part of an escape
// such as \n or %20.
func endsWord(text string) bool {
	last := len(text) - 1
	if !alnum.has(text[last]) {
		return false
	}
	return !(last > 0 && text[last-1] == '\\' || last > 1 && text[last-2] == '%')
}

// webTokens returns the JSON web tokens in a text: two JSON objects and a signature in
// Base64, separated by dots.
func webTokens(text string) (list []span) {
	const object, minLength = "eyJ", 8
	for at := 0; ; {
		found := strings.Index(text[at:], object)
		if found < 0 {
			return list
		}
		start, end := at+found, at+found
		for part := 1; part == 3 || strings.HasPrefix(text[end:], object); part++ {
			from := end
			for end < len(text) && word.has(text[end]) {
				end++
			}
			if end-from < minLength || part < 3 && !strings.HasPrefix(text[end:], ".") {
				break
			}
			if part == 3 {
				list = append(list, span{start, end, "json-web-token"})
				break
			}
			end++
		}
		at = max(end, start+len(object))
	}
}
