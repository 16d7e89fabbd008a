package usage

import (
	"strings"
	"unicode"

	"mcp-bash/pkg/text/lazyregexp"
)

// Limits on a text.
const (
	maxBytes = 4 << 20
	maxLines = 50_000
	maxLine  = 4_000 // bytes
	tabWidth = 8
)

// A line is a line of a help text with its tabs expanded.
type line struct {
	text   string // without the white space around it
	indent int
}

func (l line) blank() bool { return l.text == "" }

// escapes matches escape sequences of terminals: CSI, OSC and others.
var escapes = lazyregexp.New("\x1b\\[[0-9;:?<=>]*[ -/]*[@-~]|" +
	"\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[()][A-Za-z0-9]|\x1b.?")

// plain replaces typographic characters with plain ones: dashes before the name of an
// option, quotation marks, spaces.
var plain = strings.NewReplacer("\u2010", "-", "\u2011", "-", "\u2212", "-", "\u2018", "'", "\u2019", "'",
	"\u201c", `"`, "\u201d", `"`, "\u00a0", " ", "\u2007", " ", "\u202f", " ", "\u2026", "...", "\ufeff", "",
	"\u200b", "", "\u00ad", "", "\u3000", "  ", "\uff1a", ": ", "\uff0c", ", ")

// longDash matches a long dash before a name, which a word processor made of two hyphens.
var longDash = lazyregexp.New(`(^|[\s,|/(\[])[\x{2013}\x{2014}]([A-Za-z])`)

// bullet matches the marker of a list item.
var bullet = lazyregexp.New(`^(?:[\x{2022}\x{2023}\x{25e6}\x{2043}\x{2219}\x{25aa}\x{25cf}\x{00b7}*]|[+o]) +(-)`)

// leaders matches dots that lead to a description, as in a table of contents.
var leaders = lazyregexp.New(` \.{4,} `)

// clean splits a text into lines without escape sequences and overstriking.
func clean(text []byte) []line {
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	s := strings.ToValidUTF8(string(text), "\ufffd")
	if strings.ContainsRune(s, '\x1b') {
		s = escapes.ReplaceAllString(s, "")
	}
	s = plain.Replace(s)
	s = leaders.ReplaceAllString(longDash.ReplaceAllString(s, "$1--$2"), "  ")
	var lines []line
	for one := range strings.SplitSeq(s, "\n") {
		if len(lines) == maxLines {
			break
		}
		lines = append(lines, cleanLine(one))
	}
	return lines
}

// cleanLine expands tabs and drops control characters.
func cleanLine(s string) line {
	if at := strings.LastIndexByte(strings.TrimRight(s, "\r"), '\r'); at >= 0 { // text that was overwritten
		s = s[at+1:]
	}
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "")
	}
	var b strings.Builder
	column := 0
	for _, r := range s {
		switch {
		case r == '\t':
			n := tabWidth - column%tabWidth
			if n == 1 {
				n = 2 // a tab is at least two spaces wide
			}
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			continue
		}
		b.WriteRune(r)
		column++
	}
	expanded := strings.TrimRight(b.String(), " ")
	trimmed := strings.TrimLeft(expanded, " ")
	l := line{text: trimmed, indent: len(expanded) - len(trimmed)}
	if m := bullet.FindStringSubmatchIndex(trimmed); m != nil {
		l.text = trimmed[m[2]:] // the description is deeper than the bullet
	}
	return l
}

// sentence joins parts into one line and truncates it to maxText.
func sentence(parts ...string) string {
	s := strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
	return cut(s, maxText)
}

func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = strings.ToValidUTF8(s[:limit], "")
	if at := strings.LastIndexByte(s, ' '); at > limit/2 {
		s = s[:at]
	}
	return s + " ..."
}

// Plain returns a text of a program on one line of at most limit bytes. It removes characters that
// control a terminal or the direction of text.
func Plain(text string, limit int) string {
	return cut(cleanLine(strings.Join(strings.Fields(text), " ")).text, limit)
}
