package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// TASK-2, TASK-52, TASK-60 to TASK-62: of 100 tasks at once nothing is left, however they end.
func TestEndOfTasks(t *testing.T) {
	t.Parallel()
	const n = 100
	for name, tc := range map[string]struct {
		env    map[string]string
		end    func(s *tap)
		killed bool
		goesOn bool // the server does
	}{
		"killed":       {end: func(s *tap) { s.cmd.Process.Kill() }, killed: true},
		"end of input": {end: func(s *tap) { s.stdin.Close() }},
		"SIGTERM":      {end: func(s *tap) { s.cmd.Process.Signal(unix.SIGTERM) }, killed: true},
		"expiry":       {env: map[string]string{"MCPBASH_TASK_TIMEOUT": "1"}, end: func(*tap) {}, goesOn: true},
		"cancellation": {end: cancelTasks, goesOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			project, tmp := checkout.Copy(t, "testdata/lasting"), checkout.Directory(t)
			env := map[string]string{"MCPBASH_MAX_TASKS": "100", "MCPBASH_MAX_CLIENT_TASKS": "100"}
			for name, value := range tc.env {
				env[name] = value
			}
			cmd := exec.Command(filepath.Join(bin, "mcp-bash"))
			cmd.Dir, cmd.Env = tmp, environment(project, tmp, env)
			s := newTap(cmd)
			conn, err := s.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			go func() { // the tap keeps the lines
				for err == nil {
					_, err = conn.Read(t.Context())
				}
			}()
			t.Cleanup(func() {
				cmd.Process.Kill()
				<-s.ended
			})
			for i := range n {
				call(s, strconv.Itoa(i), "tools/call", `"name":"wait"`)
			}
			eventually(t, "all calls are tasks", func() bool { return len(s.messages("")) == n })
			scripts := map[string]*process{}
			if name == "expiry" { // some scripts end before they have begun
				awaitTasks(t, s, n)
			}
			eventually(t, "all scripts run", func() bool {
				list, _ := os.ReadDir(filepath.Join(project, "pids"))
				for _, e := range list {
					pid, err := strconv.Atoi(e.Name())
					if err == nil && scripts[e.Name()] == nil && unix.Kill(pid, 0) == nil { // else it has expired already
						scripts[e.Name()] = watch(t, e.Name())
					}
				}
				return len(list) == n || name == "expiry"
			})
			descriptors := func() int {
				list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", cmd.Process.Pid))
				return len(list)
			}
			before := descriptors()
			tc.end(s)
			for _, p := range scripts {
				if !p.ends(t) {
					t.Errorf("process %s outlives its task", p.id)
				}
			}
			if name == "cancellation" { // directories of calls are kept for other calls; the rest is closed
				eventually(t, "the descriptors are closed", func() bool { return descriptors() <= before-n })
			}
			if tc.goesOn {
				call(s, "9999", "server/discover", "")
				eventually(t, "the server answers", func() bool {
					for _, m := range s.messages("") {
						if string(m.ID) == "9999" {
							return true
						}
					}
					return false
				})
				s.stdin.Close()
			}
			<-s.ended
			for _, fault := range s.faults {
				t.Errorf("a line of the server: %v", fault)
			}
			if left := leftovers(t, tmp); len(left) > 0 && name != "killed" {
				t.Errorf("the server left behind %q", left)
			}
			if !tc.killed && s.exit != nil {
				t.Errorf("the server ended with %v\n%s", s.exit, &s.stderr)
			}
		})
	}
}

// call sends a stateless request of a client with the extension for tasks.
func call(s *tap, id, method, params string) {
	if params != "" {
		params += ","
	}
	fmt.Fprintf((*clientEnd)(s), `{"jsonrpc":"2.0","id":%s,"method":"%s","params":{%s"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{`+
		`"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`+"\n", id, method, params)
}

// awaitTasks asks for the tasks of the first n answers until all have a result.
func awaitTasks(t *testing.T, s *tap, n int) {
	const firstID = 5000
	done, asked := map[string]bool{}, 0
	eventually(t, "all tasks have a result", func() bool {
		answered := 0
		for _, m := range s.messages("") {
			var task struct{ TaskID, Status string }
			if err := json.Unmarshal(m.Result, &task); err != nil {
				t.Fatalf("%s", m.Error)
			}
			done[task.TaskID] = done[task.TaskID] || task.Status == "completed"
			if id, _ := strconv.Atoi(string(m.ID)); id >= firstID {
				answered++
			}
		}
		left := 0
		for id, over := range done {
			if over {
				continue
			}
			left++
			if answered == asked {
				call(s, strconv.Itoa(firstID+asked+left), "tasks/get", `"taskId":"`+id+`"`)
			}
		}
		if answered == asked {
			asked += left
		}
		return left == 0 && len(done) == n
	})
}

func cancelTasks(s *tap) {
	for i, m := range s.messages("") {
		var task struct{ TaskID string }
		if json.Unmarshal(m.Result, &task) == nil {
			call(s, strconv.Itoa(1000+i), "tasks/cancel", `"taskId":"`+task.TaskID+`"`)
		}
	}
}
