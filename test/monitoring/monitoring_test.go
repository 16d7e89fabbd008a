package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/metrics"
)

// exposition returns the text of a server with one call.
func exposition() string {
	m := metrics.New("1")
	m.Emit(&events.Event{
		Type: events.ToolCall, Target: events.Target{Method: "tools/call", Name: "hello"},
		Work: events.Work{Took: time.Second, Ended: true},
	})
	return string(m.AppendText(nil, metrics.Reading{Uses: []metrics.Use{{Limit: "tasks", Most: 1}}}))
}

// The dashboard and the rules use metrics that the server has.
func TestNames(t *testing.T) {
	text := exposition()
	for _, file := range []string{"alerts.yaml", "dashboard.json"} {
		content, err := os.ReadFile(filepath.Join(Folder(), file))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`\bmcp(_server|bash)_\w+`).FindAllString(string(content), -1)
		if len(found) < 5 {
			t.Errorf("%s: %d metrics", file, len(found))
		}
		for _, name := range found {
			if !regexp.MustCompile(`(?m)^` + name + `[ {]`).MatchString(text) {
				t.Errorf("%s: the server has no %s", file, name)
			}
		}
	}
}

// The panels of the dashboard have different ids, and queries.
func TestDashboard(t *testing.T) {
	seen := map[int]bool{}
	for _, p := range Panels(t) {
		if seen[p.ID] || len(p.Targets) == 0 {
			t.Errorf("id %d twice, or without a query", p.ID)
		}
		seen[p.ID] = true
	}
	if len(seen) == 0 {
		t.Error("no panels")
	}
}

// promtool accepts the text, and the rules raise the alerts that their tests expect.
func TestPromtool(t *testing.T) {
	promtool := Program(t, "promtool")
	for _, args := range [][]string{
		{"check", "metrics"}, {"check", "rules", filepath.Join(Folder(), "alerts.yaml")},
		{"test", "rules", "alerts-cases.yaml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Stdin = strings.NewReader(exposition())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
