//go:build unix

package clients

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// typed runs a line of shell in a directory. PATH contains our commands, and no other variable is set. It returns
// the output and the exit code.
func typed(t *testing.T, dir, line string) (printed string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	home := checkout.Directory(t)
	cmd := exec.CommandContext(ctx, "bash", "-c", "umask 022; "+line)
	cmd.Dir = dir
	path := map[string]string{"PATH": bin + ":" + os.Getenv("PATH")}
	cmd.Env = append(environment("", home, path), "MCPBASH_TOOL_ALLOWLIST=")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s: not done in time\n%s", line, out)
	}
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	killed := strings.Contains(string(out), "status 137") // such a server removes nothing
	if left := leftovers(t, home); len(left) > 0 && !killed {
		t.Errorf("%s: left behind %q", line, left)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "mcp-test.*")); len(left) > 0 {
		t.Errorf("%s: left behind %q", line, left)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// must is typed, and fails the test if the line fails.
func must(t *testing.T, dir, line string) string {
	t.Helper()
	printed, code := typed(t, dir, line)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", line, code, printed)
	}
	return printed
}

// scaffolded makes a project with one thing of each kind.
func scaffolded(t *testing.T) string {
	t.Helper()
	dir := checkout.Directory(t)
	must(t, dir, `set -e; mcp-bash new demo; cd demo
for what in 'tool plain' 'tool shown --ui' 'prompt ask' 'resource note' 'completion hosts' 'ui board' \
  'ui --tool hello'; do
  mcp-bash scaffold $what
done`)
	return filepath.Join(dir, "demo")
}

// A client can use each scaffolded item at once (cli chapters 5 and 6).
func TestScaffolded(t *testing.T) {
	t.Parallel()
	project := scaffolded(t)
	s := open(t, project, opening{})
	if info := s.InitializeResult().ServerInfo; info.Name != "demo" || info.Title != "Demo" || info.Version != "0.1.0" {
		t.Errorf("%+v", info)
	}
	tools, err := s.ListTools(s.deadline(), nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatalf("%s, %v", compact(t, tools), err)
	}
	pages := map[string]string{"hello": "ui://demo/hello", "shown": "ui://demo/shown"}
	for _, tool := range tools.Tools {
		if tool.Description == "" || tool.OutputSchema == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is not described well: %s", tool.Name, compact(t, tool))
		}
		if got, _ := ui(tool.Meta)["resourceUri"].(string); got != pages[tool.Name] {
			t.Errorf("%s has the page %q", tool.Name, got)
		}
		want := map[string]string{"hello": "Hello, Ada!"}[tool.Name]
		if want == "" {
			want = "Hello Ada"
		}
		got := compact(t, s.succeed(tool.Name, arguments{"name": "Ada"}).StructuredContent)
		if got != `{"result":{"message":"`+want+`"},"success":true}` {
			t.Errorf("%s: %s", tool.Name, got)
		}
		// CLI-502, CLI-604: arguments are validated.
		result := s.call(tool.Name, arguments{"name": []int{7}})
		if output := compact(t, result.Content); !result.IsError || !strings.Contains(output, "Invalid arguments: /name") {
			t.Errorf("%s took a list for a name: %s", tool.Name, output)
		}
	}

	prompts, err := s.ListPrompts(s.deadline(), nil)
	if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "prompt.ask" {
		t.Fatalf("%s, %v", compact(t, prompts), err) // README.md is not a prompt (CLI-606)
	}
	got := s.prompt("prompt.ask", map[string]string{"subject": "tides", "details": "For sailors."}).Messages
	text := got[0].Content.(*mcp.TextContent).Text
	if text != "Write about tides, in at most five sentences.\n\nFor sailors." {
		t.Errorf("%q", text)
	}

	resources, err := s.ListResources(s.deadline(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, r := range resources.Resources {
		uris = append(uris, r.URI)
	}
	note := "file://" + filepath.Join(project, "resources", "note", "note.txt")
	meta, err := os.ReadFile(filepath.Join(project, "resources", "note", "note.meta.json"))
	if err != nil || strings.Contains(string(meta), "mimeType") { // CLI-607: the type is detected
		t.Errorf("%s, %v", meta, err)
	}
	if want := []string{note, "ui://demo/board", "ui://demo/hello", "ui://demo/shown"}; !slices.Equal(uris, want) {
		t.Errorf("%q, want %q", uris, want)
	}
	if text := s.resource(note).Text; !strings.HasPrefix(text, "This is the resource note.") {
		t.Errorf("%q", text)
	}
	for _, uri := range uris[1:] {
		page := s.resource(uri)
		meta := compact(t, ui(page.Meta)["csp"])
		if !strings.Contains(page.Text, "<h1>"+filepath.Base(uri)+"</h1>") ||
			!strings.Contains(page.Text, "https://cdn.jsdelivr.net/npm/") ||
			meta != `{"connectDomains":["https://cdn.jsdelivr.net"],"resourceDomains":["https://cdn.jsdelivr.net"]}` {
			t.Errorf("%s: %s", uri, meta)
		}
	}

	for typed, want := range map[string][]string{
		"B": {"Beta"}, "": {"alpha", "Beta", "gamma", "delta", "epsilon", "zeta"}, "none": {}, `"$(x)'`: {},
	} {
		result, err := s.Complete(s.deadline(), &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "hosts"},
			Argument: mcp.CompleteParamsArgument{Name: "host", Value: typed},
		})
		if err != nil || !slices.Equal(result.Completion.Values, want) {
			t.Errorf("%q: %s, %v", typed, compact(t, result), err)
		}
	}
	if warnings := s.tap.messages("notifications/message"); len(warnings) > 0 {
		t.Errorf("reading the project gave %s", compact(t, warnings))
	}
}

// The completion script by itself: its defaults, and pages (CLI-609).
func TestScaffoldedCompletion(t *testing.T) {
	t.Parallel()
	project := scaffolded(t)
	for environment, want := range map[string]string{
		"":                         `{"suggestions":["alpha","Beta","gamma","delta","epsilon"],"hasMore":true,"next":5}`,
		"MCP_COMPLETION_OFFSET=5 ": `{"suggestions":["zeta"],"hasMore":false,"next":null}`,
		"MCP_COMPLETION_ARGS_JSON='{\"prefix\":\"E\"}' ": `{"suggestions":["epsilon"],"hasMore":false,"next":null}`,
		"MCP_COMPLETION_LIMIT=0 ":                        `{"suggestions":[],"hasMore":true,"next":0}`,
	} {
		if got := must(t, project, environment+"completions/hosts/completion.sh"); strings.TrimSpace(got) != want {
			t.Errorf("%s: %s, want %s", environment, got, want)
		}
	}
}

// withoutJQ has the commands behind it meet a jq that does not work.
const withoutJQ = `mkdir fake; printf '#!/bin/sh\nexit 9\n' >fake/jq; chmod 755 fake/jq
export PATH="$PWD/fake:$PATH"
`

// The case of a new tool passes with the default policy and without jq, also for a tool that was added late. It fails
// when the tool fails (CLI-605).
func TestScaffoldedCases(t *testing.T) {
	t.Parallel()
	project := scaffolded(t)
	must(t, project, "mcp-bash registry refresh --quiet && mcp-bash scaffold tool late")
	before := must(t, project, "ls -A")
	got := must(t, t.TempDir(), withoutJQ+"mcp-bash test --project-root "+project)
	for _, want := range []string{"✓ tests/hello.yaml:2 ", "✓ tests/late.yaml:2 ", "✓ tests/plain.yaml:2 ",
		"✓ tests/shown.yaml:2 ", "\n4 passed, 0 failed\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if after := must(t, project, "ls -A"); after != before {
		t.Errorf("a test left something behind: %s", after)
	}
	tool := filepath.Join(project, "tools", "plain", "tool.sh")
	for script, want := range map[string]string{
		"echo not-json": "  the call failed\n", `echo '{"success":true}'`: "  the call failed\n",
		"echo oops >&2; exit 3":                            "  the call failed\n    + oops\n",
		`echo '{"success":true,"result":{"message":"x"}}'`: "  structured/result/message\n    - \"Hello Ada\"\n    + \"x\"\n",
	} {
		write(t, "#!/bin/sh\n"+script+"\n", tool)
		output, code := typed(t, project, "mcp-bash test tests/plain.yaml")
		if code != 1 || !strings.Contains(output, want) {
			t.Errorf("%s: exit code %d\n%s", script, code, output)
		}
	}
}

// Scaffolds that run at the same time make one thing, whole (CLI-602), and lose no
// entry of register.json.
func TestScaffoldConcurrently(t *testing.T) {
	t.Parallel()
	project := scaffolded(t)
	output := must(t, project, `for i in 1 2 3 4 5 6 7 8; do
  mcp-bash scaffold tool same >"out.$i" 2>&1 & mcp-bash scaffold completion "c$i" >/dev/null &
done; wait; cat out.*; rm out.*`)
	if n := strings.Count(output, "Scaffolded tool at"); n != 1 || strings.Count(output, "same") != 8 {
		t.Errorf("%d of 8 made it:\n%s", n, output)
	}
	must(t, project, "mcp-bash test tests/same.yaml")
	var file struct{ Completions []struct{ Name string } }
	text, err := os.ReadFile(filepath.Join(project, "server.d", "register.json"))
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil || len(file.Completions) != 9 {
		t.Errorf("%s, %v", text, err)
	}
	if left := must(t, project, "find . -name '.*.new-*'"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}
