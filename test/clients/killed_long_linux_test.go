package clients

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// P-905: no process of a script outlives a server that is killed at any moment. make test-long kills 2,000 servers on a
// busy machine.
func TestKilledServers(t *testing.T) {
	kills := 40
	if !testing.Short() {
		kills = 2000
		for range 6 {
			busy(t)
		}
	}
	project := checkout.Copy(t, "testdata/family")
	var places []string // for the state of servers, in turn
	for range 10 {
		places = append(places, checkout.Directory(t))
	}
	for i := range kills {
		tmp := places[i%len(places)]
		if i >= len(places) {
			expectNone(t, tmp)
		}
		killServer(t, project, tmp)
	}
	for _, tmp := range places {
		expectNone(t, tmp)
	}
}

// busy keeps a processor busy until the end of a test.
func busy(t *testing.T) {
	cmd := exec.Command("bash", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// killServer starts a server and calls, and kills it at a random moment.
func killServer(t *testing.T, project, tmp string) {
	t.Helper()
	s := exec.Command(filepath.Join(bin, "mcp-bash"))
	s.Dir, s.Env = tmp, environment(project, tmp, nil)
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
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	bufio.NewReader(out).ReadString('\n')
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for id, tool := range []string{"forks", "held", "forks", "held"} {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`+"\n", id+1,
			tool)
	}
	time.Sleep(rand.N(100 * time.Millisecond)) // any moment is right
	s.Process.Kill()
	s.Wait()
}

// expectNone waits until no process has a state directory below tmp in its environment, and ends those that stay.
func expectNone(t *testing.T, tmp string) {
	t.Helper()
	var found []int
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if found = processesOf(t, tmp); len(found) == 0 {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	for _, pid := range found {
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		t.Errorf("it outlives the server: %s", state)
		unix.Kill(pid, unix.SIGKILL)
	}
}

// processesOf returns the processes with a text in their environment.
func processesOf(t *testing.T, text string) (found []int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range list {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(text)) {
			pid := 0
			fmt.Sscanf(file, "/proc/%d/", &pid)
			found = append(found, pid)
		}
	}
	return found
}
