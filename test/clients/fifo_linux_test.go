package clients

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// A fed server reads requests from a FIFO, which has no other writer than the test.
type fed struct {
	*exec.Cmd
	requests *os.File
	answers  *bufio.Reader
	tmp      string
}

// feed starts a server that reads a FIFO. Arguments are a command before that of the server.
func feed(t *testing.T, env map[string]string, before ...string) (*fed, *bytes.Buffer) {
	t.Helper()
	tmp := checkout.Directory(t)
	fifo := filepath.Join(tmp, "requests")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(fifo, os.O_RDWR, 0) // read-write: opening it does not block
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writer.Close() })
	reader, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	line := append(before, filepath.Join(bin, "mcp-bash"))
	s := &fed{Cmd: exec.Command(line[0], line[1:]...), requests: writer, tmp: tmp}
	s.Env, s.Dir, s.Stdin = environment(checkout.Example(t, "00-hello"), tmp, env), tmp, reader
	stderr := new(bytes.Buffer)
	s.Stderr = stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.answers = bufio.NewReader(out)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { s.Process.Kill() })
	t.Cleanup(func() { late.Stop(); s.Process.Kill() })
	return s, stderr
}

// ask sends a ping and awaits the answer.
func (s *fed) ask(t *testing.T) {
	t.Helper()
	if _, err := s.requests.WriteString(`{"jsonrpc":"2.0","id":"x","method":"ping"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.answers.ReadString('\n'); err != nil || !strings.Contains(got, `"result":{}`) {
		t.Fatalf("%q, %v", got, err)
	}
}

// P-903, P-905, P-1002: a silent client keeps its server, also with checks at short intervals. The end of a FIFO
// and each signal end the server at once, with its own exit code, and nothing stays.
func TestServerOfFIFO(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(s *fed)
		code int
	}{
		"end of input": {func(s *fed) {
			<-time.After(2500 * time.Millisecond) // silence for more than two checks
			s.ask(t)
			s.requests.Close()
		}, 0},
		"SIGHUP":  {func(s *fed) { s.Process.Signal(syscall.SIGHUP) }, 129},
		"SIGINT":  {func(s *fed) { s.Process.Signal(syscall.SIGINT) }, 130},
		"SIGTERM": {func(s *fed) { s.Process.Signal(syscall.SIGTERM) }, 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "SIGHUP" && signal.Ignored(syscall.SIGHUP) {
				t.Skip("left out: a server ignores SIGHUP where its parent does, as below nohup")
			}
			s, stderr := feed(t, map[string]string{"MCPBASH_ORPHAN_CHECK_INTERVAL": "1"})
			s.ask(t)
			tc.end(s)
			if rest, _ := io.ReadAll(s.answers); len(rest) > 0 {
				t.Errorf("also printed %q", rest)
			}
			s.Wait()
			code := s.ProcessState.ExitCode()
			if status := s.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
				code = 128 + int(status.Signal()) // the signal came before the server caught signals
			}
			if code != tc.code || stderr.Len() > 0 {
				t.Errorf("%s, stderr %q", s.ProcessState, stderr)
			}
			if left := leftovers(t, s.tmp); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// P-1002: a server ends when the process that started it is gone, though its input stays open.
func TestOrphanedServer(t *testing.T) {
	t.Parallel()
	s, _ := feed(t, map[string]string{"MCPBASH_ORPHAN_CHECK_INTERVAL": "1"},
		"sh", "-c", `exec 3<&0; "$1" <&3 & echo $! >pid; wait`, "sh")
	s.ask(t)
	pid, err := os.ReadFile(filepath.Join(s.tmp, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	server := watch(t, strings.TrimSpace(string(pid)))
	s.Process.Kill()
	if !server.ends(t) {
		t.Error("the server outlives the process that started it")
	}
	if left := leftovers(t, s.tmp); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
