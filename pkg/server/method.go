package server

import (
	"context"
	"strings"
	"sync/atomic"

	"mcp-bash/pkg/wire/mcp"
)

// A method is one that may take time: it runs beside the reading, in a slot
// (P-503). What costs nothing is answered in dispatch.go.
type method struct {
	name string
	// handle returns the result; the error is an [*mcp.Error] for the client,
	// or anything else for "Internal error".
	handle func(ctx context.Context, r *request) (*answer, error)
	// limit is the time the method has when the request does not say; 0: no
	// limit. ownClock: it keeps its time itself (P-1700).
	limit    func() int
	ownClock bool
	// list marks the methods whose response is bounded like a registry. most is
	// the bound of another method, in bytes; 0: that of all.
	list bool
	most int
	// arrive, when set, is called once a request is accepted and before the next message is read, so
	// in the order in which the client sent its requests. It must not wait.
	arrive func(r *request)
	// asks: the method may ask the client for input before it answers (M-59).
	asks bool
	// edits: the method's script may change the project (M-63).
	edits bool
	// scope is who may keep the result for a while, "public" or "private"; "" for nobody
	// (M-31).
	scope string
	// slow: the last request took longer than readOn.
	slow atomic.Bool
}

// groups are the families of methods: what an unknown one is answered, and
// what all of them are in minimal mode (P-503, P-2402).
var groups = []struct{ prefix, unknown, minimal string }{
	{"logging/", "Unknown logging method", ""},
	{"tools/", "Unknown tools method", "Tools capability unavailable in minimal mode"},
	{"resources/", "Unknown resources method", "Resources capability unavailable in minimal mode"},
	{"prompts/", "Unknown prompts method", "Prompts capability unavailable in minimal mode"},
	{"completion/", "Unknown completion method", "Completion capability unavailable in minimal mode"},
	{"roots/", "Unknown roots method", ""},
	{"notifications/roots/", "Unknown roots method", ""},
}

func unknownMethod(name string, minimal bool) *mcp.Error {
	for _, g := range groups {
		if strings.HasPrefix(name, g.prefix) {
			if minimal && g.minimal != "" {
				return mcp.Errorf(mcp.CodeMethodNotFound, "%s", g.minimal)
			}
			return mcp.Errorf(mcp.CodeMethodNotFound, "%s", g.unknown)
		}
	}
	return mcp.Errorf(mcp.CodeMethodNotFound, "Method not found")
}
