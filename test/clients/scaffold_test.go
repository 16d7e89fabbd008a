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
  'ui --tool hello' test; do
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

// The generated smoke test passes with the default policy and without jq, also for a tool that was added
// late. It fails when the tool fails (CLI-605, CLI-1907).
func TestSmoke(t *testing.T) {
	t.Parallel()
	project := scaffolded(t)
	must(t, project, "mcp-bash registry refresh --quiet && mcp-bash scaffold tool late")
	before := must(t, project, "ls -A")
	for _, dir := range []string{"plain", "shown", "late"} {
		got := must(t, t.TempDir(), withoutJQ+filepath.Join(project, "tools", dir, "smoke.sh"))
		if got != "Smoke test passed for "+dir+".\n" {
			t.Errorf("%q", got)
		}
	}
	if after := must(t, project, "ls -A"); after != before {
		t.Errorf("a smoke test left something behind: %s", after)
	}
	tool := filepath.Join(project, "tools", "plain", "tool.sh")
	for script, want := range map[string]struct {
		code int
		says string
	}{
		"echo not-json":                                    {2, "Smoke test FAILED: output is not valid JSON or missing"},
		`echo '{"success":true}'`:                          {2, "Smoke test FAILED: output is not valid JSON"},
		"echo oops >&2; exit 3":                            {1, "Smoke test FAILED: tool execution error"},
		`echo '{"success":true,"result":{"message":"x"}}'`: {0, "Smoke test passed for plain."},
	} {
		write(t, "#!/bin/sh\n"+script+"\n", tool)
		output, code := typed(t, project, "tools/plain/smoke.sh")
		if code != want.code || !strings.Contains(output, want.says) {
			t.Errorf("%s: exit code %d\n%s", script, code, output)
		}
	}
	if output, code := typed(t, project, `cd / && PATH=/usr/bin:/bin "$OLDPWD/tools/plain/smoke.sh"`); code != 1 ||
		output != "mcp-bash not found; add to PATH or set MCPBASH_HOME.\n" {
		t.Errorf("without mcp-bash: %d, %s", code, output)
	}
}

// harness runs test/run.sh of a project with some tests at its end.
func harness(t *testing.T, project, tests, options string) (output string, code int) {
	t.Helper()
	run := filepath.Join(project, "test", "run.sh")
	made, err := os.ReadFile(run)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(project, "test", "own.sh")
	if err := os.WriteFile(own, append(made, tests...), 0o755); err != nil {
		t.Fatal(err)
	}
	return typed(t, project, "cd \"$TMPDIR\"; "+withoutJQ+`"$OLDPWD/test/own.sh" `+options)
}

// CLI-610, CLI-1908: the harness counts what passes, fails and is skipped, and goes on
// after each.
func TestHarness(t *testing.T) {
	t.Parallel()
	project := scaffolded(t)
	write(t, "#!/bin/sh\necho broken >&2\nexit 3\n", project, "tools", "broken", "tool.sh")
	if err := os.Chmod(filepath.Join(project, "tools", "broken", "tool.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		tests string
		code  int
		want  []string
	}{
		{"", 0, []string{"Discovering tools...\n", "Running tests...\n  plain (smoke test)... PASS\n",
			"\nResults: 2 passed, 0 failed\n"}},
		{"run_test hello\nrun_test plain '{\"name\":\"Ada\"}' 'greets'\n", 0,
			[]string{"  hello... PASS\n  plain (greets)... PASS\n", "Results: 4 passed, 0 failed\n"}},
		{`run_test broken
run_test hello '{"name":[1]}' 'a list'
run_test none
skip_test plain later
run_dry_run hello
run_dry_run hello '{"x":1}'
`, 1, []string{
			"  broken... FAIL\n", "broken\"", "  hello (a list)... FAIL\n", "Invalid arguments: /name",
			"  none... FAIL\n", "tool not found: none", "  plain (later)... SKIP\n", "  hello (dry run)... PASS\n",
			"  hello (dry run)... FAIL\n", "Results: 3 passed, 4 failed, 1 skipped\n",
		}},
	} {
		output, code := harness(t, project, tc.tests, "")
		if code != tc.code {
			t.Errorf("exit code %d, want %d\n%s", code, tc.code, output)
		}
		for _, part := range tc.want {
			if !strings.Contains(output, part) {
				t.Errorf("no %q in\n%s", part, output)
			}
		}
	}
	output, code := harness(t, project, "run_test hello\n", "-v")
	if code != 0 || !strings.Contains(output, `"message":"Hello, World!"`) {
		t.Errorf("--verbose: %d\n%s", code, output)
	}
	output, code = harness(t, project, "", "--bogus")
	if code != 2 || !strings.Contains(output, "unknown option: --bogus") {
		t.Errorf("%d\n%s", code, output)
	}

	// Where the check of the project finds an error, tests run only with --force.
	strict := "#!/bin/sh\n[ \"$1\" = validate ] && echo 'an error' && exit 1\nexec " +
		filepath.Join(bin, "mcp-bash") + " \"$@\"\n"
	write(t, strict, project, "bin", "mcp-bash")
	if err := os.Chmod(filepath.Join(project, "bin", "mcp-bash"), 0o755); err != nil {
		t.Fatal(err)
	}
	output, code = harness(t, project, "run_test hello\n", "")
	if code != 1 || !strings.Contains(output, "an error\nValidation failed.\n") || strings.Contains(output, "Results") {
		t.Errorf("%d\n%s", code, output)
	}
	for _, options := range []string{"--force", "-f"} {
		output, code := harness(t, project, "run_test hello\n", options)
		if code != 0 || !strings.Contains(output, "Results: 3 passed") {
			t.Errorf("%d\n%s", code, output)
		}
	}
}

// A session of the harness is one server process for several calls, and each call has a time limit.
// If the server dies, only the calls fail (CLI-610a).
func TestHarnessSession(t *testing.T) {
	t.Parallel()
	project := scaffolded(t)
	for name, script := range map[string]string{
		"who": "echo \"$PPID\"", "slow": "sleep 100", "kill": "kill -9 \"$PPID\"", "fails": "echo no >&2; exit 1",
		"many": `i=0; while [ $i -lt 200 ]; do echo "{\"progressToken\":1,\"id\":3}" >&2; i=$((i+1)); done; echo done`,
	} {
		write(t, "#!/bin/sh\n"+script+"\n", project, "tools", name, "tool.sh")
		if err := os.Chmod(filepath.Join(project, "tools", name, "tool.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	output, code := harness(t, project, `
mcp_session_call who '{}' early
mcp_session_start
mcp_session_call who && first=$MCP_SESSION_RESULT
mcp_session_call many
mcp_session_call hello '{
  "name": "A \"b\" \\ ü"
}' quoted && printf '%s\n' "$MCP_SESSION_RESULT"
mcp_session_call fails
mcp_session_call none '{}' 'no such tool'
mcp_session_call who '{' 'no JSON'
mcp_session_call who && [[ $MCP_SESSION_RESULT == "$first" ]] && echo 'the same server'
mcp_session_start 1 # ends the other
mcp_session_call who && [[ $MCP_SESSION_RESULT != "$first" ]] && echo 'another server'
mcp_session_call slow '{}' 'too slow'
mcp_session_call who '{}' 'after it'
mcp_session_start 15
mcp_session_call kill '{}' 'the end'
mcp_session_call who '{}' 'a dead server'
mcp_session_start
mcp_session_call who '{}' 'after all'
mcp_session_end
mcp_session_end
`, "")
	if code != 1 {
		t.Errorf("exit code %d\n%s", code, output)
	}
	for _, part := range []string{
		"  who (early)... FAIL\n    no session: call mcp_session_start first\n", "  who... PASS\n", "  many... PASS\n",
		"  hello (quoted)... PASS\n", `Hello, A \"b\" \\ ü!`, "  fails... FAIL\n", "  none (no such tool)... FAIL\n",
		"  who (no JSON)... FAIL\n    the arguments are not JSON: {\n", "\nthe same server\n", "\nanother server\n",
		"  slow (too slow)... FAIL\n    no answer within 1 seconds\n", "  who (after it)... PASS\n",
		"  kill (the end)... FAIL\n    the server ended, with exit status 137: ",
		"  who (a dead server)... FAIL\n    no session: call mcp_session_start first\n", "  who (after all)... PASS\n",
		"Results: 9 passed, 7 failed\n",
	} {
		if !strings.Contains(output, part) {
			t.Errorf("no %q in\n%s", part, output)
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
	must(t, project, "tools/same/smoke.sh")
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
