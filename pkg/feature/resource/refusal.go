package resource

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/wire/mcp"
)

// refusal returns the failure of a provider as an error for the client (RES-60). It returns other errors unchanged.
func (r *Resources) refusal(t *target, err error) error {
	var f *provider.Failure
	if !errors.As(err, &f) {
		return err
	}
	if f.Log != "" {
		r.Log(mcp.Warning, "mcp."+t.provider, f.Log) // only built-in providers set Log (RES-107)
	}
	text := stderrText([]byte(f.Message))
	or := func(code int, def string) error {
		text = cmp.Or(text, def)
		return &mcp.Error{Code: code, Message: text}
	}
	if (f.Status == provider.Denied || f.Status == provider.NotFound) && !strings.ContainsAny(t.uri, `:/\`) { // RES-39
		e := notFound("uri", t.uri)
		e.Message += fmt.Sprintf(": %q is not a URI; use a URI that resources/list returns, such as file:///...", t.uri)
		r.Log(mcp.Warning, logger, e.Message)
		return e
	}
	switch f.Status {
	case provider.Denied:
		if isOpaque(t.uri) {
			return notFound("uri", t.uri)
		}
		return mcp.Errorf(mcp.CodeInternal, "Resource outside allowed roots")
	case provider.NotFound:
		return notFound("uri", t.uri)
	case provider.Invalid:
		return or(mcp.CodeInvalidParams, "Invalid resource specification")
	case provider.FetchFailed:
		return or(mcp.CodeInternal, "Resource fetch failed")
	case provider.TooLarge:
		if limit := r.Project.MaxResource; *f == *provider.OverLimit(limit) {
			name := cmp.Or(t.name, "<direct>")
			r.Log(mcp.Err, logger, fmt.Sprintf("Resource %s content exceeds limit %d", name, limit))
		}
		return or(mcp.CodeInternal, "Resource exceeded size limit")
	}
	return or(mcp.CodeInternal, "Resource provider failed")
}

// isOpaque reports whether a text is a URI without an authority, such as urn:isbn:1, and not a path (RES-39).
// One letter is a drive of Windows.
func isOpaque(text string) bool {
	scheme, rest, found := strings.Cut(text, ":")
	return found && len(scheme) > 1 && validProvider(scheme) && !strings.HasPrefix(rest, "//")
}

// notFound returns the error of RES-36, with the requested name or URI as data.
func notFound(member, value string) *mcp.Error {
	var b rawjson.Builder
	return &mcp.Error{Code: mcp.CodeNotFound, Own: true, Message: "Resource not found",
		Data: b.Object().Name(member).String(value).End().Bytes()}
}

func timedOut(after time.Duration) *mcp.Error {
	return &mcp.Error{
		Code: mcp.CodeInternal, Message: "Request timed out",
		Data: json.RawMessage(fmt.Sprintf(`{"timeoutSecs":%d}`, int(after.Seconds()))),
	}
}

// maxStderr limits the standard error of a provider in messages, in bytes.
const maxStderr = 2048

// stderrText returns a provider's standard error in a form that is safe for messages (RES-37).
func stderrText(stderr []byte) string {
	text := strings.ToValidUTF8(string(stderr[:min(len(stderr), 2*maxStderr)]), "\uFFFD")
	text = strings.TrimRight(text, "\r\n")
	if len(text) <= maxStderr {
		return text
	}
	end := maxStderr
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimRight(text[:end], "\r\n")
}
