package forward

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/strict64"
)

// callerHeader is the header of a request over a channel that states its caller.
const callerHeader = "Mcp-Bash-Caller"

// MaxStatement is the maximum length of a stated caller, in bytes.
const MaxStatement = 1 << 20

// A statement is what a replica states of the caller of a request.
type statement struct {
	Identity *auth.Identity // all parts but the credential; nil: none was needed
	Address  string         // of the client
}

// The headers that a replica passes on, in lower case. A name that ends in * begins others.
var (
	requestHeaders = []string{
		"accept", "content-type", "last-event-id", "mcp-*", "traceparent", "tracestate", "baggage",
	}
	answerHeaders = []string{
		"allow", "cache-control", "content-type", "mcp-session-id", "retry-after", "www-authenticate", "x-accel-buffering",
		"x-request-id",
	}
)

// only returns the headers with these names.
func only(h http.Header, names []string) http.Header {
	few := http.Header{}
	for name, values := range h {
		for _, n := range names {
			if begin, many := strings.CutSuffix(n, "*"); ascii.EqualFold(name, n) ||
				many && len(name) > len(begin) && ascii.EqualFold(name[:len(begin)], begin) {
				few[name] = values
			}
		}
	}
	return few
}

// state returns the headers of a request to pass on, with its caller.
func state(r *http.Request) (http.Header, error) {
	said := statement{auth.IdentityOf(r.Context()), r.RemoteAddr}
	b, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	text := base64.RawURLEncoding.EncodeToString(b)
	// A caller that JSON cannot express would become another one.
	if again, err := parse(text); err != nil || again.Identity.Key() != said.Identity.Key() {
		return nil, errors.New("the caller cannot be stated")
	}
	h := only(r.Header, requestHeaders)
	h.Set(callerHeader, text)
	return h, nil
}

// parse parses a statement.
func parse(text string) (said statement, err error) {
	if len(text) > MaxStatement {
		return said, errors.New("the statement of the caller is too long")
	}
	b, err := strict64.URL(text)
	if err == nil {
		err = json.Unmarshal(b, &said)
	}
	if err != nil {
		return said, fmt.Errorf("the statement of the caller: %w", err)
	}
	return said, nil
}

type forwardedKey struct{}

// Forwarded reports whether another replica has passed a request on. It must not be passed on again.
func Forwarded(r *http.Request) bool { return r.Context().Value(forwardedKey{}) != nil }

// Receive returns a request that came over a channel, with the caller that its header states. Nothing else may be
// given to Receive, because anybody can write the header.
func Receive(r *http.Request) (*http.Request, error) {
	values := r.Header[callerHeader]
	if len(values) != 1 {
		return nil, errors.New("the statement of the caller is missing")
	}
	said, err := parse(values[0])
	if err != nil {
		return nil, err
	}
	ctx := context.WithValue(r.Context(), forwardedKey{}, true)
	if said.Identity != nil {
		ctx = auth.WithIdentity(ctx, said.Identity)
	}
	r = r.WithContext(ctx)
	r.RemoteAddr = said.Address
	delete(r.Header, callerHeader)
	return r, nil
}
