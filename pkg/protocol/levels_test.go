//go:build unix

package protocol

import (
	"fmt"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
)

// awaiting defines await for scripts: it waits for a file with answers at the FIFO of T-129.
const awaiting = `mkfifo -m 600 "$MCP_INPUT_DIR/wake"; exec 7<>"$MCP_INPUT_DIR/wake"
await() { until [ -e "$1" ]; do read -r _ <&7; done; }
`

// M-71: a stateless client gets messages from the level that each request names. This holds
// for a call that was suspended in between, too.
func TestLevelOfRequest(t *testing.T) {
	files := map[string]string{
		"server.d/server.meta.json": "{}",
		"tools/warn/tool.sh": awaiting + `log() { printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%s","data":"%s"}}\n' "$@"; }
log warning 'first warning' >>"$MCP_LOG_STREAM"
log info 'first info' >>"$MCP_LOG_STREAM"
printf '{"message":"question of warn"}' >"$MCP_ELICIT_REQUEST_FILE.tmp"
mv "$MCP_ELICIT_REQUEST_FILE.tmp" "$MCP_ELICIT_REQUEST_FILE"
await "$MCP_ELICIT_RESPONSE_FILE"
log warning 'second warning' >>"$MCP_LOG_STREAM"
log info 'second info' >>"$MCP_LOG_STREAM"
printf 'all done'
`,
	}
	for _, live := range []string{"true", "false"} {
		for _, level := range []string{"warning", "info", "error"} {
			t.Run(fmt.Sprintf("live=%s level=%s", live, level), func(t *testing.T) {
				server, _ := newServer(t, files, project.Env{"MCPBASH_ENABLE_LIVE_PROGRESS": live})
				m := &memory{t: t, name: "warn", lines: make(chan string, 100), stateless: true}
				m.client = server.NewClient(m, Caller{})
				defer m.close()
				send := func(id, members string) {
					m.accept(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"warn"` + members +
						`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"` +
						level + `","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`)
				}
				send("1", "")
				_, state := m.question()
				send("2", `,"requestState":"`+state+`","inputResponses":{"input-1":{"action":"decline"}}`)
				m.await("all done")
				all := m.all()
				for _, of := range []string{"warning", "info"} {
					want := level == "info" || level == of
					for _, text := range []string{"first " + of, "second " + of} {
						if got := strings.Contains(all, `"data":"`+text); got != want {
							t.Errorf("%s: %v in %s", text, got, all)
						}
					}
				}
			})
		}
	}
}
