// Package auth describes who sends a request over HTTP, and what that caller may do. Its packages
// verify credentials.
//
// An [Authenticator] makes an [Identity] of a credential: package tokenfile of tokens in a file,
// package oidc of access tokens, package certs of client certificates. The context of a request
// carries the identity ([IdentityOf]). Its [Rights] and [Scopes] list the items that it may use.
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
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
	// Accepts reports whether the credential is still accepted: it has not expired, and nobody has
	// revoked it. nil: nothing of that can happen.
	Accepts func() bool `json:"-"` // other replicas get all other parts (H-504)
}

// Accepted reports whether the caller's credential is still accepted.
func (i *Identity) Accepted() bool { return i == nil || i.Accepts == nil || i.Accepts() }

// An Authenticator verifies the credential of a request. Its methods are safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the identity of a bearer token. The error is an [*Error].
	Authenticate(ctx context.Context, token string) (*Identity, error)
}

// A Watcher receives what a source of credentials has: a hash of each one by its name, or why the source is unusable.
type Watcher = func(hashes map[string][sha256.Size]byte, err error)

// Digest returns a hash of the JSON of a credential.
func Digest(credential any) [sha256.Size]byte {
	text, _ := json.Marshal(credential) // of strings and times
	return sha256.Sum256(text)
}

// An Error is the reason why a request is not let in.
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

// Owner returns the key of the person or program that an identity is, whatever its rights are. Shares of limited
// resources belong to owners, so nobody gets a second share with a token of other rights, or with another
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
