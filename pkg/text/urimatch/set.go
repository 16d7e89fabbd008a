package urimatch

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A Template is one of the templates of a project.
type Template struct {
	Name, Text string
	MIMEType   string // of all that it stands for; "" for no promise
}

// A Set contains the templates of a project. It is immutable and safe for concurrent use. The nil
// Set is empty.
type Set struct {
	matching []matching // the one that is preferred first
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

// Match returns the most specific template that a URI matches (RES-171), and the values of its
// variables in their order. ok is false if no template matches.
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

// Promised returns the MIME type for a URI that no template matches, or "". It is the type of the
// first template, by name, that can expand to the URI but whose variables cannot be extracted.
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

// Matchable reports whether the variables of a template can be extracted from URIs (RES-173).
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
