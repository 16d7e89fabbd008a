//go:build unix

package clients

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

const uiExtension = "io.modelcontextprotocol/ui"

// ui returns _meta.ui.
func ui(meta mcp.Meta) map[string]any {
	m, _ := meta["ui"].(map[string]any)
	return m
}

// examples/14-mcp-app (resources sections 16, 17, 19): tools name their pages,
// pages are listed and read, and with a client that shows them results carry
// data.
func TestApps(t *testing.T) { inBothProtocols(t, testApps) }

func testApps(t *testing.T, protocol string) {
	t.Parallel()
	capabilities := &mcp.ClientCapabilities{}
	capabilities.AddExtension(uiExtension, map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}})
	s := open(t, checkout.Example(t, "14-mcp-app"),
		opening{revision: protocol, client: mcp.ClientOptions{Capabilities: capabilities}})
	offered := s.InitializeResult().Capabilities.Extensions
	if got := compact(t, offered["io.modelcontextprotocol/ui"]); got != `{"mimeTypes":["text/html;profile=mcp-app"]}` {
		t.Errorf("RES-302: %s", got)
	}
	list, err := s.ListTools(s.deadline(), nil)
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{}
	for _, tool := range list.Tools {
		links[tool.Name] = compact(t, ui(tool.Meta))
	}
	for name, want := range map[string]string{
		"board":     `{"resourceUri":"ui://mcp-app/board","visibility":["model","app"]}`,
		"roll-dice": `{"resourceUri":"ui://mcp-app/roll-dice","visibility":["model","app"]}`,
		"move-card": `{"visibility":["app"]}`,
	} {
		if links[name] != want {
			t.Errorf("R-43: %s has %s, want %s", name, links[name], want)
		}
	}
	pages, err := s.ListResources(s.deadline(), nil)
	if err != nil || len(pages.Resources) != 2 {
		t.Fatalf("%s, %v", compact(t, pages), err)
	}
	for _, page := range pages.Resources {
		read, err := s.ReadResource(s.deadline(), &mcp.ReadResourceParams{URI: page.URI})
		if err != nil {
			t.Fatal(err)
		}
		c := read.Contents[0]
		if c.MIMEType != "text/html;profile=mcp-app" || !strings.HasPrefix(c.Text, "<!DOCTYPE html>") ||
			compact(t, ui(c.Meta)) != `{"csp":{},"permissions":{},"prefersBorder":true}` ||
			compact(t, page.Meta) != compact(t, c.Meta) {
			t.Errorf("RES-324: %.300s", compact(t, c))
		}
	}
	if pages.Resources[0].Title != "Board" || pages.Resources[1].URI != "ui://mcp-app/roll-dice" {
		t.Error(compact(t, pages))
	}

	board := s.call("board", nil)
	if got := compact(t, board.StructuredContent); !strings.HasPrefix(got, `{"cards":[{`) ||
		!strings.Contains(got, `"column":"todo"`) {
		t.Errorf("SDK-171: %s", got)
	}
	s.call("move-card", map[string]any{"cardId": "bread", "fromColumn": "todo", "toColumn": "done"})
	if got := text(t, s.call("board", nil)); !strings.Contains(got, "done: Bake bread (bread)") {
		t.Error(got)
	}
	rolled := s.call("roll-dice", map[string]any{"count": 3})
	data, _ := rolled.StructuredContent.(map[string]any)
	if dice, _ := data["dice"].([]any); len(dice) != 3 || !strings.HasSuffix(text(t, rolled), " in all") {
		t.Error(compact(t, rolled))
	}
}

// A client that shows no pages gets the same list of tools, and text as their results.
func TestAppsWithoutPages(t *testing.T) {
	t.Parallel()
	s := open(t, checkout.Example(t, "14-mcp-app"), opening{})
	if got := s.InitializeResult().Capabilities.Extensions; got != nil {
		t.Errorf("RES-302: %v", got)
	}
	rolled := s.call("roll-dice", nil)
	if rolled.StructuredContent != nil || !strings.HasPrefix(text(t, rolled), "Rolled ") {
		t.Error(compact(t, rolled))
	}
	if pages, err := s.ListResources(s.deadline(), nil); err != nil || len(pages.Resources) != 2 {
		t.Errorf("R-173: %s, %v", compact(t, pages), err)
	}
}
