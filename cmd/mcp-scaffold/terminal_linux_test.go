package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/test/pty"
)

// CLI-707: on a terminal, the wrapper is written into the project, but does not replace a
// file. If the server's name is not a valid file name, the wrapper is printed.
func TestWrapperOnATerminal(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, bin := filepath.Join(dir, "project"), filepath.Join(dir, "bin")
	meta := filepath.Join(root, "server.d", "server.meta.json")
	for _, path := range []string{filepath.Dir(meta), bin} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "mcp-bash"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := func(name, mode string) (code int, screen string) {
		if err := os.WriteFile(meta, []byte(`{"name":"`+name+`"}`), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("mcp-scaffold", "config", mode, "--project-root", root)
		cmd.Env = append(os.Environ(), "HOME="+dir, "PATH="+os.Getenv("PATH")+":"+bin)
		code, screen = pty.Start(t, cmd).Wait()
		return code, strings.ReplaceAll(screen, "\r\n", "\n")
	}
	script := filepath.Join(root, "demo.sh")
	if code, screen := config("demo", "--wrapper"); code != 0 || screen != "Wrapper script created: "+script+"\n" {
		t.Errorf("exit code %d, %q", code, screen)
	}
	if info, err := os.Stat(script); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	want := "File already exists: " + script + "\nDelete the file and retry, or pipe to cat for stdout.\n"
	if code, screen := config("demo", "--wrapper-env"); code != 1 || screen != want {
		t.Errorf("exit code %d, %q", code, screen)
	}
	for _, name := range []string{"a/b", "aux", strings.Repeat("a", 65)} {
		want = `Server name "` + name + "\" contains invalid characters for filename.\n" +
			"Use alphanumerics, dot, underscore, dash only. Pipe to cat for stdout.\n#!/usr/bin/env bash\n"
		if code, screen := config(name, "--wrapper"); code != 0 || !strings.HasPrefix(screen, want) {
			t.Errorf("%s: exit code %d, %q", name, code, screen)
		}
	}
}

// CLI-1141: on a terminal, new asks before it creates a project inside another one.
func TestNewInsideAProjectOnATerminal(t *testing.T) {
	for answer, want := range map[string]struct {
		code int
		says string
	}{
		"\n":    {1, "new: nothing was created\n"},
		"no\n":  {1, "new: nothing was created\n"},
		"yes\n": {0, "Created project at ./inner/\n"},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "server.d"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "server.d", "server.meta.json"), []byte(`{}`), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("mcp-scaffold", "new", "inner")
		cmd.Dir = dir
		terminal := pty.Start(t, cmd)
		terminal.Expect(`Create another project inside it\? \[y/N\] `)
		terminal.Type(answer)
		code, screen := terminal.Wait()
		_, err := os.Stat(filepath.Join(dir, "inner"))
		if code != want.code || !strings.Contains(strings.ReplaceAll(screen, "\r\n", "\n"), want.says) ||
			(err == nil) != (want.code == 0) {
			t.Errorf("%q: exit code %d, %v\n%s", answer, code, err, screen)
		}
	}
}

// WRAP-27: on a terminal, the person picks the options of a tool.
func TestPickOptions(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const program = "#!/bin/sh\nprintf 'Usage: brew [OPTION]...\\n\\n  -a, --all  show all\\n  -b, --bee  show bees\\n" +
		"  -c, --config FILE  settings\\n  -d, --dee  show dees\\n'\n"
	for name, text := range map[string]string{"server.d/server.meta.json": `{"name":"x"}`, "brew": program} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	picks := func() *pty.Session {
		cmd := exec.Command("mcp-scaffold", "wrap", "./brew")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
		return pty.Start(t, cmd)
	}
	terminal := picks()
	terminal.Expect("Enter to accept: ")
	terminal.Type("\x03") // Ctrl-C
	if code, screen := terminal.Wait(); code != 130 || !strings.Contains(screen, "^C\r\n") {
		t.Errorf("Ctrl-C: exit code %d\n%s", code, screen)
	}
	terminal = picks()
	terminal.Expect(`\[x\]   1  --all.*\n\[x\]   2  --bee.*\n\[x\]   3  --config .*\n\[x\]   4  --dee`)
	terminal.Expect("Enter to accept: ")
	terminal.Type("9\n")
	terminal.Expect("9 is not a number from 1 to 4")
	terminal.Type("1-2\n")
	terminal.Expect(`\[ \]   1  --all.*\n\[ \]   2  --bee`)
	terminal.Type("\n")
	code, screen := terminal.Wait()
	meta, err := os.ReadFile(filepath.Join(dir, "tools", "brew", "tool.meta.json"))
	if code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, screen)
	}
	for name, offered := range map[string]bool{"all": false, "bee": false, "config": true, "dee": true} {
		if strings.Contains(string(meta), `"`+name+`": {`) != offered {
			t.Errorf("%s: %v is wrong\n%s", name, !offered, meta)
		}
	}
}

// ADD-50: on a terminal, the user decides whether scripts that seem to change nothing are tried without arguments.
func TestConfirmedTrials(t *testing.T) {
	if confine.Offered().None() {
		t.Skip("this kernel cannot confine scripts")
	}
	for answer, want := range map[string]struct{ rows, recorded string }{
		"\n":  {"lists    lists.sh    -", ""},
		"y\n": {"lists    lists.sh    ✓", `"arguments": {}`},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "scripts"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"lists.sh": "ls\n", "changes.sh": "date >made\n", "needs.sh": "cat \"${1:?file}\"\n",
			"asks.sh": "read -p 'Sure? ' a\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, "scripts", name), []byte("#!/bin/bash\n"+text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("mcp-scaffold", "new", "made", "--from", "scripts")
		cmd.Dir = dir
		p := pty.Start(t, cmd)
		p.Expect(`without arguments: lists\r\n`)
		p.Expect(`\[y/N\]`)
		p.Type(answer)
		code, screen := p.Wait()
		if code != 0 || !strings.Contains(screen, want.rows) {
			t.Errorf("%q: exit code %d, %q", answer, code, screen)
		}
		text, err := os.ReadFile(filepath.Join(dir, "made", "tools", "lists", "tool.meta.json"))
		if err != nil || !strings.Contains(string(text), want.recorded) ||
			want.recorded == "" && strings.Contains(string(text), `"trial"`) {
			t.Errorf("%q: %v, %s", answer, err, text)
		}
	}
}
