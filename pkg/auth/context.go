package auth

import (
	"context"
	"fmt"
	"strconv"
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
