// Package echo is the provider of resources whose content is in their URI.
package echo

import (
	"context"
	"strings"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/text/ascii"
)

// Provider is the echo provider.
type Provider struct{}

const scheme = "echo://"

// Check returns an error for a URI that the provider can never read.
func Check(uri string) error {
	if uri == "" {
		return &provider.Failure{Status: provider.Invalid, Message: "echo provider requires echo://<payload>"}
	}
	if _, ok := ascii.CutPrefixFold(uri, scheme); !ok {
		return &provider.Failure{Status: provider.Invalid, Message: "Unsupported URI scheme for echo provider"}
	}
	return nil
}

// Read returns the text after the scheme, with spaces for %20.
func (Provider) Read(_ context.Context, uri string, limit int) ([]byte, error) {
	if err := Check(uri); err != nil {
		return nil, err
	}
	payload := strings.ReplaceAll(uri[len(scheme):], "%20", " ")
	if len(payload) > limit {
		return nil, provider.OverLimit(limit)
	}
	return []byte(payload), nil
}
