//go:build programs

package programs

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// expected are calls whose answers are known: what the program has to print with these arguments.
var expected = map[string]struct {
	arguments map[string]any
	text      string
}{
	"sort":         {map[string]any{"reverse": true, "stdin": "a\nc\nb\n"}, "c\nb\na\n"},
	"head":         {map[string]any{"lines": "1", "stdin": "a\nb\n"}, "a\n"},
	"cut":          {map[string]any{"delimiter": ":", "fields": "2", "stdin": "a:b:c\n"}, "b\n"},
	"grep":         {map[string]any{"patterns": "-b", "stdin": "a\n-b\n"}, "-b\n"},
	"gofmt":        {map[string]any{"path": []string{"p.go"}}, "package p\n"},
	"num2words":    {map[string]any{"number": "42", "lang": "en"}, "forty-two"},
	"busybox-sort": {map[string]any{"r": true, "file": []string{"data"}}, "b\na\n"},
	"busybox-grep": {map[string]any{"pattern": "b", "file": []string{"data"}}, "b\n"},
	"js-yaml":      {map[string]any{"file": "y.yaml"}, "{\n  \"a\": [\n"},
	"semver":       {map[string]any{"version": []string{"1.2.3"}, "increment": "minor"}, "1.3.0\n"},
}

// WRAP-50: for each of the programs the tool validates, its smoke test passes, and a client calls
// it: with what is required, with its first switch, and with values that try to be more.
func TestTools(t *testing.T) {
	path, manPath := place(t)
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", "../../cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+":"+path, "MANPATH="+manPath, "HOME="+dir,
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
		"MCPBASH_TOOL_ALLOWLIST=*", "http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9",
		"GIT_TERMINAL_PROMPT=0",
		"MCPBASH_TOOL_ENV_MODE=allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST=PYTHONPATH,LD_LIBRARY_PATH,http_proxy,https_proxy")
	run := func(in string, words ...string) string {
		t.Helper()
		cmd := exec.Command(words[0], words[1:]...)
		if !strings.Contains(words[0], "/") {
			cmd.Path = filepath.Join(bin, words[0])
			cmd.Err = nil
		}
		cmd.Dir, cmd.Env = in, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(words, " "), err, out)
		}
		return string(out)
	}
	run(dir, "mcp-scaffold", "new", "demo", "--no-hello")
	project := filepath.Join(dir, "demo")
	files, _ := filepath.Glob("facts/*")
	var names []string
	for _, file := range files {
		command, _, _ := facts(t, file)
		run(project, append([]string{"mcp-scaffold", "wrap"}, command...)...)
		name := strings.ReplaceAll(strings.Join(command, "-"), ".", "-")
		names = append(names, name)
		run(project, filepath.Join(project, "tools", name, "smoke.sh"))
	}
	if report := run(project, "mcp-doctor", "validate", "--json"); !strings.Contains(report, `"errors":0`) ||
		strings.Contains(report, "requirements.missing") {
		t.Error(report)
	}

	for name, text := range map[string]string{"p.go": "package  p\n", "data": "a\nb\n", "y.yaml": "a: [1]\n"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command(filepath.Join(bin, "mcp-bash"))
	server.Dir, server.Env = project, append(env, "MCPBASH_PROJECT_ROOT="+project)
	client := mcp.NewClient(&mcp.Implementation{Name: "programs-test", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		if !slices.Contains(names, tool.Name) {
			t.Errorf("%s is no tool of ours", tool.Name)
		}
		schema, excluded := properties(t, tool)
		calls := []map[string]any{sample(schema, ""), sample(schema, "switch"), sample(schema, "hostile")}
		for _, arguments := range calls {
			for name := range arguments {
				for other := range excluded[name] {
					if name < other {
						delete(arguments, other)
					}
				}
			}
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: arguments})
			if err != nil {
				// The tool refuses a value that could be an option; nothing else is an error here.
				if !strings.Contains(err.Error(), "begins with a dash") {
					t.Errorf("%s %v: %v", tool.Name, arguments, err)
				}
				continue
			}
			if text := said(result); strings.Contains(text, "Invalid arguments") || strings.Contains(text, "timed out") ||
				strings.Contains(text, "unbound variable") {
				t.Errorf("%s %v: %s", tool.Name, arguments, text)
			}
		}
		if want, ok := expected[tool.Name]; ok {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: want.arguments})
			if err != nil || result.IsError || !strings.HasPrefix(said(result), want.text) {
				t.Errorf("%s %v: %v %q, not %q", tool.Name, want.arguments, err, said(result), want.text)
			}
		}
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(d.Name(), "PWNED") && d.Name() == "PWNED" {
			t.Errorf("%s is there", path)
		}
		return nil
	})
	t.Logf("%d tools, %d calls each", len(listed.Tools), 3)
}

// A property is as much of a schema as it takes to make a value.
type property struct {
	name     string
	required bool
	Type     any
	Enum     []any
	Items    *property
}

// properties are those of a tool's arguments, and which of them exclude each other.
func properties(t *testing.T, tool *mcp.Tool) (list []property, excluded map[string]map[string]any) {
	t.Helper()
	text, err := json.Marshal(tool.InputSchema)
	var schema struct {
		Properties map[string]property
		Required   []string

		DependentSchemas map[string]struct{ Properties map[string]any }
	}
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range schema.Properties {
		p.name, p.required = name, slices.Contains(schema.Required, name)
		list = append(list, p)
	}
	excluded = map[string]map[string]any{}
	for name, s := range schema.DependentSchemas {
		excluded[name] = s.Properties
	}
	slices.SortFunc(list, func(a, b property) int { return strings.Compare(a.name, b.name) })
	return list, excluded
}

// sample are arguments that fit: what is required, and with "switch" the first switch, with
// "hostile" a text for everything that takes one.
func sample(list []property, how string) map[string]any {
	arguments := map[string]any{}
	switched := false
	for _, p := range list {
		text := "sample"
		if how == "hostile" {
			text = "$(touch PWNED)'\"; touch PWNED\n--PWNED"
		}
		value := p.value(text)
		switch isText := value == any(text); {
		case p.required, how == "hostile" && isText:
			arguments[p.name] = value
		case how == "switch" && p.Type == "boolean" && !switched:
			arguments[p.name], switched = true, true
		}
	}
	return arguments
}

func (p property) value(text string) any {
	kind := fmt.Sprint(p.Type)
	switch {
	case len(p.Enum) > 0:
		return p.Enum[0]
	case kind == "array":
		return []any{p.Items.value(text)}
	case kind == "integer", kind == "number":
		return 1
	case kind == "boolean":
		return true
	}
	return text
}

// said is the text of a result.
func said(result *mcp.CallToolResult) string {
	var parts []string
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}
