//go:build programs

package programs

import (
	"os"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/usage/ask"
	"mcp-bash/pkg/scaffold/wrap"
)

// WRAP-54: a tool offers what people use. Each line of used is a command line and the options of
// it that its users give most, written down by hand.
func TestUsed(t *testing.T) {
	path, _ := place(t)
	text, err := os.ReadFile("used")
	if err != nil {
		t.Fatal(err)
	}
	asker, err := ask.New(path)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	dir := t.TempDir()
	p := &project.Project{Root: dir}
	var offered, used int
	for line := range strings.Lines(string(text)) {
		command := strings.Fields(line)
		at := 0
		for !strings.HasPrefix(command[at], "-") {
			at++
		}
		answer, err := asker.Program(t.Context(), command[:at])
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		plan, err := scaffold.NewPlan(p, answer, command[:at], "", wrap.Selection{Max: 15})
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		var missing []string
		for _, name := range command[at:] {
			used++
			if plan.Offers(name) {
				offered++
			} else {
				missing = append(missing, name)
			}
		}
		t.Logf("%s: %d not offered: %v", strings.Join(command[:at], " "), len(missing), missing)
	}
	t.Logf("%d of %d (%.1f%%)", offered, used, percent(offered, used))
	if percent(offered, used) < 85 {
		t.Error("less than 85 % of what people use is offered")
	}
}
