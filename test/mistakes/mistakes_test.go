// Package mistakes tests how the commands, as they are shipped, explain common mistakes of authors. validate finds a
// mistake before the tool runs, and run-tool and the server explain it in the result (CLI-1050 to CLI-1062, T-400 to
// T-412).
package mistakes

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"mcp-bash/test/checkout"
)

// bin has the commands.
var bin string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		bin = dir
		return checkout.Build(dir, checkout.Commands)
	}))
}

// patience is the time for a command.
const patience = 2 * time.Minute

// base are the files of every project. An archive can replace them.
var base = []txtar.File{
	{Name: "server.d/server.meta.json", Data: []byte(`{"name":"demo","version":"1.0.0"}`)},
	{Name: "tools/my_tool/tool.meta.json", Data: []byte(
		`{"name":"my_tool","description":"A tool","inputSchema":{"type":"object","properties":{}}}`)},
	{Name: "tools/my_tool/tool.sh", Data: []byte("#!/usr/bin/env bash\necho hello\n")},
}

// TestMistakes runs the commands of each archive in a project with its files. The comment of an archive has commands
// after "$ ". The output of a command has the lines that follow it, in this order. A line after "! " is not in it. The
// command "call METHOD PARAMS" prints what a client gets.
func TestMistakes(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			t.Parallel()
			content, err := txtar.ParseFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			dir := checkout.Directory(t)
			for _, file := range append(base[:len(base):len(base)], content.Files...) {
				put(t, filepath.Join(dir, file.Name), file.Data)
			}
			for command := range strings.SplitSeq("\n"+string(content.Comment), "\n$ ") {
				line, want, _ := strings.Cut(command, "\n")
				if line != "" {
					expect(t, line, run(t, dir, line), want)
				}
				if line == "mcp-runtool my_tool --allow-self" {
					testCase(t, dir, want)
				}
			}
		})
	}
}

// testCase runs a test case of the tool. It prints the warnings of run-tool, and the result of a tool that fails.
func testCase(t *testing.T, dir, want string) {
	t.Helper()
	put(t, filepath.Join(dir, "tests/my_tool.yaml"), []byte("tool: my_tool\n"))
	defer os.RemoveAll(filepath.Join(dir, "tests"))
	const line = "mcp-bash test"
	out := run(t, dir, line)
	for wanted := range strings.Lines(want) {
		_, message, isWarning := strings.Cut(wanted, "run-tool: warning: mcp.tools: ")
		if _, text, isOfTool := strings.Cut(message, "Tool 'my_tool': "); isOfTool {
			message = text
		}
		switch {
		case isWarning:
			expect(t, line, out, message)
		case strings.Contains(out, "1 failed"):
			expect(t, line, out, wanted)
		}
	}
}

func put(t *testing.T, file string, data []byte) {
	t.Helper()
	mode := os.FileMode(0o644)
	if strings.HasSuffix(file, ".sh") {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, mode); err != nil {
		t.Fatal(err)
	}
}

// run returns the output of a command. After a line of JSON it has its strings as lines, as a model and an author read
// them.
func run(t *testing.T, dir, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	settings, request, isCall := strings.Cut(line, "call ")
	if isCall {
		line = settings + "mcp-bash"
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.WaitDelay = time.Second // for a server that was started by mistake
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir + "/.home", "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8",
		"XDG_CACHE_HOME=" + filepath.Join(bin, "cache"), "MCPBASH_PROJECT_ROOT=" + dir, "MCPBASH_TOOL_ALLOWLIST=*",
	}
	var out strings.Builder
	cmd.Stderr = &out
	if isCall {
		converse(t, cmd, request, &out)
	} else {
		cmd.Stdout = &out
		cmd.Run() // the exit status is not tested here
	}
	if ctx.Err() != nil {
		t.Fatalf("%s: %v\n%s", line, ctx.Err(), out.String())
	}
	var b strings.Builder
	for line := range strings.Lines(out.String()) {
		b.WriteString(line)
		appendStrings(&b, json.RawMessage(line))
	}
	return b.String()
}

// converse starts a server, sends a request, and adds the lines of the server to out.
func converse(t *testing.T, cmd *exec.Cmd, request string, out *strings.Builder) {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	method, params, _ := strings.Cut(request, " ")
	fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		out.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"id":1,`) {
			stdin.Close()
		}
	}
	cmd.Wait() // the exit status is not tested here
	out.WriteString(stderr.String())
}

// appendStrings writes each string of a JSON value on a line.
func appendStrings(b *strings.Builder, v json.RawMessage) {
	var text string
	var list []json.RawMessage
	object := map[string]json.RawMessage{}
	switch {
	case json.Unmarshal(v, &text) == nil:
		b.WriteString(text + "\n")
	case json.Unmarshal(v, &list) == nil:
		for _, e := range list {
			appendStrings(b, e)
		}
	case json.Unmarshal(v, &object) == nil:
		for _, e := range object {
			appendStrings(b, e)
		}
	}
}

// expect reports the lines of want that an output lacks.
func expect(t *testing.T, command, out, want string) {
	t.Helper()
	for line := range strings.Lines(want) {
		line = strings.TrimRight(line, "\n")
		unwanted, isUnwanted := strings.CutPrefix(line, "! ")
		switch {
		case line == "":
		case isUnwanted && strings.Contains(out, unwanted):
			t.Errorf("%s prints %q:\n%s", command, unwanted, out)
		case !isUnwanted && !strings.Contains(out, line):
			t.Errorf("%s does not print %q:\n%s", command, line, out)
		}
	}
}
