package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mcp-bash/pkg/project"
)

// toolTree makes a project of n tools as scaffolds make them.
func toolTree(tb testing.TB, n int) *project.Project {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		dir := filepath.Join(root, "tools", fmt.Sprintf("%05d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, "tool.sh"), []byte("#!/usr/bin/env bash\nset -euo pipefail\nsource \"${MCP_SDK}/tool-sdk.sh\"\nmcp_emit_text hello\n"), 0o755)
		os.WriteFile(filepath.Join(dir, "tool.meta.json"), fmt.Appendf(nil, `{
  "name": "tool-%05d",
  "description": "Tool number %d does something useful with its arguments",
  "inputSchema": {
    "type": "object",
    "properties": {
      "path": {"type": "string", "description": "Where to look"},
      "depth": {"type": "integer", "minimum": 0, "maximum": 10},
      "verbose": {"type": "boolean", "default": false}
    },
    "required": ["path"]
  },
  "timeoutSecs": 30,
  "annotations": {"readOnlyHint": true}
}
`, i, i), 0o644)
	}
	return project.Open(root, project.Env{}, root, func(string) {})
}

var benchSizes = []int{10, 10000}

// A later process finds files that changed long ago.
func later() time.Time { return time.Now().Add(time.Hour) }

// BenchmarkCold is a refresh of a project without .registry.
func BenchmarkCold(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := toolTree(b, n)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				os.RemoveAll(p.Registry)
				b.StartTimer()
				refreshed(b, p, n)
			}
		})
	}
}

// BenchmarkUnchanged is a refresh in a new process that finds all as it was.
func BenchmarkUnchanged(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := toolTree(b, n)
			refreshed(b, p, n)
			refreshed(b, p, n)
			b.ReportAllocs()
			for b.Loop() {
				refreshed(b, p, n)
			}
		})
	}
}

func refreshed(tb testing.TB, p *project.Project, n int) {
	c := NewCatalog(p, Options{Now: later})
	report, err := c.Refresh(context.Background(), RefreshOptions{})
	if err != nil || report.Kinds[0].Count != n {
		tb.Fatalf("%s, %v", report.AppendJSON(nil), err)
	}
}

// BenchmarkFirstList is what a starting server waits for its list of tools.
func BenchmarkFirstList(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := toolTree(b, n)
			refreshed(b, p, n)
			refreshed(b, p, n)
			b.ReportAllocs()
			for b.Loop() {
				if list, err := NewCatalog(p, Options{Now: later}).List(context.Background(), Tools); err != nil || len(list.Items) != n {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck is what a running server pays once in a TTL.
func BenchmarkCheck(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := toolTree(b, n)
			c := NewCatalog(p, Options{Now: later})
			c.Changes(context.Background(), Poll{})
			b.ReportAllocs()
			for b.Loop() {
				c.Changes(context.Background(), Poll{Fresh: true})
			}
		})
	}
}

// BenchmarkAsked is what each message costs between two checks.
func BenchmarkAsked(b *testing.B) {
	p := toolTree(b, 10)
	c := NewCatalog(p, Options{})
	c.Changes(context.Background(), Poll{})
	b.ReportAllocs()
	for b.Loop() {
		c.Changes(context.Background(), Poll{})
		c.List(context.Background(), Tools)
	}
}

// BenchmarkLoad is the reading of a registry file in static mode.
func BenchmarkLoad(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := toolTree(b, n)
			refreshed(b, p, n)
			p.Discovery.Static = true
			b.ReportAllocs()
			for b.Loop() {
				if list, err := NewCatalog(p, Options{}).List(context.Background(), Tools); err != nil || len(list.Items) != n {
					b.Fatal(err)
				}
			}
		})
	}
}
