// Package auth describes who sends a request over HTTP, and what that caller may do. Its packages
// verify credentials.
//
// An [Authenticator] makes an [Identity] from a credential: package tokenfile from tokens in a file, package oidc from
// access tokens, package certs from client certificates. The context of a request carries the identity ([IdentityOf]).
// Its [Rights] and [Scopes] list the items that it may use.
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Identity is an authenticated caller. Requests of equal identities may resume each other's
// calls. An Identity never contains a credential.
type Identity struct {
	// Name distinguishes callers. Its source is a token's name in a token file, an OAuth token's client
	// id, or a client certificate's common name. Scripts get it as MCP_CLIENT_ID.
	Name    string
	Issuer  string   // the OpenID provider, or ""
	Subject string   // the user that an OAuth token was issued for, the subject of a certificate, or ""
	Scopes  []string // of an OAuth token
	Rights  *Rights  // the items that the credential permits; nil: all
	// Accepts reports whether the credential is still accepted: it has not expired, and was not revoked. nil: it
	// cannot expire or be revoked.
	Accepts func() bool `json:"-"` // other replicas get all other parts
}

// Accepted reports whether the caller's credential is still accepted.
func (i *Identity) Accepted() bool { return i == nil || i.Accepts == nil || i.Accepts() }

// An Authenticator verifies the credential of a request. Its methods are safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the identity of a bearer token. The error is an [*Error].
	Authenticate(ctx context.Context, token string) (*Identity, error)
}

// A Watcher receives the state of a source of credentials: a hash of each credential by its name, or why the source
// is unusable.
type Watcher = func(hashes map[string][sha256.Size]byte, err error)

// Digest returns a hash of the JSON of a credential.
func Digest(credential any) [sha256.Size]byte {
	text, _ := json.Marshal(credential) // of strings and times
	return sha256.Sum256(text)
}

// An Error is the reason why a request is refused.
type Error struct {
	Kind   Kind
	Reason string // for the client; it contains no part of the credential
	Err    error  // for the log, or nil; it contains no credential either
}

func (e *Error) Error() string { return e.Reason }
func (e *Error) Unwrap() error { return e.Err }

// A Kind is a kind of [Error]. It decides the status of the response.
type Kind int

// The kinds of errors.
const (
	Missing     Kind = iota // no credential: 401
	Malformed               // not a credential of the supported form, or more than one: 400
	Invalid                 // an unknown, expired or forged credential: 401
	Unavailable             // credentials cannot be checked at present: 503
)

type contextKey struct{}

// WithIdentity returns a context for the requests of a caller.
func WithIdentity(ctx context.Context, id *Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// IdentityOf returns the caller that a request's context names, or nil.
func IdentityOf(ctx context.Context) *Identity {
	id, _ := ctx.Value(contextKey{}).(*Identity)
	return id
}

// Owner returns the key of the person or program with this identity. The key does not depend on the rights. Shares of
// limited resources belong to owners, so nobody gets a second share with a token of other rights, or with another
// application. Owner is "" for nil.
func (id *Identity) Owner() string {
	switch {
	case id == nil:
		return ""
	case id.Subject != "":
		return strconv.Quote(id.Issuer) + " subject " + id.Subject
	}
	return strconv.Quote(id.Issuer) + " name " + id.Name
}

// Key returns a text that is equal for equal identities: the same caller with the same rights. The
// order of scopes and patterns does not count. Key is "" for nil.
func (id *Identity) Key() string {
	if id == nil {
		return ""
	}
	return fmt.Sprintf("%q %q %q %q %s", id.Name, id.Issuer, id.Subject, sorted(id.Scopes), id.Rights.key())
}

// maxText is the length of the longest name, subject, issuer or list of scopes that scripts get, in
// bytes.
const maxText = 1024

// sorted returns the different elements of a list in order.
func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// EachVariable calls set for each variable that describes the caller to scripts. All values are "" for a caller without
// identity. They are bounded, and have no control characters.
func (i *Identity) EachVariable(set func(name, value string)) {
	if i == nil {
		i = &Identity{}
	}
	set("MCP_CLIENT_ID", plain(i.Name))
	set("MCP_CLIENT_ISSUER", plain(i.Issuer))
	set("MCP_CLIENT_SUBJECT", plain(i.Subject))
	var scopes strings.Builder
	for _, scope := range i.Scopes {
		if !IsScope(scope) || scopes.Len()+1+len(scope) > maxText { // fewer scopes never permit more
			continue
		}
		if scopes.Len() > 0 {
			scopes.WriteByte(' ')
		}
		scopes.WriteString(scope)
	}
	set("MCP_CLIENT_SCOPES", scopes.String())
}

// plain returns a text that a script can use. A text with control characters, or a long one, becomes
// its hash: two callers never look alike, and no caller looks like one without identity.
func plain(text string) string {
	if len(text) <= maxText && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// IsScope reports whether a text is a scope of OAuth (RFC 6749, section 3.3).
func IsScope(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\\'
	})
}

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

// Rights are patterns for the names of items. They permit nothing of a kind without patterns.
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

// Matches reports whether a name matches a pattern, in which * matches any characters.
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
