// Package refuse answers the requests that a server does not accept.
package refuse

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

const (
	// shortBody is the length, in bytes, up to which net/http reads the rest of a body before it sends the answer.
	shortBody = 256 << 10
	// The rest of a longer body is read within these limits.
	lingerTime  = 5 * time.Second
	lingerBytes = 32 << 20
)

// Write answers a request with an HTTP status and a JSON-RPC error. Answers with the status 429 and 503 have a
// Retry-After, of a second by default. r is nil if the body of the request was read.
//
// Closing a connection with unread input resets it, and the client may lose the answer. So after the answer Write
// reads the rest of the body. It gives up after a few seconds.
func Write(w http.ResponseWriter, r *http.Request, status int, id jsonrpc.ID, e *mcp.Error) {
	write(w, r, status, "application/json", jsonrpc.AppendError(nil, id, e.AppendJSON))
}

// Text is [Write] with a line of text, for a request to another path than the endpoint.
func Text(w http.ResponseWriter, r *http.Request, status int, line string) {
	write(w, r, status, "text/plain; charset=utf-8", []byte(line+"\n"))
}

func write(w http.ResponseWriter, r *http.Request, status int, media string, content []byte) {
	h := w.Header()
	if (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) && h["Retry-After"] == nil {
		h.Set("Retry-After", "1")
	}
	if r != nil && (r.ContentLength < 0 || r.ContentLength > shortBody) {
		h.Set("Connection", "close")
	}
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	w.Write(content)
	if r == nil || r.ContentLength == 0 || h["Connection"] == nil {
		return
	}
	control := http.NewResponseController(w)
	control.Flush()
	control.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, r.Body, lingerBytes)
}
