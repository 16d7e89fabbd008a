//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

const (
	metaKeys = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	meta     = `"_meta":{` + metaKeys + `}`
)

// post sends a request as a conforming client does, but for the headers given here;
// empty ones are left out.
func post(t *testing.T, url, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	m := read([]byte(body))
	headers = append([]string{"Accept", "application/json, text/event-stream", "Content-Type", "application/json",
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", m.method,
		"Mcp-Name", rawjson.TextOf(m.params, names[m.method])}, headers...)
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// messagesOf returns all messages of an answer, one a line.
func messagesOf(t *testing.T, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(body), "event: message\ndata: ", "")
	return strings.TrimSpace(strings.ReplaceAll(text, "\n\n", "\n"))
}

// The status of each answer, and the answers of the bridge itself.
func TestStatus(t *testing.T) {
	t.Parallel()
	_, web := serve(t)
	const (
		newer    = "2099-07-28"
		stop     = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{` + meta + `}}`
		discover = `{"jsonrpc":"2.0","id":"mine","method":"server/discover","params":{` + meta + `}}`
	)
	call := func(name string) string {
		return `{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"` + name + `",` + meta + `}}`
	}
	for name, tc := range map[string]struct {
		body   string
		header []string
		status int
		want   string // in the answer
	}{
		"fine":            {discover, nil, 200, `"id":"mine"`},
		"session ignored": {discover, []string{"Mcp-Session-Id", "none"}, 200, `"id":"mine"`},
		"unknown method":  {strings.ReplaceAll(discover, "server/discover", "ping"), nil, 404, `"code":-32601`},
		"no metadata":     {`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, nil, 400, `"code":-32602`},
		"unknown tool":    {call("none"), nil, 400, `"id":1.5,"error":{"code":-32602`},
		"needs sampling":  {call("test_missing_capability"), nil, 400, `"code":-32021`},
		"unknown version": {strings.ReplaceAll(discover, "2026-07-28", newer), []string{"Mcp-Protocol-Version", newer},
			400, `"code":-32022`},
		"header of another": {discover, []string{"Mcp-Protocol-Version", newer}, 400, `"id":"mine","error":{"code":-32020`},
		"no header":         {discover, []string{"Mcp-Method", ""}, 400, `"code":-32020`},
		"a failing tool":    {call("test_error_handling"), nil, 200, `"isError":true`},
		"notification":      {stop, nil, 400, "clients send no notifications"},
		"id of no kind":     {strings.ReplaceAll(discover, `"mine"`, "null"), nil, 400, "the id must be"},
		"neither protocol":  {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, 400, "Mcp-Session-Id is missing"},
	} {
		answer := post(t, web.URL, tc.body, tc.header...)
		text := messagesOf(t, answer)
		if answer.StatusCode != tc.status || !strings.Contains(text, tc.want) || answer.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d %s, want %d %s", name, answer.StatusCode, text, tc.status, tc.want)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		r, _ := http.NewRequestWithContext(t.Context(), method, web.URL, nil)
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != 405 {
			t.Errorf("%s: %d", method, answer.StatusCode)
		}
	}
}

// Clients that share the server may choose the same ids and progress tokens, and
// each hears what is its own.
func TestSameNames(t *testing.T) {
	t.Parallel()
	_, web := serve(t)
	var clients sync.WaitGroup
	for i := range 8 {
		tool, more, want := "test_tool_with_progress", `"progressToken":"t"`, `"progressToken":"t"`
		if i%2 == 1 {
			tool, want = "test_tool_with_logging", "notifications/message"
			more = `"io.modelcontextprotocol/logLevel":"info"`
		}
		clients.Go(func() {
			got := messagesOf(t, post(t, web.URL, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+
				`","_meta":{`+metaKeys+`,`+more+`}}}`))
			lines := strings.Split(got, "\n")
			if last := lines[len(lines)-1]; len(lines) != 4 || strings.Count(got, want) != 3 ||
				!strings.Contains(last, `"id":1,"result"`) {
				t.Errorf("%s", got)
			}
		})
	}
	clients.Wait()
}

// pretend returns a bridge to a script that plays the server, and the log of their messages.
func pretend(t *testing.T, script string) (*bridge, *httptest.Server, *bytes.Buffer) {
	t.Helper()
	var lines bytes.Buffer
	b := newBridge(func() *exec.Cmd { return exec.Command("sh", "-c", script) }, &transcript{out: &lines})
	web := httptest.NewServer(b)
	t.Cleanup(web.Close)
	return b, web, &lines
}

const listen = `{"jsonrpc":"2.0","id":"mine","method":"subscriptions/listen","params":{"notifications":{},` +
	meta + `}}`

// A stream that its client closes is cancelled at the server, under the server's
// name for it.
func TestClosedStream(t *testing.T) {
	t.Parallel()
	b, web, lines := pretend(t, `read -r line
		printf '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"%s":1},%s}}\n' \
			io.modelcontextprotocol/subscriptionId '"notifications":{}'
		read -r line`)
	answer := post(t, web.URL, listen)
	if _, err := answer.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	server := b.stateless
	answer.Body.Close()
	<-server.ended // it has read the next line, or never ends
	const want = `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	if got := lines.String(); !strings.Contains(got, want) || len(b.transcript.faults()) > 0 {
		t.Errorf("%s\n%q", got, b.transcript.faults())
	}
}

// Two streams have the same name at one server. Each gets the changes that it asked for, under its
// name, and the answer last when the server ends.
func TestStreams(t *testing.T) {
	t.Parallel()
	b, web := serve(t)
	const key = `"io.modelcontextprotocol/subscriptionId":"mine"`
	var open []*bufio.Reader
	for _, kind := range []string{"tools", "prompts"} {
		answer := post(t, web.URL, strings.Replace(listen, "{}", `{"`+kind+`ListChanged":true}`, 1))
		stream := bufio.NewReader(answer.Body)
		open = append(open, stream)
		if got := next(t, stream); answer.Header.Get("Content-Type") != "text/event-stream" ||
			!strings.Contains(got, "acknowledged") || !strings.Contains(got, kind) || !strings.Contains(got, key) {
			t.Errorf("%s", got)
		}
	}
	for _, kind := range []string{"tool", "prompt"} {
		if got := messagesOf(t, post(t, web.URL, `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":`+
			`"test_trigger_`+kind+`_change",`+meta+`}}`)); !strings.Contains(got, `"isError":false`) {
			t.Fatal(got)
		}
	}
	for i, change := range []string{"notifications/tools/list_changed", "notifications/prompts/list_changed"} {
		if got := next(t, open[i]); !strings.Contains(got, change) || !strings.Contains(got, key) {
			t.Errorf("%s", got)
		}
	}
	b.close()
	for _, stream := range open {
		if got := next(t, stream); !strings.Contains(got, `"id":"mine","result":{`) || !strings.Contains(got, key) {
			t.Errorf("%s", got)
		}
		if rest, err := io.ReadAll(stream); len(rest) > 0 || err != nil {
			t.Errorf("%s %v", rest, err)
		}
	}
}

// next is the next message of a stream.
func next(t *testing.T, stream *bufio.Reader) string {
	t.Helper()
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if data, is := strings.CutPrefix(line, "data: "); is {
			if text, err := stream.ReadString('\n'); text != "\n" || err != nil {
				t.Errorf("after a message comes %q, %v", text, err)
			}
			return data
		}
	}
}

// A server that ends without an answer is an error of the bridge, and the next
// request has a new one.
func TestLostServer(t *testing.T) {
	t.Parallel()
	b, web, _ := pretend(t, "read -r line")
	for i := range 2 {
		answer := post(t, web.URL, listen)
		if answer.StatusCode != http.StatusBadGateway {
			t.Errorf("request %d: %s", i, messagesOf(t, answer))
		}
		<-b.stateless.ended
	}
}
