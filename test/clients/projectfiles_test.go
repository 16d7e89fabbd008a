//go:build unix

package clients

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// full is a project that has every file the server reads.
var full = map[string]string{
	"server.d/server.meta.json":       `{"name":"full","icons":[{"src":"icon.svg"}]}`,
	"server.d/server.instructions.md": "Be kind.",
	"server.d/icon.svg":               "<svg/>",
	"server.d/.debug":                 "",
	"server.d/register.json":          `{"version":1}`,
	"server.d/policy.sh":              "mcp_tools_policy_check() { :; }",
	"server.d/env.sh":                 "export SEEN=1",
	"VERSION":                         "1.2.3",
	"package.json":                    `{"version":"1.2.3"}`,
	"config/roots.json":               `{"roots":[{"path":"."}]}`,
	"tools/hello/tool.sh":             "#!/bin/sh\necho hello\n",
	"tools/hello/tool.meta.json":      `{"name":"hello","icons":[{"src":"icon.png"}]}`,
	"tools/hello/icon.png":            "png",
	"tools/hello/ui/index.html":       "<html></html>",
	"tools/hello/ui/ui.meta.json":     "{}",
	"prompts/haiku.txt":               "A haiku",
	"prompts/haiku.meta.json":         `{"name":"haiku"}`,
	"prompts/haiku.completion.sh":     "#!/bin/sh\necho '[]'\n",
	"resources/note.txt":              "note",
	"resources/note.meta.json":        `{"name":"note"}`,
	"providers/ours.sh":               "#!/bin/sh\necho ours\n",
	"resources/ours.meta.json":        `{"name":"ours","uriTemplate":"ours://{x}"}`,
	".registry/tools.json":            "{}",
	".registry/.lock":                 "",
}

// reported contains the messages on standard error about files that the server rejects, with the reason
// after each. Other files appear in results and logs, or are optional.
var reported = map[string]string{
	"server.d/server.meta.json":       "mcp-bash: ignoring server.d/server.meta.json: ",
	"server.d/server.instructions.md": "mcp-bash: ignoring server.d/server.instructions.md: ",
	"server.d/icon.svg":               "icon icon.svg: ",
	"VERSION":                         "mcp-bash: ignoring VERSION: ",
	"package.json":                    "mcp-bash: ignoring package.json: ",
}

// Anything may replace a file of the project. The server still starts, answers every request and ends on a
// signal, and never returns content from elsewhere (P-114, P-905).
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	const secret = "the-secret"
	for k, kind := range []struct {
		name   string
		put    func(path, outside string) error
		reason string
	}{
		{"FIFO", func(path, _ string) error { return syscall.Mkfifo(path, 0o755) }, "not a regular file"},
		{"device", func(path, _ string) error { return os.Symlink("/dev/zero", path) },
			"outside the project: /dev/zero"},
		{"sparse", func(path, _ string) error {
			return errors.Join(os.WriteFile(path, nil, 0o755), os.Truncate(path, 4<<40))
		}, "larger than 1048576 bytes"},
		{"outside", func(path, outside string) error { return os.Symlink(outside, path) }, "outside the project: "},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			for i, file := range slices.Sorted(maps.Keys(full)) {
				if testing.Short() && i%2 != k%2 {
					continue
				}
				switch file { // these decide whether there is a start: TestHostileEnv, TestUnusableRoots
				case "server.d/env.sh", "config/roots.json":
					continue
				}
				project := checkout.Directory(t)
				outside := write(t, `{"name":"`+secret+`","version":"`+secret+`"}`, checkout.Directory(t), "elsewhere")
				for name, text := range full {
					if path := write(t, text, project, name); strings.HasPrefix(text, "#!") {
						os.Chmod(path, 0o755)
					}
				}
				if file == "package.json" {
					os.Remove(filepath.Join(project, "VERSION"))
				}
				path := filepath.Join(project, file)
				if err := errors.Join(os.Remove(path), kind.put(path, outside)); err != nil {
					t.Fatal(err)
				}
				withHostileFile(t, project, file, secret, kind.reason)
			}
		})
	}
}

func withHostileFile(t *testing.T, project, file, secret, reason string) {
	s := open(t, project, opening{
		binary: shipped(t), killed: true, env: map[string]string{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"},
	})
	answered := func(what string, err error) {
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %s is not answered", file, what)
		}
	}
	ctx := s.deadline()
	_, err := s.ListTools(ctx, nil)
	answered("tools/list", err)
	_, err = s.ListResources(ctx, nil)
	answered("resources/list", err)
	_, err = s.request(ctx, "hello", nil)
	answered("tools/call", err)
	_, err = s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "haiku"})
	answered("prompts/get", err)
	_, err = s.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "haiku"}, Argument: mcp.CompleteParamsArgument{Name: "a"},
	})
	answered("completion/complete", err)
	for _, uri := range []string{"file://" + project + "/resources/note.txt", "ours://x", "ui://full/hello"} {
		_, err = s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		answered("resources/read of "+uri, err)
	}
	s.tap.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.tap.ended:
	case <-time.After(patience):
		s.tap.cmd.Process.Kill()
		t.Fatalf("%s: the server does not heed a signal", file)
	}
	stderr := s.tap.stderr.String()
	if code := s.tap.cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("%s: %v, want exit code 143\n%s", file, s.tap.cmd.ProcessState, stderr)
	}
	if strings.Contains(strings.Join(s.tap.lines, "")+stderr, secret) {
		t.Errorf("%s: what lies outside was handed out", file)
	}
	if want := reported[file]; want != "" && strings.Count(stderr, want+reason) != 1 {
		t.Errorf("%s: it does not say once %q:\n%s", file, want+reason, stderr)
	}
	for _, command := range [][]string{{"mcp-runtool", "hello", "--allow-self"}, {"mcp-registry", "refresh"}} {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, command[0]), command[1:]...)
		cmd.Env = environment(project, s.tmp, nil)
		out, err := cmd.CombinedOutput()
		if ctx.Err() != nil || strings.Contains(string(out), secret) {
			t.Errorf("%s: %s: %v\n%s", file, command, err, out)
		}
	}
}

// An env.sh that is not a file, or never ends, delays the server and run-tool only for a limited time. A signal
// ends both, and env.sh with them (P-113, P-114, P-905; CLI-806).
func TestHostileEnv(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		put    func(path, mark string) error
		limit  string
		reason string
		code   int
	}{
		"FIFO": {func(path, _ string) error { return syscall.Mkfifo(path, 0o644) }, "",
			"refusing insecure server.d/env.sh: {} (not a regular file)", 1},
		"device": {func(path, _ string) error { return os.Symlink("/dev/zero", path) }, "",
			"refusing insecure server.d/env.sh: {} (symlink)", 1},
		"endless": {func(path, _ string) error {
			return os.WriteFile(path, []byte("while :; do sleep 0.1; done"),
				0o644)
		}, "1",
			"not done after 1s, so it was ended; leave out what waits, or set MCPBASH_ENV_TIMEOUT to more seconds (0: no limit)",
			1},
		"signal": {func(path, mark string) error {
			return os.WriteFile(path,
				[]byte("echo $$ >'"+mark+".new' && mv '"+mark+".new' '"+mark+"'; sleep 600 & wait"), 0o644)
		}, "0", "", 143},
	} {
		for _, command := range [][]string{{"mcp-bash"}, {"mcp-runtool", "hello", "--allow-self",
			"--with-server-env"}} {
			t.Run(name+" "+command[0], func(t *testing.T) {
				t.Parallel()
				project, tmp := checkout.Example(t, "00-hello"), checkout.Directory(t)
				file, mark := filepath.Join(project, "server.d", "env.sh"), filepath.Join(tmp, "mark")
				if err := tc.put(file, mark); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(filepath.Join(bin, command[0]), command[1:]...)
				cmd.Env = environment(project, tmp, map[string]string{"MCPBASH_SERVER_SOURCE_ENV": "true",
					"MCPBASH_ENV_TIMEOUT": tc.limit})
				var stderr strings.Builder
				cmd.Stderr = &stderr
				stdin, err := cmd.StdinPipe()
				if err == nil {
					defer stdin.Close()
					_, err = cmd.StdoutPipe()
				}
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
				defer late.Stop()
				if tc.code == 143 {
					eventually(t, "env.sh runs", func() bool { return exists(mark) })
					cmd.Process.Signal(syscall.SIGTERM)
				}
				cmd.Wait()
				reason := strings.ReplaceAll(tc.reason, "{}", file)
				if code := cmd.ProcessState.ExitCode(); code != tc.code || !strings.Contains(stderr.String(), reason) ||
					tc.reason == "" && stderr.Len() > 0 {
					t.Errorf("exit code %d\n%s", code, &stderr)
				}
				if tc.code == 143 && alive(t, mark) {
					t.Error("env.sh outlives it")
				}
			})
		}
	}
}

// alive reports whether the process whose number is in a file still runs.
func alive(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command("kill", "-0", strings.TrimSpace(string(text))).Run() == nil
}
