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
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
)

// A Client sends requests.
type Client struct {
	Program string // the path of mcp-bash; "" for the one next to this program, or on PATH
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
		program = script.Sibling("mcp-bash")
	}
	if program == "" {
		program = script.LookPath("mcp-bash", os.Getenv("PATH"))
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
	out, err := script.Pipe(ctx, input, program, "--helper", "http")
	if err != nil {
		return 0, nil, err
	}
	line, rest, _ := bytes.Cut(out, []byte("\n"))
	status, err = strconv.Atoi(string(line))
	return status, rest, err
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
