package secrets

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"mcp-bash/pkg/text/lazyregexp"
)

// A Finding is a secret in a text. It does not contain the secret.
type Finding struct {
	Line int // from 1
	Rule string
}

// maxFindings limits how many findings Scan returns.
const maxFindings = 100

// Scan returns the private keys and tokens in a file, by position. A text with a byte order
// mark of UTF-16 is decoded.
func Scan(content []byte) (findings []Finding) {
	text := decode(content)
	var spans []span
	for _, s := range append(privateKeys(text), puttyKeys(text)...) {
		if s.rule != keyRule || isKey(text, s.start) {
			spans = append(spans, s)
		}
	}
	for _, s := range tokens(text) {
		if !isPlaceholder(text[s.start:s.end]) {
			spans = append(spans, s)
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	line, at := 1, 0
	for _, s := range spans {
		line += strings.Count(text[at:s.start], "\n")
		at = s.start
		if f := (Finding{line, s.rule}); !slices.Contains(findings, f) && len(findings) < maxFindings {
			findings = append(findings, f)
		}
	}
	return findings
}

// decode returns content as UTF-8. It decodes UTF-16 if there is a byte order mark.
func decode(content []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(content, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(content, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return string(content)
	}
	units := make([]uint16, len(content)/2)
	for i := range units {
		units[i] = order.Uint16(content[2*i:])
	}
	return string(utf16.Decode(units))
}

func isPlaceholder(token string) bool {
	if strings.Contains(strings.ToUpper(token), "EXAMPLE") {
		return true
	}
	var seen [256]bool
	different := 0
	for i := len(token) - 16; i < len(token); i++ { // skip the prefix
		if c := token[max(i, 0)]; !seen[c] {
			seen[c] = true
			different++
		}
	}
	return different < 6
}

const keyRule = "private-key"

var keyStart = lazyregexp.New(`-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}`)

// privateKeys returns the private keys in a text, from the first line of each key to its
// last line or the end of the text.
func privateKeys(text string) (list []span) {
	const mark = "PRIVATE KEY"
	if !strings.Contains(text, mark) {
		return nil
	}
	for at := 0; ; {
		found := keyStart.FindStringIndex(text[at:])
		if found == nil {
			return list
		}
		start, body := at+found[0], at+found[1]
		end := len(text)
		if last := strings.Index(text[body:], mark); last >= 0 {
			end = body + last + len(mark)
			end += len(text[end:]) - len(strings.TrimLeft(text[end:], " BLOCK-"))
		}
		list = append(list, span{start, end, keyRule})
		at = body
	}
}

// puttyKeys returns a PuTTY key, from its first line to the end of the text.
func puttyKeys(text string) []span {
	const mark = "\nPuTTY-User-Key-File-"
	at := 0
	if !strings.HasPrefix(text, mark[1:]) {
		at = strings.Index(text, mark) + 1
		if at == 0 {
			return nil
		}
	}
	return []span{{at, len(text), "putty-private-key"}}
}

// isKey reports whether the marker at start begins a private key. It does if it is alone on
// its line, or if a key follows. Scripts can mention markers, too.
func isKey(text string, start int) bool {
	const far = 1000 // if more text is around a marker, it is not alone
	marker := keyStart.FindString(text[start:])
	rest := text[start+len(marker):]
	before, after := text[max(0, start-far):start], rest[:min(far, len(rest))]
	before = before[strings.LastIndexAny(before, "\r\n")+1:]
	if end := strings.IndexAny(after, "\r\n"); end >= 0 {
		after = after[:end]
	}
	return len(before) < far && len(after) < far && !hasWord(before+after) || hasBody(rest)
}

func hasWord(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < 0x80 && alnum.has(byte(r)) })
}

// hasBody reports whether a text begins with the content of a key, after line breaks, quotes
// and headers.
func hasBody(text string) bool {
	const far, headers, minLength = 4096, 6, 16
	text = text[:min(far, len(text))]
	for range headers {
		text = skipBetween(text)
		name, value, ok := strings.Cut(text, ": ")
		if !ok || len(name) > 30 || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-") != "" {
			break
		}
		end := strings.IndexAny(value, "\n\\")
		if end < 0 {
			return false
		}
		text = value[end:]
	}
	n := 0
	for n < len(text) && n < minLength && base64s.has(text[n]) {
		n++
	}
	return n == minLength
}

func skipBetween(text string) string {
	for text != "" {
		switch {
		case strings.HasPrefix(text, `\n`), strings.HasPrefix(text, `\r`):
			text = text[2:]
		case strings.IndexByte(" \t\r\n\"'`,+\\", text[0]) >= 0:
			text = text[1:]
		default:
			return text
		}
	}
	return ""
}

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

// forms returns the formats in tokens.txt, one for each prefix. Each format is recognized in any context.
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
	if !hasLongWord(text) {
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

// hasLongWord reports whether a text has enough characters for a token without a space or a control character.
func hasLongWord(text string) bool {
	n := 0
	for i := range len(text) {
		if n++; text[i] <= ' ' {
			n = 0
		} else if n == shortest {
			return true
		}
	}
	return false
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
