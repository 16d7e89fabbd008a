// Package echo is the provider whose content stands in the URI itself
// (resources section 13).
package echo

import (
	"context"
	"strings"

	"mcp-bash/pkg/provider"
)

// Provider is the echo provider.
type Provider struct{}

const scheme = "echo://"

// Read returns what follows the scheme, %20 turned into a space (RES-130).
func (Provider) Read(_ context.Context, uri string, limit int) ([]byte, error) {
	if uri == "" {
		return nil, &provider.Failure{Status: provider.Invalid, Message: "echo provider requires echo://<payload>"}
	}
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return nil, &provider.Failure{Status: provider.Invalid, Message: "Unsupported URI scheme for echo provider"}
	}
	payload := strings.ReplaceAll(uri[len(scheme):], "%20", " ")
	if len(payload) > limit {
		return nil, provider.OverLimit(limit)
	}
	return []byte(payload), nil
}
