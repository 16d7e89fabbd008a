package clients

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// A server that is killed takes its scripts and their children with it, and the
// next start removes what it left behind (P-905; pkg/run/script, lifeline).
func TestKilledServer(t *testing.T) {
	t.Parallel()
	project := checkout.Copy(t, "testdata/family")
	s := open(t, project, opening{killed: true})
	for range 2 { // calls at a time
		go s.request(s.deadline(), "family", nil)
	}
	members := map[string][]*process{}
	for range 6 {
		role, pid, _ := strings.Cut(s.nextLog("family").Data.(string), " ")
		members[role] = append(members[role], watch(t, pid))
	}
	if len(members["tool"]) != 2 || len(members["child"]) != 2 || len(members["grandchild"]) != 2 {
		t.Fatalf("%v", members)
	}
	left := leftovers(t, s.tmp)
	if len(left) != 1 {
		t.Fatalf("state directories: %q", left)
	}

	s.tap.cmd.Process.Kill()
	for role, list := range members {
		for _, p := range list {
			if !p.ends(t) {
				t.Errorf("the %s, process %s, outlives the server", role, p.id)
			}
		}
	}
	<-s.tap.ended
	if got := leftovers(t, s.tmp); len(got) != 1 || got[0] != left[0] {
		t.Errorf("state directories: %q, before %q", got, left)
	}

	next := open(t, project, opening{env: map[string]string{"TMPDIR": s.tmp}})
	next.succeed("where", nil)
	eventually(t, "the state of the killed server is removed", func() bool {
		got := leftovers(t, s.tmp)
		return len(got) == 1 && got[0] != left[0]
	})
}

// Signals that a server can catch end its scripts as well (P-905,
// P-1603).
func TestTerminatedServer(t *testing.T) {
	t.Parallel()
	s := open(t, checkout.Copy(t, "testdata/family"), opening{killed: true})
	go s.request(s.deadline(), "family", nil)
	var members []*process
	for range 3 {
		_, pid, _ := strings.Cut(s.nextLog("family").Data.(string), " ")
		members = append(members, watch(t, pid))
	}
	s.tap.cmd.Process.Signal(unix.SIGTERM)
	for _, p := range members {
		if !p.ends(t) {
			t.Errorf("process %s outlives the server", p.id)
		}
	}
	<-s.tap.ended
	if code := s.tap.cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	if left := leftovers(t, s.tmp); len(left) != 0 {
		t.Errorf("the server left behind %q", left)
	}
}

// A process is a process whose end the kernel reports.
type process struct {
	id string
	fd int
}

func watch(t *testing.T, id string) *process {
	t.Helper()
	pid, err := strconv.Atoi(id)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return &process{id, fd}
}

// ends waits for the end of the process, and kills it if it does not end.
func (p *process) ends(t *testing.T) bool {
	t.Helper()
	list := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(list, int(patience.Milliseconds()))
		switch {
		case err == unix.EINTR:
		case err != nil:
			t.Fatal(err)
		case n == 0:
			unix.PidfdSendSignal(p.fd, unix.SIGKILL, nil, 0)
			return false
		default:
			return true
		}
	}
}
