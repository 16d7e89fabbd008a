//go:build unix

package clients

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// odd has the characters that a hand-off between programs tends to change.
const odd = "one\r\ntwo\tthree \\n \\\\ \"four\" Zürich 東京 🌊 %s $(id)"

// program writes an executable file.
func program(t *testing.T, text string, path ...string) {
	t.Helper()
	if err := os.Chmod(write(t, "#!/bin/bash\n"+text, path...), 0o755); err != nil {
		t.Fatal(err)
	}
}

// The size of a command line or of a variable bounds no text, and none is changed. The texts are instructions (P-204,
// P-806), prompts and their arguments (T-804 to T-806), and resources (RES-35). They are also completions (T-621,
// T-633), icons and embedded files (T-235).
func TestLongTexts(t *testing.T) {
	t.Parallel()
	project := checkout.Directory(t)
	long := strings.Repeat(odd+"\n", 5000) // 340 kB
	write(t, long, project, "server.d", "server.instructions.md")
	write(t, "{{text}}|"+long+"|", project, "prompts", "long.txt")
	program(t, `cat "$MCPBASH_PROJECT_ROOT/values.json"`, project, "prompts", "long.completion.sh")
	write(t, `["`+strings.Repeat("v", 300_000)+`"]`, project, "values.json")
	write(t, long, project, "resources", "long.txt")
	write(t, `<svg>`+long+`</svg>`, project, "tools", "attach", "icon.svg")
	write(t, `{"name":"attach","description":"d","inputSchema":{"type":"object"},"icons":[{"src":"icon.svg"}]}`,
		project, "tools", "attach", "tool.meta.json")
	program(t, `printf '%s\n' "$MCPBASH_PROJECT_ROOT/resources/long.txt" >"$MCP_TOOL_RESOURCES_FILE"; printf ok`,
		project, "tools", "attach", "tool.sh")
	s := open(t, project, opening{roots: []string{project}})

	equal := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d bytes, %.100q, want %d", what, len(got), got, len(want))
		}
	}
	equal("instructions", s.InitializeResult().Instructions, strings.TrimRight(long, "\n"))
	prompt, err := s.GetPrompt(s.deadline(),
		&mcp.GetPromptParams{Name: "long", Arguments: map[string]string{"text": long}})
	if err != nil {
		t.Fatal(err)
	}
	equal("prompt", prompt.Messages[0].Content.(*mcp.TextContent).Text, long+"|"+long+"|")
	completed, err := s.Complete(s.deadline(), &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "long"},
		Argument: mcp.CompleteParamsArgument{Name: "text", Value: long},
	})
	if err != nil || len(completed.Completion.Values) != 1 {
		t.Fatal(completed, err)
	}
	equal("completion", completed.Completion.Values[0], strings.Repeat("v", 300_000))
	equal("resource", s.resource("file://"+filepath.Join(project, "resources/long.txt")).Text, long)
	tools, err := s.ListTools(s.deadline(), nil)
	if err != nil || len(tools.Tools) != 1 || len(tools.Tools[0].Icons) != 1 {
		t.Fatal(compact(t, tools), err)
	}
	equal("icon", tools.Tools[0].Icons[0].Source,
		"data:image/svg+xml;base64,"+base64.StdEncoding.EncodeToString([]byte(`<svg>`+long+`</svg>`)))
	result := s.succeed("attach", nil)
	if len(result.Content) != 2 {
		t.Fatalf("%.300s", compact(t, result))
	}
	equal("embedded file", result.Content[1].(*mcp.EmbeddedResource).Resource.Text, long)
}

// Questions, answers, log and progress messages arrive unchanged (P-2202, P-2203; SDK-101).
func TestOddCharacters(t *testing.T) { inBothProtocols(t, testOddCharacters) }

func testOddCharacters(t *testing.T, protocol string) {
	t.Parallel()
	project := checkout.Directory(t)
	write(t, odd, project, "text")
	program(t, `source "$MCP_SDK/tool-sdk.sh"
text="$(cat "$MCPBASH_PROJECT_ROOT/text")"
mcp_log_warn odd "$text"
mcp_progress 50 "$text" 100
answer="$(mcp_elicit_string --key k "$text" value)"
mcp_emit_json "$(mcp_json_obj action "$(printf %s "$answer" | "$MCPBASH_JSON_TOOL_BIN" -r .action)" value "$(printf %s "$answer" |
	"$MCPBASH_JSON_TOOL_BIN" -j .content.value)")"
`, project, "tools", "ask", "tool.sh")
	asked := make(chan string, 1)
	s := open(t, project, opening{revision: protocol, client: mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: forms},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- r.Params.Message
			return accept(map[string]any{"value": odd}), nil
		},
	}})
	s.setLevel("info")
	got := structured[struct{ Action, Value string }](t, s.succeed("ask", nil))
	if got.Action != "accept" || got.Value != odd {
		t.Errorf("the answer is %q", got)
	}
	if question := <-asked; question != odd {
		t.Errorf("the question is %q", question)
	}
	eventually(t, "a progress message", func() bool { return len(s.tap.messages("notifications/progress")) > 0 })
	if got := s.tap.messages("notifications/progress")[0].Params.Message; got != odd {
		t.Errorf("the progress message is %q", got)
	}
	if logged := s.nextLog("odd").Data; logged != odd {
		t.Errorf("logged %q", logged)
	}
}
