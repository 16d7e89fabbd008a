// Package provider says what providers of resources have in common, whether
// built in or scripts of a project: where content comes from and how that
// fails (resources section 6).
package provider

import "context"

// A Provider fetches what a URI stands for. It may be used from any goroutine.
type Provider interface {
	// Read returns the content, of at most limit bytes. It ends early when the
	// context does. The error is a [*Failure], or the context's.
	Read(ctx context.Context, uri string, limit int) ([]byte, error)
}

// The exit statuses of a provider (resources RES-60).
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
}

func (f *Failure) Error() string { return f.Message }
