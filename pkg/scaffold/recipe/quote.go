package recipe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote marks a text of a program or of a file as such: in quotation marks, in one line of at most limit bytes. It
// returns "" for an empty text.
func Quote(text string, limit int) string {
	if text = Plain(text, limit); text == "" {
		return ""
	}
	return `"` + strings.ReplaceAll(text, `"`, "'") + `"`
}

// Plain returns foreign text as one line of at most limit bytes, without control characters.
func Plain(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, text[:min(len(text), 8*limit)])
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		const more = "…"
		text = strings.ToValidUTF8(text[:limit-len(more)], "") + more
	}
	return text
}
