package deploy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
)

// A template is the text of a file. "{name}" in it is replaced by the value of that name. A line that begins with
// "?condition " is left out unless the condition is true; "+" joins conditions.
type template struct {
	conditions map[string]bool
	values     map[string]string
}

func (t template) fill(text string) string {
	var pairs []string
	for name, value := range t.values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	values := strings.NewReplacer(pairs...) // replaces nothing in values
	var b strings.Builder
	for one := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(one, "?"); ok {
			names, content, _ := strings.Cut(rest, " ")
			if slices.ContainsFunc(strings.Split(names, "+"), func(name string) bool { return !t.conditions[name] }) {
				continue
			}
			one = content
		}
		values.WriteString(&b, one)
	}
	return b.String()
}

// plain and words determine which texts need no quotes in YAML.
var (
	plain = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_./-]*$`)
	words = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"} // in any case
)

// yaml returns a text as a scalar of YAML, in quotes unless every parser reads it as the same text without them.
func yaml(text string) string {
	if plain.MatchString(text) && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	var b strings.Builder
	for _, r := range string(rawjson.Quote(strings.ToValidUTF8(text, "\ufffd"))) {
		switch {
		case r > 0xffff: // beyond what \u can write
			fmt.Fprintf(&b, `\U%08x`, r)
		case r >= 0x7f && !unicode.IsGraphic(r) || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine returns a text without characters that end a line or are invisible.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	return strings.Join(strings.Fields(text), " ")
}

// unit returns a text as the description of a unit, in which % begins a specifier and \ continues a line.
func unit(text string) string {
	return strings.NewReplacer("%", "%%", `\`, "/").Replace(oneLine(text))
}
