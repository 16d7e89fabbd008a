//go:build unix

package clients

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// examples/15-asking: the model, the roots, and the user and the model at once
// (M-57, M-80, SDK-148).
func TestAskingExample(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "15-asking")
	options := user{"What kind of release is it?": accept(map[string]any{"kind": "major"})}.client(forms)
	options.Capabilities.RootsV2 = &mcp.RootCapabilities{}
	options.CreateMessageHandler = func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		answer := "- Starts faster"
		if r.Params.SystemPrompt != "" {
			answer = "It was dark."
		}
		return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: answer}}, nil
	}
	s := open(t, project, opening{roots: []string{"/one", "/two"}, client: options})
	release := arguments{"version": "1.4.2", "changes": "Starts faster."}
	got := compact(t, s.succeed("release", release).StructuredContent)
	if got != `{"notes":"- Starts faster","version":"2.0.0"}` {
		t.Error(got)
	}
	if got := text(t, s.succeed("summarize", arguments{"text": "It was a dark night."})); got != "It was dark." {
		t.Errorf("%q", got)
	}
	got = compact(t, s.succeed("folders", nil).StructuredContent)
	if got != `{"asked":true,"roots":["file:///one","file:///two"]}` {
		t.Error(got)
	}

	// A client that can do nothing of it, and one whose user does not want to.
	s = open(t, project, opening{client: mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}})
	s.refuse("release", release, "no_kind")
	s.refuse("summarize", arguments{"text": "x"}, "no_model")
	got = compact(t, s.succeed("folders", nil).StructuredContent)
	if got != `{"asked":false,"roots":["file://`+project+`"]}` {
		t.Error(got)
	}
	release["kind"] = "patch"
	got = compact(t, s.succeed("release", release).StructuredContent)
	if got != `{"notes":"Starts faster.","version":"1.4.3"}` {
		t.Error(got)
	}
	delete(release, "kind")
	s = open(t, project, opening{client: user{"What": {Action: "decline"}}.client(forms)})
	s.refuse("release", release, "no_kind")
}

// SDK-148, M-57, M-80, T-128: a tool asks for several things in
// one round, and for one at a time.
func TestAsking(t *testing.T) { withAll(t, testAsking) }

func testAsking(t *testing.T, protocol string) {
	t.Parallel()
	const notSupported = `{"error":{"code":-32601,"message":"Not supported by the client"}}`
	project := checkout.Copy(t, filepath.Join("testdata", "asking"))
	s := open(t, project, opening{revision: protocol, roots: []string{"/one"}, client: mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			output := r.Params.Messages[0].Content.(*mcp.TextContent).Text + "/" + r.Params.SystemPrompt
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: output}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"yes": true}}, nil
		},
	}})
	message := func(text string) string {
		return `{"content":{"text":"` + text + `","type":"text"},"model":"m","role":"assistant"}`
	}
	const roots = `{"roots":[{"name":"one","uri":"file:///one"}]}`
	got := compact(t, s.succeed("ask", nil).StructuredContent)
	want := `{"all":{"joke":` + message("Tell a joke/") + `,"roots":` + roots +
		`,"sure":{"action":"accept","content":{"yes":true}}},"rc":0,"roots":` + roots + `,"sample":` +
		message("Say hello/Be brief") + `}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	// A client that can do nothing of it.
	s = open(t, project, opening{revision: protocol, client: mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}})
	got = compact(t, s.succeed("ask", nil).StructuredContent)
	want = `{"all":{"joke":` + notSupported + `,"roots":` + notSupported + `,"sure":` + notSupported +
		`},"rc":1,"roots":` + notSupported + `,"sample":` + notSupported + `}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
