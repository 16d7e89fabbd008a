//go:build unix

package clients

import (
	"context"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// A project of the Bash edition works unchanged (tools, introduction): its
// metadata, its way of calling the SDK, the shapes its clients know.
func TestOlderTool(t *testing.T) {
	t.Parallel()
	project := checkout.Copy(t, "testdata/older")
	s := open(t, project, opening{})
	const name = "older.report"
	list, err := s.ListTools(s.deadline(), nil)
	if err != nil || len(list.Tools) != 2 || list.Tools[1].Name != name {
		t.Fatalf("%s, %v", compact(t, list), err)
	}
	if schema, ok := list.Tools[1].InputSchema.(map[string]any); !ok ||
		schema["properties"].(map[string]any)["title"] == nil { // "arguments"
		t.Error(compact(t, list.Tools[1]))
	}

	type report struct {
		Title, Tenant, Tools string
		Sections             int
	}
	params := &mcp.CallToolParams{Name: name, Arguments: arguments{"title": "A \"b\"", "count": "4"},
		Meta: mcp.Meta{"tenant": "acme", "progressToken": 7}} // T-11: not validated
	result, err := s.CallTool(s.deadline(), params)
	if err != nil {
		t.Fatal(err)
	}
	if got := structured[report](t, result); got != (report{"A \"b\"", "acme", project + "/tools", 4}) {
		t.Errorf("%+v", got)
	}
	if got := s.reports(); !slices.Equal(got, []string{"25", "50", "75", "100"}) {
		t.Errorf("%q", got)
	}
	if m := <-s.progress; m.ProgressToken != 7.0 {
		t.Errorf("%+v", m)
	}
	if got := s.logged("report"); !slices.Equal(got, []string{"info: Building 4 sections"}) {
		t.Errorf("%q", got)
	}

	s.fail(name, nil, -32602, "Missing required argument: title")
	s.fail(name, arguments{"title": "fail"}, -32010, "Custom failure")
	s.refuse(name, arguments{"title": "helpful"}, "not_found")
	crashed := s.call(name, arguments{"title": "crash"}) // T-186
	if got := text(t, crashed); !crashed.IsError || got != "first line\nlast words" ||
		crashed.Meta["exitCode"] != 3.0 || crashed.Meta["stderr"] != got {
		t.Error(compact(t, crashed))
	}
}

// A tool with its own helpers knows only files and variables (tools sections 5 and 6).
func TestToolWithItsOwnHelpers(t *testing.T) {
	t.Parallel()
	root := checkout.Directory(t)
	file := write(t, "# Attached\n", root, "a.md")
	asked := make(chan string, 1)
	s := open(t, checkout.Copy(t, "testdata/older"), opening{
		roots: []string{root},
		client: mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult,
			error) {
			asked <- r.Params.Message
			return accept(map[string]any{"confirmed": true}), nil
		}},
	})
	result := s.succeed("carried", arguments{"path": file})
	if got := text(t, result); got != "roots 1, tool carried, confirmed\n" {
		t.Errorf("%q", got)
	}
	if item, ok := result.Content[len(result.Content)-1].(*mcp.EmbeddedResource); !ok ||
		item.Resource.Text != "# Attached\n" || item.Resource.MIMEType != "text/markdown" ||
		item.Resource.URI != "old://attached" { // T-95
		t.Error(compact(t, result))
	}
	if got := <-asked; got != "Attach "+file+"?" {
		t.Errorf("%q", got)
	}
	// T-102: no null; a new message at the same value gets the next larger number
	if got := s.reports(); !slices.Equal(got, []string{"10", "10.000000000000002", "90"}) {
		t.Errorf("%q", got)
	}
	if got := s.logged("old"); !slices.Equal(got, []string{"notice: attaching " + file}) {
		t.Errorf("%q", got)
	}
	s.fail("carried", nil, -32602, "path is required")
	for _, threshold := range []string{"0", "200000"} { // T-77
		s := open(t, checkout.Copy(t, "testdata/older"),
			opening{env: map[string]string{"MCPBASH_ENV_PAYLOAD_THRESHOLD": threshold}})
		if got := text(t, s.succeed("carried", arguments{"path": "x"})); got != "roots 0, tool carried, declined\n" {
			t.Errorf("%q", got)
		}
	}
}
