package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/weburl"
)

// maxMessage limits one message of a remote server, in bytes.
const maxMessage = 64 << 20

var errTooLarge = fmt.Errorf("a message is larger than %d MiB", maxMessage>>20)

// A remote is a connection to a server over HTTP. send makes one HTTP request, and receive reads its response.
type remote struct {
	client            http.Client
	ctx               context.Context
	cancel            context.CancelFunc
	url, token        string
	session, revision string // "" before the response to initialize
	err               error  // of the first request that failed
	body              io.ReadCloser
	events            *eventReader // of body, or nil if the body is one message
}

// dial returns a connection. token may be "". It makes no request.
func dial(address, token string) (*remote, error) {
	u, err := weburl.Parse(address)
	if err != nil {
		return nil, cli.Usagef("--http: %v", err)
	}
	switch {
	case u.User != nil:
		return nil, cli.Usagef("--http: a URL with credentials is visible to others").
			WithHint("put the token into a variable, and name that with --token-env")
	case token != "" && u.Scheme == "http" && !weburl.IsLoopback(u.Hostname()):
		return nil, cli.Usagef("--token-env: a token needs https, except on this machine")
	case strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }):
		return nil, cli.Failf(cli.CodeInvalid, "--token-env: the token has a space, or a character that HTTP forbids")
	}
	r := &remote{url: address, token: token}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return r, nil
}

func (r *remote) do(ctx context.Context, method string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"User-Agent": "mcp-bash/" + cli.Version, "Mcp-Session-Id": r.session, "MCP-Protocol-Version": r.revision,
	} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	return r.client.Do(request)
}

func (r *remote) send(line []byte) {
	if r.err != nil {
		return
	}
	r.closeBody()
	response, err := r.do(r.ctx, http.MethodPost, line)
	if r.ctx.Err() != nil {
		r.err = io.EOF
		return
	}
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the method
		}
		r.err = cli.Failf(cli.CodeNetwork, "%s: %v", r.url, err)
		return
	}
	r.body = response.Body
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	r.events = nil
	if kind == "text/event-stream" {
		r.events = newEventReader(response.Body)
	}
	if response.StatusCode/100 != 2 {
		r.err = r.refusal(response)
	}
	if r.revision == "" { // the response to initialize
		r.session = response.Header.Get("Mcp-Session-Id")
	}
}

// refusal returns the error for a response that is not a success.
func (r *remote) refusal(response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	reason := ""
	if v, err := rawjson.Check(text); err == nil {
		reason = rawjson.TextOf(rawjson.Get(v, "error"), "message")
	}
	if reason != "" {
		reason = ": " + cli.Line(reason)
	}
	failed := cli.Failf(cli.CodeNetwork, "%s: HTTP %s%s", r.url, cli.Line(response.Status), reason)
	switch at := response.Header.Get("Location"); {
	case response.StatusCode/100 == 3 && at != "":
		return failed.WithHint("redirects are not followed; if you trust %s, name it with --http", at)
	case response.StatusCode == http.StatusUnauthorized && r.token == "":
		return failed.WithHint("put a token into a variable, and name that with --token-env")
	}
	return failed
}

func (r *remote) receive() (line []byte, err error) {
	switch {
	case r.err != nil:
		return nil, r.err
	case r.body == nil:
		return nil, io.EOF
	case r.events != nil:
		line, err = r.events.next()
	default:
		line, err = io.ReadAll(io.LimitReader(r.body, maxMessage+1))
		r.closeBody()
		if len(line) > maxMessage {
			err = errTooLarge
		}
	}
	switch {
	case err == io.EOF || r.ctx.Err() != nil:
		return nil, io.EOF
	case err != nil:
		r.err = cli.Failf(cli.CodeNetwork, "%s: %v", r.url, err)
		return nil, r.err
	}
	v, err := rawjson.Check(line)
	if err != nil {
		r.err = cli.Failf(cli.CodeNetwork, "%s: the answer is not JSON", r.url)
		return nil, r.err
	}
	if r.revision == "" {
		r.revision = rawjson.TextOf(rawjson.Get(v, "result"), "protocolVersion")
	}
	return append(json.RawMessage(rawjson.Normal(v)), '\n'), nil
}

// abandon can be called while send or receive waits.
func (r *remote) abandon(line []byte) {
	if line != nil {
		r.farewell(http.MethodPost, line)
	}
	r.cancel()
}

// end ends the session.
func (r *remote) end() int {
	r.closeBody()
	if r.session != "" {
		r.farewell(http.MethodDelete, nil)
	}
	r.cancel()
	return cli.ExitOK
}

// farewellTime limits the request that ends the session. Its result does not matter.
const farewellTime = 5 * time.Second

func (r *remote) farewell(method string, body []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), farewellTime)
	defer cancel()
	if response, err := r.do(ctx, method, body); err == nil {
		response.Body.Close()
	}
}

func (r *remote) closeBody() {
	if r.body != nil {
		r.body.Close()
		r.body = nil
	}
}

// An eventReader reads the messages of a stream of server-sent events.
type eventReader struct{ lines *bufio.Scanner }

func newEventReader(body io.Reader) *eventReader {
	e := &eventReader{bufio.NewScanner(body)}
	e.lines.Buffer(nil, maxMessage)
	return e
}

// next returns the data of the next event with data, or io.EOF. An event without a final empty line is ignored.
func (e *eventReader) next() ([]byte, error) {
	var data []byte
	for e.lines.Scan() {
		line := bytes.TrimSuffix(e.lines.Bytes(), []byte("\r"))
		if len(line) == 0 && len(data) > 0 {
			return data, nil
		}
		value, isData := bytes.CutPrefix(line, []byte("data:"))
		if !isData {
			continue
		}
		if len(data)+len(value) > maxMessage {
			return nil, errTooLarge
		}
		if data != nil {
			data = append(data, '\n')
		}
		data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
	}
	if err := e.lines.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}
