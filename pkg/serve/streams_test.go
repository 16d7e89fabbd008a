//go:build unix

package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
)

// listen opens a stream and returns its acknowledgement.
func (c *testClient) listen(id, notifications string) string {
	c.t.Helper()
	c.send(message(id, "subscriptions/listen", `{"notifications":`+notifications+`,`+meta("{}")+`}`))
	return c.await("an acknowledgement", func(line string) bool {
		return strings.Contains(line, `"notifications/subscriptions/acknowledged"`)
	})
}

const ofStream = `"_meta":{"io.modelcontextprotocol/subscriptionId":`

func acknowledged(id, honoured string) string {
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + ofStream + id +
		`},"notifications":` + honoured + `}}`
}

// M-60 to M-64: a stream acknowledges its request, and gets its notifications until it is cancelled.
// At the end of input the open streams are answered, after everything else.
func TestStreams(t *testing.T) {
	root := files(t, map[string]string{
		"tools/edit/tool.sh": `mkdir -p ../../tools/new; cd "$MCPBASH_PROJECT_ROOT/tools" && mkdir -p new && ` +
			`printf '#!/bin/sh\necho new\n' >new/tool.sh && chmod 755 new/tool.sh; echo B >../resources/a.txt`,
		"tools/edit/tool.meta.json": `{"name":"edit"}`,
		"resources/a.txt":           "A", "resources/b.txt": "A",
	})
	c := start(t, root, project.Env{"MCP_TOOLS_TTL": "3600", "MCP_RESOURCES_TTL": "3600", "MCP_PROMPTS_TTL": "3600",
		"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": "0.05"})
	a, b := "file://"+root+"/resources/a.txt", "file://"+root+"/resources/b.txt"
	none := c.listen("10", `{"other":true,"promptsListChanged":"yes","resourceSubscriptions":["file:///none","x:y",7]}`)
	if none != acknowledged("10", "{}") {
		t.Error(none)
	}
	all := c.listen(`"all"`, `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,`+
		`"resourceSubscriptions":["`+a+`","`+b+`","`+a+`"]}`)
	if all != acknowledged(`"all"`, `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,`+
		`"resourceSubscriptions":["`+a+`","`+b+`"]}`) {
		t.Error(all)
	}
	tools := c.listen("11", `{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["`+a+`"]}`)
	if tools != acknowledged("11", `{"toolsListChanged":true,"resourceSubscriptions":["`+a+`"]}`) {
		t.Error(tools)
	}
	c.send(message("12", "subscriptions/listen", `{"notifications":{"toolsListChanged":true},`+meta("{}")+`}`))
	c.await("an acknowledgement", func(line string) bool { return strings.Contains(line, acknowledged("12", "")[:60]) })
	c.send(message("", "notifications/cancelled", `{"requestId":12}`))
	c.send(message("11", "subscriptions/listen", `{"notifications":{},`+meta("{}")+`}`))
	if got := c.response("11"); !strings.Contains(got, "Duplicate request id") {
		t.Error(got)
	}
	if got := c.ask("tools/call", `"name":"edit"`); !strings.Contains(got, `"isError":false`) {
		t.Error(got)
	}
	// M-63: seen at once, whatever the TTL; one line a stream.
	want := map[string]bool{}
	for _, id := range []string{`"all"`, "11"} {
		want[`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+ofStream+id+`}}}`] = true
		want[`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+ofStream+id+`},"uri":"`+a+`"}}`] =
			true
	}
	for len(want) > 0 {
		line := c.notification()
		if !want[line] {
			t.Fatalf("unexpected: %s", line)
		}
		delete(want, line)
	}
	c.end()
	for _, id := range []string{"10", `"all"`, "11"} {
		got := c.next()
		if got != `{"jsonrpc":"2.0","id":`+id+`,"result":{"resultType":"complete",`+ofStream+id+
			`,"io.modelcontextprotocol/serverInfo":{"name":"`+filepath.Base(root)+`","version":"0.0.0","title":"`+
			filepath.Base(root)+`"}}}}` {
			t.Error(got)
		}
	}
	c.quiet()
}

// notification returns the next notification of any kind. It can arrive before the response to the
// request that caused it.
func (c *testClient) notification() string {
	c.t.Helper()
	if len(c.pending) > 0 {
		return c.next()
	}
	select {
	case line := <-c.changed:
		return line
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("the server has ended; stderr: %s", c.stderr)
		}
		return line
	case <-time.After(patience):
		c.t.Fatal("waited in vain for a notification")
		return ""
	}
}

// streamLimit is how many streams a client can have open.
const streamLimit = 64

// M-60: there is a bound on streams, which one that is cancelled makes room below.
func TestManyStreams(t *testing.T) {
	c := start(t, files(t, nil), nil)
	for i := range streamLimit {
		c.listen(fmt.Sprint(i), `{}`)
	}
	const full = `"error":{"code":-32603,"message":"Too many open streams"}`
	for range 1000 {
		if got := c.ask("subscriptions/listen", `"notifications":{}`); got != full {
			t.Fatal(got)
		}
	}
	c.send(message("", "notifications/cancelled", `{"requestId":7}`))
	c.listen("7", `{}`)
	for _, bad := range []string{``, `"notifications":[]`, `"notifications":null`} {
		if got := c.ask("subscriptions/listen", bad); !strings.HasPrefix(got, `"error":{"code":-32602`) {
			t.Errorf("%s: %s", bad, got)
		}
	}
	if code := c.end(); code != 0 {
		t.Error(code)
	}
}

// M-60: the id of a stream is short, because each notification contains it.
func TestLongStreamID(t *testing.T) {
	c := start(t, files(t, nil), nil)
	defer c.finish()
	id := `"` + strings.Repeat("x", 2000) + `"`
	c.send(message(id, "subscriptions/listen", `{"notifications":{"toolsListChanged":true},`+meta("{}")+`}`))
	const refused = `"error":{"code":-32600,"message":"Invalid Request","data":"the id of a stream is too long"}`
	if got := c.response(id); got != refused {
		t.Error(got)
	}
}

// M-62: a stream prevents the idle exit until it ends.
func TestStreamIsNotIdle(t *testing.T) {
	c := start(t, files(t, nil), project.Env{"MCPBASH_IDLE_TIMEOUT": "1"})
	c.listen("1", `{}`)
	other := start(t, files(t, nil), project.Env{"MCPBASH_IDLE_TIMEOUT": "1"})
	other.exit() // takes longer than the first one would have
	if got := c.ask("tools/list", ""); !strings.Contains(got, "complete") {
		t.Error(got)
	}
	c.send(message("", "notifications/cancelled", `{"requestId":1}`))
	c.exit()
	if !strings.Contains(c.stderr.String(), "idle timeout") {
		t.Error(c.stderr)
	}
}

// M-63: without open streams, the server checks nothing for changes.
func TestNothingListens(t *testing.T) {
	root := files(t, map[string]string{"resources/a.txt": "A"})
	c := start(t, root, project.Env{"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": "0.05"})
	uri := "file://" + root + "/resources/a.txt"
	c.listen("1", `{"resourceSubscriptions":["`+uri+`"]}`)
	c.send(message("", "notifications/cancelled", `{"requestId":1}`))
	c.listen("2", `{}`) // read after the cancellation
	os.WriteFile(filepath.Join(root, "resources", "a.txt"), []byte("B"), 0o644)
	c.listen("3", `{"resourceSubscriptions":["`+uri+`"]}`)
	os.WriteFile(filepath.Join(root, "resources", "a.txt"), []byte("C"), 0o644)
	if got := c.notification(); !strings.Contains(got, `/subscriptionId":3}`) {
		t.Error(got)
	}
}
