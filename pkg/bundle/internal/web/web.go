// Package web sends HTTP requests through mcp-bash, which has a network client. So programs that
// rarely need a network are 4 MB smaller.
package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
)

// A Client sends requests.
type Client struct {
	Program string // the path of mcp-bash; "" for the one next to this program, or on PATH
	// Progress is called while an answer of known length arrives, with the numbers of bytes. It may be nil.
	Progress func(done, total int64)
}

// A Request is an HTTP request.
type Request struct {
	Method, URL string
	Header      map[string]string
	Body        []byte
	Follow      bool  // whether to follow redirects
	Limit       int64 // the maximum size of the answer, in bytes
}

// Do sends a request and returns the status code and the content of the answer. It passes the
// request on standard input, because arguments are visible to other users.
func (c *Client) Do(ctx context.Context, r *Request) (status int, answer []byte, err error) {
	program := c.Program
	if program == "" {
		program = script.Find("mcp-bash", os.Getenv("PATH"))
	}
	if program == "" {
		return 0, nil, errors.New("the network client is mcp-bash, which is neither next to this program nor on PATH")
	}
	var b rawjson.Builder
	b.Object().Name("method").String(r.Method).Name("url").String(r.URL).Name("follow").Bool(r.Follow).
		Name("limit").Int(int(r.Limit)).Name("header").Object()
	for name, value := range r.Header {
		b.Name(name).String(value)
	}
	b.End().End()
	input := io.MultiReader(bytes.NewReader(b.Bytes()), strings.NewReader("\n"), bytes.NewReader(r.Body))
	out := &arriving{progress: c.Progress}
	if err := script.Pipe(ctx, input, out, program, "--helper", "http"); err != nil {
		return 0, nil, err
	}
	if status, _, err = out.head(); err != nil {
		return 0, nil, err
	}
	return status, out.content, nil
}

// An arriving is the answer that mcp-bash writes: a line with the status and the length of the content, then the
// content.
type arriving struct {
	progress func(done, total int64)
	line     []byte
	complete bool // the line is complete
	content  []byte
}

func (a *arriving) Write(p []byte) (int, error) {
	rest := p
	if !a.complete {
		var line []byte
		line, rest, a.complete = bytes.Cut(p, []byte("\n"))
		a.line = append(a.line, line...)
	}
	a.content = append(a.content, rest...)
	if a.complete && a.progress != nil {
		if _, total, err := a.head(); err == nil && total > 0 {
			a.progress(int64(len(a.content)), total)
		}
	}
	return len(p), nil
}

// head returns the numbers of the first line. The length is -1 if it is unknown.
func (a *arriving) head() (status int, length int64, err error) {
	_, err = fmt.Sscan(string(a.line), &status, &length)
	return status, length, err
}

// Get downloads a file of at most limit bytes. It follows redirects.
func (c *Client) Get(ctx context.Context, address string, limit int64) ([]byte, error) {
	status, text, err := c.Do(ctx, &Request{Method: "GET", URL: address, Follow: true, Limit: limit + 1})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", address, err)
	case int64(len(text)) > limit:
		return nil, fmt.Errorf("%s: larger than %d bytes", address, limit)
	case status != 200:
		return nil, fmt.Errorf("%s: HTTP status %d", address, status)
	}
	return text, nil
}
