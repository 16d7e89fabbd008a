//go:build unix

package clients

import (
	"bytes"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

func (s *session) prompt(name string, args map[string]string) *mcp.GetPromptResult {
	s.t.Helper()
	result, err := s.GetPrompt(s.deadline(), &mcp.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return result
}

func (s *session) failPrompt(name string, args map[string]string, code int64, says string) {
	s.t.Helper()
	result, err := s.GetPrompt(s.deadline(), &mcp.GetPromptParams{Name: name, Arguments: args})
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != code || rpc.Message != says {
		s.t.Errorf("%s: %s, %v, want error %d %q", name, compact(s.t, result), err, code, says)
	}
}

// examples/11-prompts (T-805, T-820).
func TestPrompts(t *testing.T) { withAll(t, testPrompts) }

func testPrompts(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "11-prompts"), opening{revision: protocol})
	if s.InitializeResult().Capabilities.Prompts == nil {
		t.Error("prompts are not advertised")
	}
	list, err := s.ListPrompts(s.deadline(), nil)
	if err != nil || len(list.Prompts) != 2 {
		t.Fatalf("%s, %v", compact(t, list), err)
	}
	explain, shape := list.Prompts[0], list.Prompts[1]
	if explain.Name != "explain" || explain.Title != "Explain a text" || len(explain.Arguments) != 2 ||
		explain.Arguments[1].Name != "audience" || !explain.Arguments[1].Required {
		t.Error(compact(t, explain))
	}
	if shape.Name != "shape" || len(shape.Arguments) != 2 || shape.Arguments[0].Description != "disc or square" {
		t.Error(compact(t, shape))
	}

	got := s.prompt("explain", map[string]string{"audience": "a \"lawyer\"", "text": "{{audience}}\n$HOME"})
	const want = "Explain this to a \"lawyer\", in at most three sentences and without jargon:\n\n{{audience}}\n$HOME"
	if text, ok := got.Messages[0].Content.(*mcp.TextContent); !ok || len(got.Messages) != 1 ||
		got.Messages[0].Role != "user" || text.Text != want || got.Description != explain.Description {
		t.Error(compact(t, got))
	}
	s.failPrompt("explain", map[string]string{"text": "x"}, -32602, "Missing required argument: audience")
	s.failPrompt("nope", nil, -32602, "Prompt not found")
}

// examples/11-prompts, shape: several messages with pictures (T-830).
func TestConversation(t *testing.T) { inBothProtocols(t, testConversation) }

func testConversation(t *testing.T, protocol string) {
	t.Parallel()
	project := checkout.Example(t, "11-prompts")
	s := open(t, project, opening{revision: protocol})
	got := s.prompt("shape", map[string]string{"shape": "square", "language": "French"})
	var roles []string
	var pictures [][]byte
	for _, m := range got.Messages {
		roles = append(roles, string(m.Role))
		if image, ok := m.Content.(*mcp.ImageContent); ok && image.MIMEType == "image/png" {
			pictures = append(pictures, image.Data)
		}
	}
	if !slices.Equal(roles, []string{"user", "user", "assistant", "user"}) || len(pictures) != 2 {
		t.Fatal(compact(t, got))
	}
	for i, name := range []string{"disc", "square"} {
		want, err := os.ReadFile(filepath.Join(project, "prompts", "shape", name+".png"))
		if _, pngErr := png.Decode(bytes.NewReader(pictures[i])); err != nil || pngErr != nil ||
			!bytes.Equal(pictures[i], want) {
			t.Errorf("%s: %v, %v", name, err, pngErr)
		}
	}
	for _, shape := range []string{"triangle", "../../secret", "/etc/passwd"} {
		s.failPrompt("shape", map[string]string{"shape": shape, "language": "French"}, -32603,
			"Unable to render prompt")
	}
}

// examples/11-prompts, explain: what is missing is asked for (T-831).
func TestPromptAsks(t *testing.T) { withAll(t, testPromptAsks) }

func testPromptAsks(t *testing.T, protocol string) {
	t.Parallel()
	boss := user{"Has a text explained to somebody.": accept(map[string]any{"audience": "my boss"})}
	s := open(t, checkout.Example(t, "11-prompts"), opening{revision: protocol, client: boss.client(forms)})
	got := s.prompt("explain", map[string]string{"text": "Tides"})
	if text := got.Messages[0].Content.(*mcp.TextContent).Text; text != "Explain this to my boss, in at most three "+
		"sentences and without jargon:\n\nTides" {
		t.Error(text)
	}
	s = open(t, checkout.Example(t, "11-prompts"),
		opening{revision: protocol, client: user{"Has": &mcp.ElicitResult{Action: "cancel"}}.client(forms)})
	s.failPrompt("explain", nil, -32602, "Missing required argument: text")
}
