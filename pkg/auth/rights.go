package auth

import (
	"fmt"
	"slices"
	"strings"
)

// An ItemKind is a kind of items that callers need a permission for.
type ItemKind int

// Pages and templates are resources. A completion is a part of the item that it completes.
const (
	Tool ItemKind = iota
	Resource
	Prompt
)

// String returns the kind as messages name it.
func (k ItemKind) String() string { return [...]string{"Tool", "Resource", "Prompt"}[k] }

// Rights are patterns for the names of items. They permit nothing of a kind without patterns (H-420).
type Rights struct {
	Tools     []string `json:"tools,omitempty"`
	Resources []string `json:"resources,omitempty"`
	Prompts   []string `json:"prompts,omitempty"`
}

// Of returns the patterns for a kind of items.
func (r *Rights) Of(k ItemKind) []string { return [...][]string{r.Tools, r.Resources, r.Prompts}[k] }

// Permit reports whether the rights permit an item. Only the pattern * permits an item without a name.
func (r *Rights) Permit(k ItemKind, name string) bool {
	return slices.ContainsFunc(r.Of(k), func(p string) bool { return Matches(p, name) })
}

func (r *Rights) key() string {
	if r == nil {
		return "all"
	}
	return fmt.Sprintf("%q %q %q", sorted(r.Tools), sorted(r.Resources), sorted(r.Prompts))
}

// Matches reports whether a name matches a pattern, in which * stands for any characters.
func Matches(pattern, name string) bool {
	first, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == name
	}
	name, found = strings.CutPrefix(name, first)
	for found {
		var more bool
		if first, rest, more = strings.Cut(rest, "*"); !more {
			return strings.HasSuffix(name, first)
		}
		_, name, found = strings.Cut(name, first)
	}
	return false
}

// IsPattern reports whether a text is a valid pattern for names of items: at most 128 letters,
// digits and characters of "_-./*".
func IsPattern(text string) bool {
	const extra = "_-./*"
	return text != "" && len(text) <= 128 && strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(extra, r)
	}) < 0
}

// Scopes are the items that each OAuth scope permits. nil means that a token needs no scope.
type Scopes map[string]Rights

// Permits is the only place that decides whether a caller may use an item. need is the scope that would permit it, or
// "". A caller without identity may use all items.
func (i *Identity) Permits(k ItemKind, name string, scopes Scopes) (need string, ok bool) {
	if i == nil {
		return "", true
	}
	if i.Rights != nil && !i.Rights.Permit(k, name) {
		return "", false
	}
	if i.Issuer == "" || scopes == nil {
		return "", true
	}
	for scope, rights := range scopes {
		if !rights.Permit(k, name) {
			continue
		}
		if slices.Contains(i.Scopes, scope) {
			return "", true
		}
		if need == "" || scopes.narrower(k, scope, need) {
			need = scope
		}
	}
	return need, false
}

func (s Scopes) narrower(k ItemKind, scope, other string) bool {
	one, two := s[scope], s[other]
	all, otherAll := slices.Contains(one.Of(k), "*"), slices.Contains(two.Of(k), "*")
	switch {
	case all != otherAll:
		return otherAll
	case one.size() != two.size():
		return one.size() < two.size()
	}
	return scope < other
}

func (r *Rights) size() int { return len(r.Tools) + len(r.Resources) + len(r.Prompts) }

// Permission returns a text that is equal for callers that may use the same items: "" for a caller that may use all.
func (i *Identity) Permission(scopes Scopes) string {
	if i == nil || i.Rights == nil && (i.Issuer == "" || scopes == nil) {
		return ""
	}
	limit := Identity{Rights: i.Rights}
	if i.Issuer != "" && scopes != nil {
		limit.Issuer = "scopes"
		for _, scope := range i.Scopes {
			if _, known := scopes[scope]; known {
				limit.Scopes = append(limit.Scopes, scope)
			}
		}
	}
	return limit.Key()
}
