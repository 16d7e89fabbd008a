package secrets

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"

	"mcp-bash/pkg/lazyregexp"
)

// A Finding is a secret in a text. It does not contain the secret.
type Finding struct {
	Line int // from 1
	Rule string
}

// maxFindings is how many findings Scan returns at most.
const maxFindings = 100

// Scan returns the private keys and tokens in a file, in their order. A text in UTF-16 is
// read as such if it begins with a byte order mark.
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

// decode returns a content as UTF-8 if its byte order mark says that it is UTF-16.
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

// isPlaceholder reports whether a token is only an example of one.
func isPlaceholder(token string) bool {
	if strings.Contains(strings.ToUpper(token), "EXAMPLE") {
		return true
	}
	var seen [256]bool
	different := 0
	for i := len(token) - 16; i < len(token); i++ { // behind the prefix
		if c := token[max(i, 0)]; !seen[c] {
			seen[c] = true
			different++
		}
	}
	return different < 6
}

// keyRule is the rule of private keys in PEM and its kin.
const keyRule = "private-key"

var keyStart = lazyregexp.New(`-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}`)

// privateKeys returns the private keys in a text, from the line that begins them to the
// one that ends them, or to the end of the text.
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

// puttyKeys returns the key file of PuTTY that a text is.
func puttyKeys(text string) []span {
	if at := strings.Index("\n"+text, "\nPuTTY-User-Key-File-"); at >= 0 {
		return []span{{at, len(text), "putty-private-key"}}
	}
	return nil
}

// isKey reports whether the line that begins a private key at start does begin one: it
// stands alone, or the key follows. Scripts mention such lines, too.
func isKey(text string, start int) bool {
	const far = 1000 // no line that has more around it stands alone
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

// hasBody reports whether a text begins with the content of a key, after line ends, quotes
// and headers.
func hasBody(text string) bool {
	const far, headers, least = 4096, 6, 16
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
	for n < len(text) && n < least && base64s.has(text[n]) {
		n++
	}
	return n == least
}

// skipBetween removes white space, quotes and escapes of line ends.
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
