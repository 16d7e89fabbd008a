package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// A Client sends requests over one connection, which it keeps. It does not repeat a request that may have run.
type Client struct {
	http   http.Client
	target Target
	kind   Kind

	session string // of the handshake protocol
	server  string // that answered the last call of the tool
	since   time.Time

	begun, again int // sessions, not counted yet
}

// NewClient returns a client of one kind.
func NewClient(target Target, k Kind) *Client {
	target.Tool = cmp.Or(target.Tool, "record")
	return &Client{target: target, kind: k, http: http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DialContext: target.Dial},
	}}
}

// Close closes the connection.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// stateless are the members of params that a request has in the revision without sessions.
const (
	stateless = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	revision = "2025-11-25" // of sessions
)

// Call makes one call. It returns an error if there is no answer or a wrong one.
func (c *Client) Call(ctx context.Context, id string) error {
	switch c.kind {
	case Stateless:
		server, err := c.call(ctx, id, ","+stateless, map[string]string{
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": c.target.Tool,
		})
		c.server = server
		return err
	case List:
		return c.list(ctx, id)
	}
	for range maxSessions {
		err := c.callInSession(ctx, id)
		if !errors.Is(err, ErrUnknownSession) {
			return err
		}
		c.session = ""
		if c.target.Ended != nil && !c.target.Ended(c.server, c.since) {
			return fmt.Errorf("%w, although its server %s goes on", err, c.server)
		}
		c.again++
	}
	return fmt.Errorf("%w in one session after the other", ErrUnknownSession)
}

// maxSessions is how many sessions one call may begin. A server that ends, and knows no other replica, still begins
// sessions over connections that a balancer keeps, for up to a second. Such a session is soon unknown.
const maxSessions = 50

// ErrUnknownSession is the answer to a request of a session that its server does not have.
var ErrUnknownSession = errors.New("the session is unknown")

// callInSession calls the tool in the session. The first call begins the session.
func (c *Client) callInSession(ctx context.Context, id string) error {
	if c.session == "" {
		if err := c.initialize(ctx); err != nil {
			c.session = ""
			return err
		}
	}
	server, err := c.call(ctx, id, "", c.headers())
	if err == nil {
		c.server = server
	}
	return err
}

func (c *Client) headers() map[string]string {
	return map[string]string{"Mcp-Session-Id": c.session, "MCP-Protocol-Version": revision}
}

// initialize begins a session.
func (c *Client) initialize(ctx context.Context) error {
	c.since, c.server = time.Now(), ""
	r, content, err := c.post(ctx, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+
		revision+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	session := r.Header.Get("Mcp-Session-Id")
	if r.StatusCode != http.StatusOK || session == "" {
		return fmt.Errorf("initialize: %s %s", r.Status, content)
	}
	c.session = session
	r, content, err = c.post(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, c.headers())
	switch {
	case err != nil:
		return fmt.Errorf("notifications/initialized: %w", err)
	case r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s", ErrUnknownSession, content)
	case r.StatusCode != http.StatusAccepted:
		return fmt.Errorf("notifications/initialized: %s %s", r.Status, content)
	}
	c.begun++
	return nil
}

// call calls the tool, and returns the name of the server that ran it.
func (c *Client) call(ctx context.Context, id, members string, headers map[string]string) (server string, err error) {
	r, content, err := c.post(ctx, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+c.target.Tool+`",`+
		`"arguments":{"id":"`+id+`"}`+members+`}}`, headers)
	if err != nil {
		return "", err
	}
	if r.StatusCode == http.StatusNotFound && headers["Mcp-Session-Id"] != "" {
		return "", fmt.Errorf("%w: %s", ErrUnknownSession, content)
	}
	return readAnswer(r, content, id)
}

// list asks for the list of tools.
func (c *Client) list(ctx context.Context, id string) error {
	r, content, err := c.post(ctx, `{"jsonrpc":"2.0","id":"`+id+`","method":"tools/list","params":{`+stateless+`}}`,
		map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK || !bytes.Contains(content, []byte(`"`+id+`"`)) ||
		!bytes.Contains(content, []byte(`"record"`)) {
		return fmt.Errorf("%s: %s %s", id, r.Status, content)
	}
	return nil
}

// post sends a message with headers, and returns the response with its content.
func (c *Client) post(ctx context.Context, body string, headers map[string]string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.target.Address+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Host = c.target.Host
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if c.target.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.target.Token)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	r, err := c.http.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	content, err := io.ReadAll(r.Body)
	return r, content, err
}

// readAnswer returns the name of the server in the tool's result, or an error if a response is something else.
func readAnswer(r *http.Response, content []byte, id string) (server string, err error) {
	message := content
	if at := bytes.LastIndex(content, []byte("data: ")); at >= 0 && !bytes.HasPrefix(content, []byte("{")) {
		message = content[at+len("data: "):]
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	err = json.Unmarshal(message, &answer)
	if err != nil || r.StatusCode != http.StatusOK || len(answer.Result.Content) != 1 {
		return "", fmt.Errorf("%s: %s %s", id, r.Status, content)
	}
	got, server, ok := strings.Cut(strings.TrimSpace(answer.Result.Content[0].Text), " ")
	if !ok || got != id {
		return "", fmt.Errorf("%s: %s %s", id, r.Status, content)
	}
	return server, nil
}
