package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

// toolTree makes a project of n tools, each like a scaffolded one.
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
		os.WriteFile(filepath.Join(dir, "tool.sh"), []byte("#!/usr/bin/env bash\nset -euo pipefail\nsource \"${MCP_SDK}"+
			"/tool-sdk.sh\"\nmcp_emit_text hello\n"), 0o755)
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

// mixedTree makes a project of n items of all kinds. Half of them are tools. The others are
// resources, templates, prompts, completions and pages.
func mixedTree(tb testing.TB, n int) *project.Project {
	tb.Helper()
	p := toolTree(tb, n/2)
	put := func(name, text string) {
		file := filepath.Join(p.Root, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	completions := `{"version":1,"completions":[`
	for i := range n / 2 {
		dir := fmt.Sprintf("%02d", i%100)
		switch at := fmt.Sprintf("%s/%05d", dir, i); i % 10 {
		case 0, 1, 2, 3:
			put("resources/"+at+".md", "# Notes\n\nSomething to read.\n")
			if i%10 < 2 {
				put("resources/"+at+".meta.json", fmt.Sprintf(`{"name":"notes-%05d","description":"Notes number %d",`+
					`"annotations":{"audience":["user"]}}`, i, i))
			}
		case 4, 5:
			put("resources/"+at+".meta.json", fmt.Sprintf(`{"name":"logs-%05d","description":"Log files",`+
				`"uriTemplate":"file:///var/log/%d/{service}/{date}.log"}`, i, i))
		case 6, 7:
			put("prompts/"+at+".txt", "Summarise {{text}}\n")
			put("prompts/"+at+".meta.json", fmt.Sprintf(`{"name":"summarise-%05d","arguments":{"type":"object",`+
				`"properties":{"text":{"type":"string"}}}}`, i))
		case 8:
			put(fmt.Sprintf("ui/%05d/index.html", i), "<p>")
		case 9:
			put(fmt.Sprintf("completions/%d.sh", i), "")
			completions += fmt.Sprintf(`{"name":"c-%05d","path":"completions/%d.sh"},`, i, i)
		}
	}
	put("server.d/register.json", strings.TrimSuffix(completions, ",")+"]}")
	return p
}

var benchSizes = []int{10, 10000}

// later returns a time at which all files have changed long ago.
func later() time.Time { return time.Now().Add(time.Hour) }

// BenchmarkCold measures a refresh of a project without .registry.
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

// BenchmarkUnchanged measures a refresh of an unchanged project in a new process.
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

// BenchmarkMixed measures a refresh of 10,000 items of all kinds: without .registry, with an
// unchanged .registry, and in a running process.
func BenchmarkMixed(b *testing.B) {
	const n = 10000
	p := mixedTree(b, n)
	refresh := func(b *testing.B) {
		report, err := NewCatalog(p, Options{Now: later}).Refresh(context.Background(), RefreshOptions{})
		total := 0
		for _, k := range report.Kinds {
			total += k.Count
		}
		if err != nil || total != n {
			b.Fatalf("%s, %v", report.AppendJSON(nil), err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			os.RemoveAll(p.Registry)
			b.StartTimer()
			refresh(b)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		refresh(b)
		b.ReportAllocs()
		for b.Loop() {
			refresh(b)
		}
	})
	b.Run("check", func(b *testing.B) {
		c := NewCatalog(p, Options{Now: later})
		c.Changes(context.Background(), Poll{})
		b.ReportAllocs()
		for b.Loop() {
			c.Changes(context.Background(), Poll{Fresh: true})
		}
	})
}

// BenchmarkFirstList measures the first list of tools of a new process.
func BenchmarkFirstList(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := toolTree(b, n)
			refreshed(b, p, n)
			refreshed(b, p, n)
			b.ReportAllocs()
			for b.Loop() {
				if list, err := NewCatalog(p, Options{Now: later}).List(context.Background(),
					kinds.Tools); err != nil || len(list.Items) != n {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck measures the check of a running server after a TTL.
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

// BenchmarkAsked measures the work for each message between two checks.
func BenchmarkAsked(b *testing.B) {
	p := toolTree(b, 10)
	c := NewCatalog(p, Options{})
	c.Changes(context.Background(), Poll{})
	b.ReportAllocs()
	for b.Loop() {
		c.Changes(context.Background(), Poll{})
		c.List(context.Background(), kinds.Tools)
	}
}

// BenchmarkLoad measures the reading of a registry file in static mode.
func BenchmarkLoad(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := toolTree(b, n)
			refreshed(b, p, n)
			p.Discovery.Static = true
			b.ReportAllocs()
			for b.Loop() {
				if list, err := NewCatalog(p, Options{}).List(context.Background(),
					kinds.Tools); err != nil || len(list.Items) != n {
					b.Fatal(err)
				}
			}
		})
	}
}
