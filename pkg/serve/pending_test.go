//go:build unix

package serve

import (
	"bytes"
	"io"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/console"
)

// P-1804: requests above the limit are not read, and are served one after the other. While the
// server waits for an answer, it reads on, and refuses further requests.
func TestPendingRequests(t *testing.T) {
	big := `{"name":"%s","arguments":{"big":"` + strings.Repeat("x", 3000) + `"}}`
	list := map[string]string{
		"tools/wait/tool.sh": waiter,
		"tools/ask/tool.sh": awaiting + `printf '{"message":"one"}' >"$MCP_ELICIT_REQUEST_FILE.t"; mv "$MCP_ELICIT_REQUEST_FILE.t" "$MCP_ELICIT_REQUEST_FILE"
await "$MCP_ELICIT_RESPONSE_FILE"; cat "$MCP_ELICIT_RESPONSE_FILE"`,
	}
	c := start(t, files(t, list), project.Env{"MCPBASH_MAX_PENDING_BYTES": "2000"})
	c.handshake("2025-11-25", `{"elicitation":{}}`)
	c.send(message("1", "tools/call", sprintf(big, "wait")))
	eventually(t, "the first call has begun", func() bool { return c.started() == 1 })
	sent := make(chan struct{})
	go func() {
		c.send(message("2", "tools/call", sprintf(big, "wait")))
		c.send(message("3", "ping", ""))
		close(sent)
	}()
	select {
	case <-sent:
		t.Error("the server reads on")
	case line := <-c.lines:
		t.Errorf("the server says %s", line)
	case <-time.After(300 * time.Millisecond): // no event shows that nothing happens
	}
	c.release()
	c.response("1")
	c.response("2")
	c.response("3")
	<-sent

	c.send(message("4", "tools/call", sprintf(big, "ask")))
	question := c.await("the question", func(line string) bool { return strings.Contains(line, "elicitation/create") })
	c.send(message("5", "tools/call", sprintf(big, "wait")))
	c.expect(`{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"Too many queued requests"}}`)
	_, id, _ := strings.Cut(question, `"id":`)
	id, _, _ = strings.Cut(id, ",")
	c.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"decline"}}`)
	if got := text(t, c.response("4")); !strings.Contains(got, `"decline"`) {
		t.Error(got)
	}
}

// P-1308: messages of libraries become notices. Their content cannot control a terminal or look
// like another line.
func TestLinesOnStderr(t *testing.T) {
	var out bytes.Buffer
	takeLibraryLog(console.New(&out, &project.Project{}))
	defer log.SetOutput(os.Stderr)
	log.Printf("Unsolicited response: \"\x1b[2J\"\nmcp-bash: all is well")
	if got, want := out.String(),
		`mcp-bash: Unsolicited response: "\u001b[2J"\nmcp-bash: all is well`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// P-1308: the limit, and the message about it.
func TestStderrQueue(t *testing.T) {
	r, w := io.Pipe()
	q := &stderrQueue{out: w}
	line := append(bytes.Repeat([]byte("x"), 1023), '\n')
	for range maxStderrQueue/len(line) + 5 {
		if n, err := q.Write(line); n != len(line) || err != nil { // would hang here
			t.Fatal(n, err)
		}
	}
	q.flush(time.Millisecond) // nobody reads
	go func() {
		q.flush(patience)
		w.Close()
	}()
	got, err := io.ReadAll(r)
	kept := bytes.Count(got, line)
	_, tail, _ := bytes.Cut(got, []byte("mcp-bash: "))
	dropped := maxStderrQueue/len(line) + 5 - kept
	if want := sprintf("standard error was not read; %d messages were dropped\n", dropped); err != nil || dropped < 1 ||
		string(tail) != want {
		t.Errorf("%d lines, %d dropped, then %q: %v", kept, dropped, tail, err)
	}
}
