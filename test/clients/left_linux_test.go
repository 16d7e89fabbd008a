package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// T-48a, P-908: the result of a call reports a process that is left in its group. Every end of the server
// also ends that process, but not a process in another session.
func TestLeftRunning(t *testing.T) {
	project := checkout.Copy(t, "testdata/family")
	for name, end := range map[string]struct {
		how  func(s *exec.Cmd, in io.Closer, out io.Closer)
		code int
	}{
		"end of input":    {func(_ *exec.Cmd, in, _ io.Closer) { in.Close() }, 0},
		"SIGTERM":         {func(s *exec.Cmd, _, _ io.Closer) { s.Process.Signal(unix.SIGTERM) }, 143},
		"SIGINT":          {func(s *exec.Cmd, _, _ io.Closer) { s.Process.Signal(unix.SIGINT) }, 130},
		"SIGHUP":          {func(s *exec.Cmd, _, _ io.Closer) { s.Process.Signal(unix.SIGHUP) }, 129},
		"nobody reads it": {func(_ *exec.Cmd, _, out io.Closer) { out.Close() }, 1},
		"a fatal error":   {func(s *exec.Cmd, _, _ io.Closer) { s.Process.Signal(unix.SIGQUIT) }, 2},
		"SIGKILL":         {func(s *exec.Cmd, _, _ io.Closer) { s.Process.Kill() }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmp := checkout.Directory(t)
			s := exec.Command(filepath.Join(bin, "mcp-bash"))
			s.Dir, s.Env = tmp, environment(project, tmp, nil)
			var stderr bytes.Buffer
			s.Stderr = &stderr
			in, err := s.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
				`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"leaves","arguments":{}}}`)
			var answer struct {
				ID     int
				Params struct{ Level, Data string }
				Result struct {
					StructuredContent struct{ Left, Daemon, Terminal string }
					Meta              struct{ LeftRunning bool } `json:"_meta"`
				}
			}
			warned := false
			for lines := bufio.NewScanner(out); answer.ID != 2 && lines.Scan(); {
				if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
					t.Fatalf("%s: %v", lines.Text(), err)
				}
				warned = warned || answer.Params.Level == "warning" &&
					strings.Contains(answer.Params.Data, "Tool 'leaves': tools/leaves/tool.sh left a process running")
			}
			left := watch(t, answer.Result.StructuredContent.Left)
			daemon := watch(t, answer.Result.StructuredContent.Daemon)
			defer unix.PidfdSendSignal(daemon.fd, unix.SIGKILL, nil, 0)
			if !answer.Result.Meta.LeftRunning || !warned {
				t.Errorf("the result says %v, the log %v", answer.Result.Meta.LeftRunning, warned)
			}
			if answer.Result.StructuredContent.Terminal != "false" {
				t.Error("the tool has a terminal") // T-42
			}
			// Another call, which leaves nothing, comes between.
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"where","arguments":{}}}`)
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if bytes.Contains(lines.Bytes(), []byte(`"id":3`)) {
					if bytes.Contains(lines.Bytes(), []byte("leftRunning")) {
						t.Errorf("%s", lines.Bytes())
					}
					break
				}
			}
			end.how(s, in, out)
			if !left.ends(t) {
				t.Errorf("process %s, which the tool left in its group, outlives the server", left.id)
			}
			s.Wait()
			if code := s.ProcessState.ExitCode(); code != end.code {
				t.Errorf("exit code %d\n%s", code, &stderr)
			}
			if err := unix.PidfdSendSignal(daemon.fd, 0, nil, 0); err != nil {
				t.Errorf("the process in a session of its own: %v", err)
			}
			if end.code == -1 || end.code == 2 {
				return
			}
			for _, want := range []string{
				"mcp-bash: terminated process group ",
				"mcp-bash: process " + daemon.id + " (sleep) keeps running",
			} {
				if strings.Count(stderr.String(), want) != 1 {
					t.Errorf("stderr without %q:\n%s", want, &stderr)
				}
			}
		})
	}
}

// T-48a, CLI-817: mcp-runtool ends what the tool left, as the server does.
func TestRunToolLeavesNothing(t *testing.T) {
	tmp := checkout.Directory(t)
	run := exec.Command(filepath.Join(bin, "mcp-runtool"), "leaves")
	run.Dir, run.Env = tmp, environment(checkout.Copy(t, "testdata/family"), tmp, nil)
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var result struct {
		StructuredContent struct{ Left, Daemon string }
		Meta              struct{ LeftRunning bool } `json:"_meta"`
	}
	if err := json.Unmarshal(out, &result); err != nil || !result.Meta.LeftRunning {
		t.Errorf("%s, %v", out, err)
	}
	if stat, err := os.ReadFile("/proc/" + result.StructuredContent.Left + "/stat"); err == nil &&
		!bytes.Contains(stat, []byte(") Z ")) {
		t.Errorf("it left %s", stat)
	}
	daemon := watch(t, result.StructuredContent.Daemon)
	if err := unix.PidfdSendSignal(daemon.fd, unix.SIGKILL, nil, 0); err != nil {
		t.Errorf("the process in a session of its own: %v", err)
	}
	for _, want := range []string{
		"run-tool: warning: mcp.tools: Tool 'leaves': tools/leaves/tool.sh left a process running",
		"mcp-bash: terminated process group ",
		"mcp-bash: process " + daemon.id + " (sleep) keeps running",
	} {
		if strings.Count(stderr.String(), want) != 1 {
			t.Errorf("stderr without %q:\n%s", want, &stderr)
		}
	}
}
