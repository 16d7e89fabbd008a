//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-bash/test/checkout"
)

// The demo runs to the end with the real server, prints no line that is too wide for the terminal, and
// leaves no files.
func TestDemo(t *testing.T) {
	server, tmp := build(t), emptyTmp(t)
	var out bytes.Buffer
	if err := run(context.Background(), server, &printer{out: &out, width: 80}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	story := out.String()
	for _, part := range []string{
		"→ initialize #1", "← result #1", "→ tools/list #2", "→ tools/call #3", "← notifications/progress",
		"← elicitation/create",
		`← error #5 {"code":-32602`, "says yes.", "4 texts, 7 lines, 44 words.", "Exit code 0.",
		"$ mcp-bash config --client claude-code --apply", "and calls todo",
		"$ mcp-bash wrap sort", "mcp_argv_switch argv .reverse --reverse",
	} {
		if !strings.Contains(story, part) {
			t.Errorf("no %q", part)
		}
	}
	for _, line := range strings.Split(story, "\n") {
		if message := strings.HasPrefix(line, "  →") || strings.HasPrefix(line, "  ←"); message &&
			utf8.RuneCountInString(line) > 80 {
			t.Errorf("wider than the terminal: %s", line)
		}
	}
	if strings.Contains(story, "\x1b") {
		t.Error("colours, though not asked for")
	}
	isEmpty(t, tmp)
	if t.Failed() {
		t.Log(story)
	}
}

// The demo fails if the server does not exist or returns wrong results.
func TestDemoFails(t *testing.T) {
	server, tmp := build(t), emptyTmp(t)
	strict := filepath.Join(filepath.Dir(server), "strict")
	if err := os.WriteFile(strict, []byte("#!/bin/sh\nMCPBASH_TOOL_ALLOWLIST=none exec '"+server+"'\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		strict + ".absent": "no such file", "/bin/cat": "calling", strict: "Tool 'count-words' blocked by policy",
	} {
		var out bytes.Buffer
		if err := run(context.Background(), name, &printer{out: &out, width: 80, colour: true}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q\n%s", name, err, want, &out)
		}
		isEmpty(t, tmp)
	}
}

func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := checkout.Build(dir, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "mcp-bash")
}

// emptyTmp is where temporary files go in this test.
func emptyTmp(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir
}

func isEmpty(t *testing.T, dir string) {
	t.Helper()
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v (%v)", list, err)
	}
}

// README.md shows the commands that the demo runs, in their order.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "```sh\n" + strings.Join(firstCommands, "\n") + "\n```\n"; !strings.Contains(string(text), want) {
		t.Errorf("README.md lacks\n%s", want)
	}
}
