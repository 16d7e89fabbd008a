package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// A plainClient speaks the stateless revision by hand, one request after the other or many at once.
type plainClient struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// A plainAnswer is the part of a response that these tests look at.
type plainAnswer struct {
	ID     int
	Result struct {
		ResultType, RequestState string
		IsError                  bool
		Content                  []struct{ Text string }
	}
	Error struct {
		Message string
		Data    any
	}
}

// startPlain starts the server as it is shipped, below a shell that sets its limits.
func startPlain(t *testing.T, project, limits string) *plainClient {
	t.Helper()
	tmp := checkout.Directory(t)
	c := &plainClient{t: t, cmd: exec.Command("bash", "-c", limits+`exec "$0"`, shipped(t))}
	c.cmd.Dir, c.cmd.Env = tmp, environment(project, tmp, nil)
	stderr := &strings.Builder{}
	c.cmd.Stderr = stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	t.Cleanup(func() {
		c.in.Close()
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if left := leftovers(t, tmp); len(left) > 0 {
			t.Errorf("the server left behind %q", left)
		}
		if t.Failed() {
			t.Logf("stderr of the server:\n%s", stderr)
		}
	})
	return c
}

// call calls a tool n times at once. The ids are from first on; more are members of the params by id.
func (c *plainClient) call(tool string, first, n int, more func(id int) string) []plainAnswer {
	c.t.Helper()
	for id := first; id < first+n; id++ {
		extra := ""
		if more != nil {
			extra = more(id)
		}
		fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s",%s"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`+"\n", id, tool, extra)
	}
	answers := make([]plainAnswer, 0, n)
	for len(answers) < n {
		line, err := c.out.ReadBytes('\n')
		var a plainAnswer
		if err == nil {
			err = json.Unmarshal(line, &a)
		}
		if err != nil {
			c.t.Fatal(err)
		}
		answers = append(answers, a)
	}
	return answers
}

// status is a number from the server's status in /proc, in KiB.
func (c *plainClient) status(name string) int {
	c.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(value)[0])
			return n
		}
	}
	c.t.Fatalf("no %s", name)
	return 0
}

// suspending returns a project with tools that are suspended. "waits" waits for an answer, and so does "held", which
// is confined. "prints" has printed 8 MB before. "ends" waits for five seconds, in which all calls are
// suspended, prints 8 MB and ends.
func suspending(t *testing.T) string {
	t.Helper()
	project := checkout.Directory(t)
	write(t, `{"name":"suspending"}`, project, "server.d/server.meta.json")
	const asks = `mcp_elicit m '{"type":"object","properties":{"a":{"type":"string"}}}'`
	const prints = "\nhead -c 8000000 /dev/zero | tr '\\0' x\n"
	for name, script := range map[string]string{
		"waits": asks, "held": asks, "prints": prints + asks + " >/dev/null", "ends": asks + " 5 >/dev/null || :" + prints,
		"quick": "echo quick", "held-quick": "echo quick",
	} {
		file := write(t, "#!/bin/bash\nsource \"${MCP_SDK}/tool-sdk.sh\"\n"+script+"\n", project, "tools", name, "tool.sh")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
		meta := ""
		if strings.HasPrefix(name, "held") {
			meta = `,"capabilities":[]`
		}
		write(t, `{"name":"`+name+`"`+meta+`}`, project, "tools", name, "tool.meta.json")
	}
	return project
}

// M-55: the memory of the server stays within its limit, however much suspended calls have printed, and whether
// their scripts wait or have ended. The server answers other calls, and the newest suspended calls can
// continue. The clients of the oldest get the reason why theirs cannot.
func TestMemoryOfSuspendedCalls(t *testing.T) {
	const calls = 64
	for _, tool := range []string{"prints", "ends"} {
		t.Run(tool, func(t *testing.T) {
			c := startPlain(t, suspending(t), "")
			c.call("quick", 1000, 1, nil)
			before := c.status("VmRSS")
			states := map[int]string{}
			for _, a := range c.call(tool, 1, calls, nil) {
				if a.Result.ResultType != "input_required" {
					t.Fatalf("%+v", a)
				}
				states[a.ID] = a.Result.RequestState
			}
			if tool == "ends" {
				eventually(t, "all scripts have ended", func() bool { return len(children(t, c.cmd.Process.Pid)) == 0 })
			}
			answered, ended := 0, 0
			for id, state := range states {
				a := c.call(tool, id, 1, func(int) string {
					return `"requestState":"` + state + `","inputResponses":{"input-1":{"action":"accept","content":{"a":"b"}}},`
				})[0]
				switch {
				case a.Error.Data == "its call was ended: the calls that waited for their client took more memory than "+
					"MCPBASH_MAX_PENDING_BYTES allows":
					ended++
				case a.Result.ResultType == "complete" && !a.Result.IsError && len(a.Result.Content[0].Text) == 8000000:
					answered++
				default:
					t.Errorf("%.300v", a)
				}
			}
			// 64 MiB hold at least five such results; the garbage collector may leave as much again, and more.
			if most := c.status("VmHWM"); answered < 5 || answered+ended != calls || most-before > 300<<10 {
				t.Errorf("%d answered, %d ended; %d KiB at first, %d at most", answered, ended, before, most)
			}
		})
	}
}

// children are the processes that a process has started and that run.
func children(t *testing.T, pid int) []string {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may be gone
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// M-55, T-53: suspended calls leave descriptors for others, however many calls there are and however few descriptors
// the process may have. The server ends the oldest calls, and the newest can continue.
func TestDescriptorsOfSuspendedCalls(t *testing.T) {
	const calls = 64
	project := suspending(t)
	for _, tool := range []string{"waits", "held", "ends"} {
		t.Run(tool, func(t *testing.T) {
			c := startPlain(t, project, "ulimit -n 512; ")
			states := map[int]string{}
			for _, a := range c.call(tool, 1, calls, nil) {
				if a.Result.ResultType != "input_required" {
					t.Fatalf("%.300v", a)
				}
				states[a.ID] = a.Result.RequestState
			}
			for _, other := range []string{"quick", "held-quick"} { // as many as run at once
				for _, a := range c.call(other, 1000, 16, nil) {
					if a.Error.Message != "" || a.Result.IsError {
						t.Errorf("another call: %+v", a)
					}
				}
			}
			answered, ended := 0, 0
			for id := calls; id > 0; id-- {
				a := c.call(tool, id, 1, func(int) string {
					return `"requestState":"` + states[id] + `","inputResponses":{"input-1":{"action":"accept","content":{"a":"b"}}},`
				})[0]
				why, _ := a.Error.Data.(string)
				switch {
				case strings.HasPrefix(why, "its call was ended: the calls that waited for their client took "):
					ended++
				case a.Result.ResultType == "complete" && !a.Result.IsError:
					answered++
				default:
					t.Errorf("%.300v", a)
				}
			}
			if answered+ended != calls || answered == 0 {
				t.Errorf("%d answered, %d ended", answered, ended)
			}
		})
	}
}
