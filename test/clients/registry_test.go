//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// examples/13-registry: what is offered at each level, and what a client learns
// of it.
func TestRegistry(t *testing.T) { withAll(t, testRegistry) }

func testRegistry(t *testing.T, protocol string) {
	t.Parallel()
	for level, want := range map[string]string{"": "add-note find-note", "standard": "add-note find-note",
		"restricted": "find-note"} {
		s := open(t, checkout.Example(t, "13-registry"), opening{
			revision: protocol, env: map[string]string{"MCPBASH_SECURITY_LEVEL": level},
		})
		list, err := s.ListTools(s.deadline(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			declared := compact(t, tool.Meta["mcpbash/tool"])
			if tool.Name == "add-note" &&
				declared != `{"capabilities":["FileSystem","Edit"],"id":"notes.add","version":"1.1.0"}` {
				t.Error(declared)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %s, want %s", level, got, want)
		}
		if got := text(t, s.succeed("find-note",
			arguments{"word": "coffee"})); got != "notes/shopping.md\nnotes/town.md" {
			t.Errorf("%q: %s", level, got)
		}
	}
}

// examples/13-registry: the tool that register.json describes.
func TestRegisteredTool(t *testing.T) {
	t.Parallel()
	dir := checkout.Example(t, "13-registry")
	s := open(t, dir, opening{})
	if got := text(t, s.succeed("add-note", arguments{"title": "new",
		"text": "a 'note'\nof two lines"})); got != "notes/new.md" {
		t.Error(got)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "notes", "new.md")); err != nil ||
		string(data) != "a 'note'\nof two lines\n" {
		t.Errorf("%q, %v", data, err)
	}
	s.refuse("add-note", arguments{"title": "../../up", "text": "x"}, "validation_error")
	if got := text(t, s.succeed("find-note", arguments{"word": "LEMONS"})); got != "notes/shopping.md" {
		t.Error(got)
	}
	if got := text(t, s.succeed("find-note", arguments{"word": "-r"})); got != "no note" {
		t.Error(got)
	}
}
