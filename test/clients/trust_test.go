//go:build unix

package clients

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// many is a project with a script of each kind. When one runs it leaves a mark of
// its name, and what it prints means yes.
func many(t *testing.T) (project, marks string) {
	t.Helper()
	project, marks = checkout.Directory(t), checkout.Directory(t)
	for name, text := range map[string]string{
		"server.d/policy.sh":          "mcp_tools_policy_check() { :; }",
		"tools/deep/down/tool.sh":     "echo ran",
		"prompts/haiku.completion.sh": `echo '["ran"]'`,
		"providers/ours.sh":           "echo ran",
	} {
		file := write(t, "#!/bin/bash\ntouch '"+filepath.Join(marks, filepath.Base(name))+"'\n"+text+"\n", project,
			name)
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, `{"name":"many"}`, project, "server.d/server.meta.json")
	write(t, `{"name":"down"}`, project, "tools/deep/down/tool.meta.json")
	write(t, "A haiku", project, "prompts/haiku.txt")
	write(t, `{"name":"ours","uriTemplate":"ours://{x}"}`, project, "resources/ours.meta.json")
	return project, marks
}

// No script runs if other users can write to a directory between the root of the project and the script. The
// error names the directory and the remedy (T-8, T-31, T-41, T-620; RES-70).
func TestOpenDirectories(t *testing.T) {
	t.Parallel()
	project, marks := many(t)
	uses := map[string]func(s *session) error{
		"tools/deep/down/tool.sh": func(s *session) error {
			_, err := s.request(s.deadline(), "down", nil)
			return err
		},
		"prompts/haiku.completion.sh": func(s *session) error {
			_, err := s.Complete(s.deadline(), &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "haiku"},
				Argument: mcp.CompleteParamsArgument{Name: "a"},
			})
			return err
		},
		"providers/ours.sh": func(s *session) error {
			_, err := s.ReadResource(s.deadline(), &mcp.ReadResourceParams{URI: "ours://x"})
			return err
		},
		"server.d/policy.sh": func(s *session) error {
			_, err := s.request(s.deadline(), "down", nil)
			return err
		},
	}
	s := open(t, project, opening{})
	for script, use := range uses {
		mark := filepath.Join(marks, filepath.Base(script))
		if err := use(s); err != nil {
			t.Errorf("%s: %v", script, err)
		}
		if err := os.Remove(mark); err != nil {
			t.Errorf("%s did not run", script)
		}
		for path := script; ; path = filepath.Dir(path) {
			judged := filepath.Join(project, path)
			before, err := os.Stat(judged)
			if err == nil {
				err = os.Chmod(judged, 0o757)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := path + " (mode 0757, others can write to it; run chmod o-w " + path + ")"
			if got := reason(use(s)); got != want {
				t.Errorf("%s: %q, want %q", script, got, want)
			}
			if err := os.Remove(mark); err == nil {
				t.Errorf("%s ran, though others can write to %s", script, judged)
			}
			os.Chmod(judged, before.Mode())
			if path == "." {
				break
			}
		}
	}
}

// reason returns the reason in the data of an error (T-8).
func reason(err error) string {
	var rpc *jsonrpc.Error
	var data struct{ Reason string }
	if !errors.As(err, &rpc) || json.Unmarshal(rpc.Data, &data) != nil {
		return "no reason in " + compactError(err)
	}
	return data.Reason
}

func compactError(err error) string {
	if err == nil {
		return "a result"
	}
	return err.Error()
}

// Other users could have written the settings before the start: no tool runs, and the client gets the
// reason (T-8, T-8a).
func TestOpenSettings(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"server.d/server.meta.json", "."} {
		project, marks := many(t)
		judged := filepath.Join(project, path)
		if err := errors.Join(os.Remove(filepath.Join(project, "server.d/policy.sh")),
			os.Chmod(judged, 0o757)); err != nil {
			t.Fatal(err)
		}
		s := open(t, project, opening{})
		_, err := s.request(s.deadline(), "down", nil)
		if want := path + " (mode 0757, others can write to it; run chmod o-w " + path +
			")"; strings.TrimSuffix(reason(err), "; then restart the server") != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		if left, err := os.ReadDir(marks); err != nil || len(left) > 0 {
			t.Errorf("%s: there ran %v, %v", path, left, err)
		}
	}
}

// mcp-runtool prints the refusal, and the path on standard error (CLI-803b, CLI-804).
func TestOpenDirectoryOnTheCommandLine(t *testing.T) {
	t.Parallel()
	project, _ := many(t)
	open := filepath.Join(project, "tools/deep")
	if err := os.Chmod(open, 0o757); err != nil {
		t.Fatal(err)
	}
	run := func(options ...string) (out, diagnostics string, err error) {
		cmd := exec.Command(filepath.Join(bin, "mcp-runtool"), append([]string{"down", "--allow-self"}, options...)...)
		cmd.Env = environment(project, checkout.Directory(t), nil)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		return string(text), stderr.String(), err
	}
	want := open + " (mode 0757, others can write to it; run chmod o-w " + open + ")"
	out, diagnostics, err := run()
	if err == nil || out != "run-tool: Tool path rejected by policy\n" || !strings.Contains(diagnostics, want) {
		t.Errorf("%v %s %s", err, out, diagnostics)
	}
	const short = "tools/deep (mode 0757, others can write to it; run chmod o-w tools/deep)"
	if out, _, _ := run("--dry-run"); !strings.Contains(out,
		"Status: Blocked (Tool path rejected by policy: "+short+")") {
		t.Error(out)
	}
}

// With a umask of 002, the steps of the README create a project that works. So does a project made by hand, if
// the user has a private group. Otherwise the error names the folder and who can write to it (T-41).
func TestQuickStartWithOpenUmask(t *testing.T) {
	t.Parallel()
	user, private := privateAccount(t)
	home := checkout.Directory(t)
	if err := errors.Join(os.Chmod(filepath.Dir(home), 0o755), os.Mkdir(filepath.Join(home, "bin"),
		0o755)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mcp-bash", "mcp-runtool", "mcp-registry", "mcp-scaffold", "mcp-doctor"} {
		copyProgram(t, filepath.Join(bin, name), filepath.Join(home, "bin", name))
	}
	text, err := os.ReadFile(filepath.Join(checkout.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, steps, ok := strings.Cut(string(text), "## From scripts to an agent")
	_, steps, begin := strings.Cut(steps, "```sh\n")
	steps, _, end := strings.Cut(steps, "\n```\n")
	if !ok || !begin || !end {
		t.Fatal("README.md has no first server")
	}
	run := func(steps string) (string, error) {
		place := filepath.Join(checkout.Directory(t), "you")
		if err := errors.Join(os.Chmod(filepath.Dir(filepath.Dir(place)), 0o755), os.Mkdir(place, 0o755),
			os.Chown(place, int(user.Uid), int(user.Gid))); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "-c", "set -e; umask 002\n"+steps)
		cmd.Dir = place
		cmd.Env = environment("", place, map[string]string{"HOME": place, "PATH": home + "/bin:" + os.Getenv("PATH"),
			"XDG_CACHE_HOME": "", "MCPBASH_TOOL_ALLOWLIST": ""})
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	script, err := os.ReadFile(filepath.Join(checkout.Root(), "test", "demo", "scripts", "largest.sh"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := "mkdir ~/scripts\ncat >~/scripts/largest.sh <<'END'\n" + string(script) +
		"END\nchmod +x ~/scripts/largest.sh\n"
	// Ours do not depend on the umask (CLI-502).
	if out, err := run(theirs + steps); err != nil || !strings.Contains(out, " ./largest.sh") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := run(byHand)
	if private && (err != nil || !strings.Contains(out, "Hello, Ada!")) {
		t.Errorf("%v\n%s", err, out)
	}
	if !private && (err == nil || !strings.Contains(out, "(mode 0775, group ") ||
		!strings.Contains(out, "run chmod go-w ")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// byHand creates a project without the commands.
const byHand = `mkdir -p ~/my-server/server.d ~/my-server/tools/hello && cd ~/my-server
echo '{"name":"my-server","version":"0.1.0","validateInput":true}' > server.d/server.meta.json
cat > tools/hello/tool.meta.json <<'END'
{"name": "hello", "description": "Greet somebody",
 "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
END
cat > tools/hello/tool.sh <<'END'
#!/usr/bin/env bash
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
name="$(mcp_args_get '.name // "World"')"
mcp_result_success "$(mcp_json_obj message "Hello, ${name}!")"
END
chmod +x tools/hello/tool.sh
mcp-bash run-tool hello --allow-self --args '{"name":"Ada"}' --json`

// privateAccount returns a user whose primary group is his alone, if we may
// become one; else ourselves, and whether that is so.
func privateAccount(t *testing.T) (user *syscall.Credential, private bool) {
	t.Helper()
	fields := func(file string) (rows [][]string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if row := strings.Split(strings.TrimSpace(line), ":"); len(row) > 3 {
				rows = append(rows, row)
			}
		}
		return rows
	}
	users, groups := fields("/etc/passwd"), fields("/etc/group")
	us := strconv.Itoa(os.Geteuid())
	for _, u := range users {
		others, members := 0, "none"
		for _, other := range users {
			if other[3] == u[3] {
				others++
			}
		}
		for _, g := range groups {
			if g[2] == u[3] {
				members = g[3]
			}
		}
		if others == 1 && members == "" && (us == "0") != (u[2] == us) {
			uid, _ := strconv.Atoi(u[2])
			gid, _ := strconv.Atoi(u[3])
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, true
		}
	}
	return &syscall.Credential{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid())}, false
}
