//go:build unix

package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-1041, CLI-1003: nothing is wrong with our examples, nor with what our scaffolds make.
func TestValidate(t *testing.T) {
	t.Parallel()
	projects := map[string]string{"scaffolded": scaffolded(t)}
	list, err := os.ReadDir(filepath.Join(checkout.Root(), "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.IsDir() {
			projects[e.Name()] = checkout.Example(t, e.Name())
		}
	}
	for name, dir := range projects {
		printed, code := typed(t, dir, "mcp-bash validate --run-samples --no-shellcheck")
		for line := range strings.Lines(printed) {
			if strings.HasPrefix(line, "✗") || strings.HasPrefix(line, "⚠") {
				t.Errorf("%s: %s", name, line)
			}
		}
		if code != 0 {
			t.Errorf("%s: exit code %d\n%s", name, code, printed)
		}
	}
}

// CLI-1009: validate agrees with the server. The server lists an item without findings, and does not list
// an item with an error.
func TestValidateAgreesWithTheServer(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, "mcp-bash new demo --no-hello")
	dir = filepath.Join(dir, "demo")
	for name, meta := range map[string]string{
		"right": `{"name":"demo-right","description":"x"}`, "unnamed": `{"name":"","description":"x"}`,
		"long": fmt.Sprintf(`{"name":%q,"description":"x"}`, strings.Repeat("x", 129)),
		"a":    `{"name":"demo-same","description":"x"}`, "b": `{"name":"demo-same","description":"x"}`,
	} {
		write(t, meta, dir, "tools", name, "tool.meta.json")
		write(t, "#!/usr/bin/env bash\n", dir, "tools", name, "tool.sh")
	}
	must(t, dir, "chmod +x tools/*/tool.sh")
	printed, code := typed(t, dir, "mcp-bash validate --json --no-shellcheck")
	var report struct {
		Errors   int
		Messages []struct{ ID, Path, Level, Message string }
	}
	if err := json.Unmarshal([]byte(printed), &report); err != nil || code != 1 {
		t.Fatalf("%v, exit code %d: %s", err, code, printed)
	}
	faulty := map[string]bool{}
	for _, m := range report.Messages {
		if m.Level == "error" {
			faulty[m.ID] = true
		}
	}
	var listed struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(must(t, dir, "mcp-bash request tools/list")), &listed); err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for _, tool := range listed.Tools {
		names[tool.Name]++
	}
	if names["demo-right"] != 1 || names["demo-same"] != 1 || len(names) != 2 || !faulty["name.duplicate"] ||
		!faulty["name.unusable"] || !faulty["metadata.no_name"] || report.Errors != 4 {
		t.Errorf("listed %v; errors %v, %+v", names, faulty, report)
	}
}
