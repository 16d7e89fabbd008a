//go:build unix

package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mcp-bash/pkg/wire/mcp"
)

// T-129: a script that waits at its FIFO continues when there is an answer, for both ways to ask.
// It also continues when the call is cancelled.
func TestWake(t *testing.T) {
	const waiting = `mkfifo "$MCP_INPUT_DIR/wake"
put() { printf '%s' "$1" >"$2.tmp"; mv "$2.tmp" "$2"; }
`
	a := &asker{answer: func(mcp.InputRequest) (mcp.InputResponse, bool) {
		return mcp.InputResponse{Result: json.RawMessage(`{"action":"cancel"}`)}, true
	}}
	client := mcp.Capabilities{ElicitForm: true}
	for _, tc := range []struct{ name, script, want string }{
		{"elicitation", `{ put '{"message":"M"}' "$MCP_ELICIT_REQUEST_FILE"; read -r x; } <>"$MCP_INPUT_DIR/wake"
cat "$MCP_ELICIT_RESPONSE_FILE"`, `{"action":"cancel","content":null}`},
		{"batch", `{ put '{"k":{"method":"elicitation/create"}}' "$MCP_INPUT_DIR/batch.request"; read -r x; } \
  <>"$MCP_INPUT_DIR/wake"
cat "$MCP_INPUT_DIR/batch.response"`, `{"k":{"result":{"action":"cancel"}}}`},
	} {
		b := newFixture(t, nil)
		b.add("t", waiting+tc.script)
		if got := textOf(t, b.call(&Request{Name: "t", Client: client, Asker: a})); got != tc.want {
			t.Errorf("%s: %s", tc.name, got)
		}
	}

	b := newFixture(t, nil)
	ready, out := filepath.Join(b.root, "ready"), filepath.Join(b.root, "out")
	b.add("t", waiting+`trap '' TERM
{ : >"`+ready+`"; read -r x; } <>"$MCP_INPUT_DIR/wake"
[ -f "$MCP_CANCEL_FILE" ] && echo woken >"`+out+`"`)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		for {
			if _, err := os.Stat(ready); err == nil {
				cancel(ErrCancelled)
				return
			}
			runtime.Gosched()
		}
	}()
	if got := answer(b.tools.Call(ctx, &Request{Name: "t"})); got != `{"code":-32001,"message":"Tool cancelled"}` {
		t.Error(got)
	}
	if content, err := os.ReadFile(out); string(content) != "woken\n" {
		t.Errorf("%q, %v", content, err)
	}
}
