//go:build unix

package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The suite is content with content of the right kind; the project offers exactly
// what the suite's descriptions show, in either revision.
func TestProject(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) { t.Parallel(); offers(t, revision) })
	}
}

func offers(t *testing.T, revision string) {
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	web := serve(t)
	client := connect(t, ctx, web, new(heard), revision)
	defer client.Close()
	const image = `{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo…"}`
	for name, want := range map[string]string{
		"test_simple_text":   `[{"type":"text","text":"This is a simple text response for testing."}]`,
		"test_image_content": `[` + image + `]`,
		"test_audio_content": `[{"type":"audio","mimeType":"audio/wav","data":"UklGRiwAAABXQVZF…"}]`,
		"test_embedded_resource": `[{"type":"resource","resource":{"uri":"test://embedded-resource",` +
			`"mimeType":"text/plain","text":"This is an embedded resource content."}}]`,
		"test_multiple_content_types": `[{"type":"text","text":"Multiple content types test:"},` + image +
			`,{"type":"resource","resource":{"uri":"test://mixed-content-resource","mimeType":"application/json",` +
			`"text":"{\"test\":\"data\",\"value\":123}"}}]`,
		"test_error_handling": `[{"type":"text","text":"This tool intentionally returns an error for testing"}]`,
	} {
		result, err := client.CallTool(ctx, &mcp.CallToolParams{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, result.Content, want)
		if result.IsError != (name == "test_error_handling") {
			t.Errorf("%s: isError is %v", name, result.IsError)
		}
	}
	for name, want := range map[string]string{
		"test_simple_prompt": `[{"role":"user","content":{"type":"text","text":"This is a simple prompt ` +
			`for testing."}}]`,
		"test_prompt_with_arguments": `[{"role":"user","content":{"type":"text","text":"Prompt with arguments: ` +
			`arg1='hello', arg2='wo\"rld'"}}]`,
		"test_prompt_with_embedded_resource": `[{"role":"user","content":{"type":"resource",` +
			`"resource":{"uri":"test://example-resource","mimeType":"text/plain","text":"Embedded resource content for ` +
			`testing."}}},{"role":"user","content":{"type":"text","text":"Please process the embedded resource above."}}]`,
		"test_prompt_with_image": `[{"role":"user","content":` + image +
			`},{"role":"user","content":{"type":"text","text":"Please analyze the image above."}}]`,
	} {
		arguments := map[string]string{"arg1": "hello", "arg2": `wo"rld`, "resourceUri": "test://example-resource"}
		result, err := client.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, result.Messages, want)
	}
	for uri, want := range map[string]string{
		"test://static-text": `[{"uri":"test://static-text","mimeType":"text/plain","text":"This is the content of ` +
			`the static text resource."}]`,
		"test://static-binary": `[{"uri":"test://static-binary","mimeType":"image/png","blob":"iVBORw0KGgo…"}]`,
		"test://template/123/data": `[{"uri":"test://template/123/data","mimeType":"application/json",` +
			`"text":"{\"id\":\"123\",\"templateTest\":true,\"data\":\"Data for ID: 123\"}"}]`,
	} {
		result, err := client.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		same(t, uri, result.Contents, want)
	}
	completion, err := client.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "test_prompt_with_arguments"},
		Argument: mcp.CompleteParamsArgument{Name: "arg1", Value: "par"},
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "completion", completion.Completion.Values, `["paris","park","party"]`)
}

// same compares a value with what is wanted, as JSON. Strings that end in "…" are
// the beginning of the real ones.
func same(t *testing.T, name string, got any, want string) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var g, w any
	if json.Unmarshal(text, &g) != nil || json.Unmarshal([]byte(want), &w) != nil || !alike(g, w) {
		t.Errorf("%s:\n%s\nwant\n%s", name, text, want)
	}
}

func alike(got, want any) bool {
	switch want := want.(type) {
	case string:
		got, ok := got.(string)
		beginning, isBeginning := strings.CutSuffix(want, "…")
		return ok && (got == want || isBeginning && strings.HasPrefix(got, beginning))
	case []any:
		got, ok := got.([]any)
		for i := 0; ok && i < len(want); i++ {
			ok = len(got) == len(want) && alike(got[i], want[i])
		}
		return ok && len(got) == len(want)
	case map[string]any:
		got, ok := got.(map[string]any)
		for key, value := range want {
			ok = ok && alike(got[key], value)
		}
		return ok && len(got) == len(want)
	}
	return got == want
}
