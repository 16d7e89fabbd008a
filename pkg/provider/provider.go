// Package provider defines the interfaces and failures of resource providers. Built-in providers
// and scripts of a project share them.
package provider

import (
	"context"
	"encoding/json"
	"fmt"

	"mcp-bash/pkg/files/filecache"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// A Provider fetches the content of a URI. It is safe for concurrent use.
type Provider interface {
	// Read returns the content, at most limit bytes. It ends early if the context ends. The error
	// is a [*Failure], or the context's.
	Read(ctx context.Context, uri string, limit int) ([]byte, error)
}

// A Typed provider also returns the MIME type of the content.
type Typed interface {
	Provider
	// ReadTyped is Read and also returns the MIME type, without parameters, or "".
	ReadTyped(ctx context.Context, uri string, limit int) (data []byte, mimeType string, err error)
}

// A Stamper detects unchanged content without reading it, so that watching is cheap.
type Stamper interface {
	Provider
	// Stamp returns a mark of the current content. Equal stamps mean equal content. If ok is false,
	// the caller has to read the content.
	Stamp(uri string) (s Stamp, ok bool)
}

// A Stamp identifies one state of a file.
type Stamp = folder.Stamp

// The exit statuses of a provider.
const (
	Denied      = 2 // outside the allowed roots
	NotFound    = 3
	Invalid     = 4 // the URI is invalid, refused by a policy, or the provider is disabled
	FetchFailed = 5 // network, HTTP status, timeout
	TooLarge    = 6
	Redirected  = 7
)

// A Failure is the error of a provider: its exit status, and its standard error, which may be empty.
type Failure struct {
	Status  int
	Message string
	Log     string    // a warning for the log, which the client does not see, or ""
	Cause   mcp.Cause // for the record; "": it follows from the status
}

func (f *Failure) Error() string {
	if f.Message == "" {
		return fmt.Sprintf("provider status %d", f.Status)
	}
	return f.Message
}

// Failures without a message.
var (
	ErrDenied   = &Failure{Status: Denied}
	ErrNotFound = &Failure{Status: NotFound}
)

// OverLimit returns the failure for content that exceeds the limit of [Provider.Read].
func OverLimit(limit int) *Failure {
	return &Failure{Status: TooLarge, Message: fmt.Sprintf("Resource content exceeds %d bytes", limit)}
}

// Names are the built-in providers.
var Names = []string{"file", "https", "git", "echo", "ui"}

// A Config is the configuration of the built-in providers.
type Config struct {
	Env       project.Env // the settings: MCP_RESOURCES_ROOTS, MCPBASH_HTTPS_* and others
	Root      string      // the project, the base of relative paths
	Resources string      // the project's resources directory, which is readable by default
	// MoreRoots returns other readable directories. MCP_RESOURCES_ROOTS replaces them. The function may be nil.
	MoreRoots func() []string
	Files     *filecache.Cache // reads small files; nil: no texts are kept

	// The directories of MCP Apps' pages, and a function that returns the registry entry of a
	// page. FindPage may be nil.
	Tools, UI string
	FindPage  func(ctx context.Context, name string) (json.RawMessage, error)
}

// FileRoots returns the absolute directories that the file provider may read.
func (c *Config) FileRoots() []string {
	list, set := c.Env.ResourceRoots(c.Root, c.Resources)
	if !set && c.MoreRoots != nil {
		list = append(list, c.MoreRoots()...)
	}
	return list
}
