package resource

import (
	"regexp"
	"strings"
)

// A Pattern is a URI template (RFC 6570) that URIs are held against. Use
// NewPattern.
type Pattern struct{ fits *regexp.Regexp }

// NewPattern reads a template. What is not one fits no URI.
func NewPattern(template string) Pattern {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for rest := template; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		b.WriteString(regexp.QuoteMeta(literal))
		if !found {
			break
		}
		variables, after, closed := strings.Cut(after, "}")
		if !closed || variables == "" {
			return Pattern{}
		}
		b.WriteString(expansions(variables[0]))
		rest = after
	}
	b.WriteString(`\z`)
	fits, err := regexp.Compile(b.String())
	if err != nil {
		return Pattern{} // longer than any URI
	}
	return Pattern{fits}
}

// expansions is what an expression can become, by the character it begins with
// (RFC 6570, 3.2): anything may be left out. Clients often leave characters as
// they are that had to be encoded; only those that end a part of the URI count.
func expansions(operator byte) string {
	switch operator {
	case '+':
		return `.*`
	case '#':
		return `(?:#.*)?`
	case '.', ';':
		return `(?:\` + string(operator) + `[^/?#]*)?`
	case '/':
		return `(?:/[^?#]*)?`
	case '?', '&':
		return `(?:\` + string(operator) + `[^#]*)?`
	}
	return `[^/?#]*`
}

// Fits reports whether a URI can be an expansion of the template.
func (p Pattern) Fits(uri string) bool { return p.fits != nil && p.fits.MatchString(uri) }
