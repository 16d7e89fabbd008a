// Package provider says what providers of resources have in common, whether
// built in or scripts of a project: where content comes from and how that
// fails (resources section 6).
package provider

import (
	"context"
	"fmt"
)

// A Provider fetches what a URI stands for. It may be used from any goroutine.
type Provider interface {
	// Read returns the content, of at most limit bytes. It ends early when the
	// context does. The error is a [*Failure], or the context's.
	Read(ctx context.Context, uri string, limit int) ([]byte, error)
}

// A Typed provider learns the MIME type together with the content (resources
// RES-40).
type Typed interface {
	Provider
	// ReadTyped is Read; the type is without parameters, "" when unknown.
	ReadTyped(ctx context.Context, uri string, limit int) (data []byte, mimeType string, err error)
}

// A Stamper can tell without reading that content has not changed, so that
// watching it costs next to nothing (RES-144).
type Stamper interface {
	Provider
	// Stamp returns a mark of the content there is now. Two that are equal
	// stand for equal content. ok is false when only reading can tell.
	Stamp(uri string) (s Stamp, ok bool)
}

// A Stamp identifies a state of a file.
type Stamp struct {
	Device, Inode     uint64
	Size              int64
	Modified, Changed int64 // nanoseconds
}

// The exit statuses of a provider (RES-60).
const (
	Denied      = 2 // outside the allowed roots
	NotFound    = 3
	Invalid     = 4 // wrong specification, refused by policy, switched off
	FetchFailed = 5 // network, HTTP status, timeout
	TooLarge    = 6
	Redirected  = 7
)

// A Failure is how a provider fails: its exit status, and what it says on
// standard error, which may be nothing.
type Failure struct {
	Status  int
	Message string
	Log     string // a warning for the log, which the client is not told; may be empty
}

func (f *Failure) Error() string {
	if f.Message == "" {
		return fmt.Sprintf("provider status %d", f.Status)
	}
	return f.Message
}

// OverLimit is the failure of content of more than limit bytes, the limit
// being that of [Provider.Read] and not one of the provider's own (resources
// RES-46).
func OverLimit(limit int) *Failure {
	return &Failure{Status: TooLarge, Message: fmt.Sprintf("Resource content exceeds %d bytes", limit)}
}
