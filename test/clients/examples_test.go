//go:build unix

package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// tools lists the tools of each example. A test of this package or of test/npm calls each of them.
var tools = map[string][]string{
	"00-hello":          {"hello"},
	"01-arguments":      {"box", "convert"},
	"02-progress":       {"checksums", "countdown"},
	"03-roots":          {"list-files", "read-file", "show-roots"},
	"04-embedded":       {"attach", "swatch"},
	"05-elicitation":    {"link-account", "order-pizza", "sign-up"},
	"06-wrap-cli":       {"audit", "stock"},
	"07-download":       {"fetch"},
	"08-any-language":   {"letters", "primes"},
	"09-resources":      nil,
	"10-provider":       nil,
	"11-prompts":        nil,
	"12-completion":     nil,
	"14-mcp-app":        {"board", "move-card", "roll-dice"},
	"13-registry":       {"add-note", "find-note"},
	"15-asking":         {"folders", "release", "summarize"},
	"16-wrapped":        {"cut", "find", "grep", "sort", "wc"},
	"17-strangers-tool": {"word-count"},
	"18-library":        {"find-book", "reserve-book"},
	"19-plugin":         {"count-files"},
	"20-long-calls":     {"show-job", "start-job", "wait-for-file", "task_status", "task_wait", "task_cancel"},
	"21-large-results":  {"requests", "result_search"},
}

// Each example with tools has test cases, which pass (CLI-2101). One needs a network.
func TestExampleCases(t *testing.T) {
	t.Parallel()
	for name, offered := range tools {
		if offered == nil || name == "07-download" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must(t, checkout.Example(t, name), "mcp-bash test")
		})
	}
}

// Every example is known here, is complete, and lists exactly its tools as its
// server.d/server.meta.json introduces it (P-200; R-41).
func TestExamples(t *testing.T) { withAll(t, testExamples) }

func testExamples(t *testing.T, protocol string) {
	t.Parallel()
	found, err := filepath.Glob(filepath.Join(checkout.Root(), "examples", "*", "server.d", "server.meta.json"))
	if err != nil || len(found) != len(tools) {
		t.Fatalf("%d examples, %d are known here (%v)", len(found), len(tools), err)
	}
	for name, want := range tools {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(checkout.Root(), "examples", name)
			var meta struct {
				Name, Title, Version, Description string
				ValidateInput                     bool
			}
			data, err := os.ReadFile(filepath.Join(dir, "server.d", "server.meta.json"))
			if err == nil {
				err = json.Unmarshal(data, &meta)
			}
			if err != nil || !meta.ValidateInput || meta.Description == "" {
				t.Fatalf("%+v, %v", meta, err)
			}
			checkReadme(t, dir, want)

			s := open(t, checkout.Example(t, name), opening{revision: protocol})
			info := s.InitializeResult().ServerInfo
			if info.Name != meta.Name || info.Title != meta.Title || info.Version != meta.Version {
				t.Errorf("%+v, want %+v", info, meta)
			}
			list, err := s.ListTools(s.deadline(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tool := range list.Tools {
				got = append(got, tool.Name)
				if tool.Title == "" || tool.Description == "" || tool.Annotations == nil && name != "05-elicitation" {
					t.Errorf("%s is not described well: %s", tool.Name, compact(t, tool))
				}
			}
			if !slices.Equal(got, want) { // in order of name; TASK-21
				t.Errorf("%q, want %q", got, want)
			}
			if warnings := s.tap.messages("notifications/message"); len(warnings) > 0 {
				t.Errorf("reading the project gave %s", compact(t, warnings))
			}
		})
	}
}

// checkReadme: the page of an example shows each of its tools, and how a client
// starts it.
func checkReadme(t *testing.T, dir string, tools []string) {
	data, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	parts := append([]string{"mcpServers", filepath.Base(dir)}, tools...)
	if len(tools) > 0 {
		parts = append(parts, "MCPBASH_TOOL_ALLOWLIST")
	}
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("README.md does not mention %s", part)
		}
	}
}

// Programs are executable, and so are only they (T-43).
func TestModes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"examples", "test/clients/testdata", "test/demo/project"} {
		programs := 0
		err := filepath.WalkDir(filepath.Join(checkout.Root(), filepath.FromSlash(name)),
			func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				info, err := d.Info()
				if err != nil {
					return err
				}
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if program, mode := strings.HasPrefix(string(data), "#!"),
					info.Mode().Perm(); program != (mode&0o111 != 0) {
					t.Errorf("%s has mode %o", path, mode)
				} else if program {
					programs++
				}
				return nil
			})
		if err != nil || programs == 0 {
			t.Errorf("%s: %d programs, %v", name, programs, err)
		}
	}
}
