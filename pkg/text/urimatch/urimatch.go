// Package urimatch matches URIs against URI templates (RFC 6570) and returns the values of the
// variables. It knows nothing of projects.
package urimatch

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Value is the value of a template's variable in a URI, with its escapes.
type Value struct{ Name, Text string }

// maxURI is the maximum number of characters of a URI that matches a template.
const maxURI = 2048

// plain reports whether a URI can match a template at all.
func plain(uri string) bool {
	return utf8.ValidString(uri) && utf8.RuneCountInString(uri) <= maxURI &&
		!strings.ContainsFunc(uri, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
}

// A pattern is a template as a regular expression. Package regexp takes time that is linear in the
// length of the URI. Of several matches it prefers the one in which the first variable has the
// shortest value, then the second, as RES-171 requires.
type pattern struct {
	re          *regexp.Regexp
	names       []string // of the variables, in order
	literals    int      // characters
	expressions int
}

// A part of a template is literal text, or an expression without its braces.
type part struct {
	text       string
	expression bool
}

// partsOf splits a template into parts. ok is false for unbalanced braces.
func partsOf(template string) (parts []part, ok bool) {
	for template != "" {
		literal, rest, found := strings.Cut(template, "{")
		if strings.Contains(literal, "}") {
			return nil, false
		}
		if literal != "" {
			parts = append(parts, part{text: literal})
		}
		if !found {
			break
		}
		expression, after, closed := strings.Cut(rest, "}")
		if !closed || strings.Contains(expression, "{") {
			return nil, false
		}
		parts = append(parts, part{expression, true})
		template = after
	}
	return parts, true
}

// HasVariable reports whether a template contains a variable in braces, and no unmatched brace.
func HasVariable(template string) bool {
	parts, ok := partsOf(template)
	return ok && slices.ContainsFunc(parts, func(p part) bool { return p.expression && strings.TrimSpace(p.text) != "" })
}

// newPattern returns the pattern of a template. ok is false if its variables cannot be extracted from a URI.
func newPattern(parts []part) (p pattern, ok bool) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	seen := map[string]bool{}
	for i, of := range parts {
		if !of.expression {
			b.WriteString(regexp.QuoteMeta(of.text))
			p.literals += utf8.RuneCountInString(of.text)
			continue
		}
		name, value := of.text, `([^/?#]+?)`
		switch {
		case strings.HasPrefix(name, "+"):
			name, value = name[1:], `(.+?)`
		case strings.HasPrefix(name, "#"):
			name, value = name[1:], `#(.+?)`
			p.literals++
		}
		if !isName(name) || seen[name] || i > 0 && parts[i-1].expression {
			return pattern{}, false
		}
		seen[name] = true
		b.WriteString(value)
		p.names = append(p.names, name)
		p.expressions++
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	p.re = re
	return p, err == nil && p.expressions > 0
}

func isName(name string) bool {
	return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func (p *pattern) match(uri string) (values []Value, ok bool) {
	found := p.re.FindStringSubmatch(uri)
	if found == nil {
		return nil, false
	}
	for i, name := range p.names {
		values = append(values, Value{name, found[i+1]})
	}
	return values, true
}

// newForm returns an expression for all URIs that a template can expand to. It also supports
// templates whose variables cannot be extracted. It is nil if the text is not a template.
func newForm(parts []part) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, of := range parts {
		switch {
		case !of.expression:
			b.WriteString(regexp.QuoteMeta(of.text))
		case of.text == "":
			return nil
		default:
			b.WriteString(expansions(of.text[0]))
		}
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil
	}
	return re
}

// expansions are regular expressions for the expansions of an expression, by its first character
// (RFC 6570, 3.2). Any variable can be missing. Clients often do not encode characters as
// required, so only characters that end a part of the URI are excluded.
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

// A Template is one of the templates of a project.
type Template struct {
	Name, Text string
	MIMEType   string // of all URIs that it matches; "": unknown
}

// A Set contains the templates of a project. It is immutable and safe for concurrent use. The nil
// Set is empty.
type Set struct {
	matching []matching // the preferred one first
	forms    []form
	schemes  map[string]bool
}

type matching struct {
	Template
	pattern
}

// A form is a template with a type whose variables cannot be extracted from a URI.
type form struct {
	mimeType string
	re       *regexp.Regexp
}

// NewSet returns a set of templates, which must be sorted by name.
func NewSet(templates []Template) *Set {
	s := &Set{schemes: map[string]bool{}}
	for _, t := range templates {
		if scheme := Scheme(t.Text); scheme != "" {
			s.schemes[scheme] = true
		}
		parts, ok := partsOf(t.Text)
		if !ok {
			continue
		}
		if p, ok := newPattern(parts); ok {
			s.matching = append(s.matching, matching{t, p})
		} else if re := newForm(parts); re != nil && t.MIMEType != "" {
			s.forms = append(s.forms, form{t.MIMEType, re})
		}
	}
	slices.SortStableFunc(s.matching, func(a, b matching) int {
		return cmp.Or(b.literals-a.literals, a.expressions-b.expressions, strings.Compare(a.Name, b.Name))
	})
	return s
}

// Match returns the most specific template that a URI matches, and the values of its variables in their order. ok is
// false if no template matches.
func (s *Set) Match(uri string) (t Template, values []Value, ok bool) {
	if s == nil || !plain(uri) {
		return Template{}, nil, false
	}
	for i := range s.matching {
		if values, ok = s.matching[i].match(uri); ok {
			return s.matching[i].Template, values, true
		}
	}
	return Template{}, nil, false
}

// Promised returns the MIME type for a URI that no template matches, or "". It is the type of the first template, by
// name, that can expand to the URI and whose variables cannot be extracted.
func (s *Set) Promised(uri string) string {
	if s == nil || !plain(uri) {
		return ""
	}
	for _, f := range s.forms {
		if f.re.MatchString(uri) {
			return f.mimeType
		}
	}
	return ""
}

// Matchable reports whether the variables of a template can be extracted from URIs.
func Matchable(template string) bool {
	parts, ok := partsOf(template)
	if ok {
		_, ok = newPattern(parts)
	}
	return ok
}

// HasScheme reports whether the text of a template begins with a scheme.
func (s *Set) HasScheme(scheme string) bool { return s != nil && s.schemes[scheme] }

// Scheme returns the scheme of a URI or a template, in its original case. It returns "" if there
// is no scheme, or if an expression is part of the scheme.
func Scheme(text string) string {
	scheme, _, found := strings.Cut(text, "://")
	if !found || strings.ContainsAny(scheme, "{}") {
		return ""
	}
	return scheme
}
