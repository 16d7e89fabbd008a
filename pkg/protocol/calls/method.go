package calls

import (
	"strings"
	"sync/atomic"

	"mcp-bash/pkg/wire/mcp"
)

// A Method can take time, so it runs in a slot, next to the goroutine that reads messages
// (P-503).
type Method struct {
	Name   string
	Handle Handler
	// Starts, if set, reports whether a request needs a slot for scripts from the beginning. Other requests have
	// other slots, and call [Request.Enter] before they start a script.
	Starts func(r *Request) bool
	// Limit returns the time limit of a request that sets none, in seconds; 0: none. A method
	// with OwnClock enforces its limit itself (P-1700).
	Limit    func() int
	OwnClock bool
	List     bool // the limit for lists applies to the response
	Max      int  // the limit for the response, in bytes; 0: the common one
	// Arrive, if set, is called before the next message is read, so in the order of the client's
	// requests. It must not wait.
	Arrive func(r *Request)
	Asks   bool // the method can ask the client for input before it answers (M-59)
	// MayAsk, if set, reports whether a request of a method that asks can do so, in the stateless protocol. If not,
	// the request gets no Asker.
	MayAsk func(r *Request) bool
	Edits  bool // the method's script can change the project (M-63)
	// Scope is "public" or "private" if clients may cache the result, or "" (M-31).
	Scope string

	slow atomic.Bool // see Request.Slow
}

// Slow is true if requests of this method usually take long. The transport measures and sets it.
func (r *Request) Slow() *atomic.Bool { return &r.Method.slow }

// Methods are the methods of a client. There are few, and a map would use more memory for each of
// many clients.
type Methods []*Method

// Find returns the method of a name, or nil.
func (m Methods) Find(name string) *Method {
	for _, method := range m {
		if method.Name == name {
			return method
		}
	}
	return nil
}

// Has reports whether there is a method of this name.
func (m Methods) Has(name string) bool { return m.Find(name) != nil }

// families determine the error for an unknown method, and for each method in minimal mode
// (P-503, P-2402).
var families = []struct{ prefix, unknown, minimal string }{
	{"logging/", "Unknown logging method", ""},
	{"tools/", "Unknown tools method", "Tools capability unavailable in minimal mode"},
	{"resources/", "Unknown resources method", "Resources capability unavailable in minimal mode"},
	{"skills/", "Unknown skills method", "Skills capability unavailable in minimal mode"},
	{"prompts/", "Unknown prompts method", "Prompts capability unavailable in minimal mode"},
	{"completion/", "Unknown completion method", "Completion capability unavailable in minimal mode"},
	{"roots/", "Unknown roots method", ""},
	{"notifications/roots/", "Unknown roots method", ""},
}

// UnknownMethod returns the error for a method that the server does not have.
func UnknownMethod(name string, minimal bool) *mcp.Error {
	for _, f := range families {
		if strings.HasPrefix(name, f.prefix) {
			if minimal && f.minimal != "" {
				return mcp.Errorf(mcp.CodeMethodNotFound, "%s", f.minimal)
			}
			return mcp.Errorf(mcp.CodeMethodNotFound, "%s", f.unknown)
		}
	}
	return mcp.Errorf(mcp.CodeMethodNotFound, "Method not found")
}
