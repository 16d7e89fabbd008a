//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/test/checkout"
)

// examples/20-long-calls, TASK-20 to TASK-24: a client that knows nothing of tasks waits for a call that outlives its
// request.
func TestLongCallsExample(t *testing.T) { withAll(t, testLongCallsExample) }

func testLongCallsExample(t *testing.T, protocol string) {
	t.Parallel()
	project := checkout.Example(t, "20-long-calls")
	s := open(t, project, opening{revision: protocol, env: map[string]string{"MCPBASH_TASK_AFTER": "1"}})
	got := text(t, s.succeed("wait-for-file", arguments{"file": "README.txt"}))
	if got != "Files for the tool wait-for-file." {
		t.Errorf("%q", got)
	}
	begin := func(file string) (task arguments) {
		r := s.succeed("wait-for-file", arguments{"file": file})
		state, _ := r.StructuredContent.(map[string]any)
		if state["status"] != "working" || state["tool"] != "wait-for-file" ||
			!strings.Contains(text(t, r), "Call task_wait") {
			t.Fatalf("%s", compact(t, r))
		}
		return arguments{"taskId": state["taskId"]}
	}
	task := begin("one.txt")
	got = compact(t, s.succeed("task_status", task).StructuredContent)
	if !strings.Contains(got, "waiting for one.txt") {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(project, "inbox", "one.txt"), []byte("It is here.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "task_wait returns the result", func() bool {
		return text(t, s.succeed("task_wait", task)) == "It is here."
	})
	task = begin("two.txt")
	got = compact(t, s.succeed("task_cancel", task).StructuredContent)
	if !strings.Contains(got, `"status":"cancelled"`) {
		t.Error(got)
	}
}

// A job outlives the server that started it, and another server shows its result.
func TestJobOutlivesServer(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "20-long-calls")
	gate := filepath.Join(project, "inbox", "gate") // the job reads it, after the server has ended
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""} // no systemd of the test's user
	t.Run("start", func(t *testing.T) {
		s := open(t, project, opening{env: env, killed: true})
		if got := text(t, s.succeed("start-job", nil)); got != "Job 1 runs. Ask show-job for its state." {
			t.Errorf("%q", got)
		}
		eventually(t, "the job has begun", func() bool {
			return strings.Contains(text(t, s.succeed("show-job", arguments{"job": 1})), "Job 1 runs: gate")
		})
		s.refuse("show-job", arguments{"job": 2}, "no_job")
	})
	file, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString("x\n")
	file.Close()
	s := open(t, project, opening{env: env})
	eventually(t, "the job is done", func() bool {
		return strings.Contains(text(t, s.succeed("show-job", arguments{"job": 1})), "Job 1 is done:\n")
	})
}
