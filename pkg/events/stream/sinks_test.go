package stream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
)

// A reader is the program at the other end of a socket.
type reader struct {
	*net.UnixListener
	conn net.Conn
}

// socketPath returns a path that is short enough for a socket.
func socketPath(t *testing.T) string {
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func listen(t *testing.T, path string) *reader {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &reader{UnixListener: l}
}

// accept takes the connection of a server, which has been made.
func (r *reader) accept(t *testing.T) *reader {
	t.Helper()
	var err error
	if r.conn, err = r.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.conn.Close() })
	return r
}

// all returns the lines until the server ends.
func (r *reader) all(t *testing.T) (list []*trail.Entry) {
	t.Helper()
	err := trail.Read(r.conn, func(e *trail.Entry) error {
		if e.Broken != nil {
			t.Errorf("line %d: %v", e.Line, e.Broken)
		}
		list = append(list, e)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return list
}

// due makes the next attempt happen now.
func (s *Stream) due() { s.out.(*receiver).again = time.Time{} }

// catchUp tries until the number of missed events is written.
func (s *Stream) catchUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.missed > 0 {
		s.due()
		s.report()
	}
}

// withWarnings opens a record at a socket, and returns what the operator hears of it.
func withWarnings(t *testing.T, c Config) (s *Stream, warned func() string) {
	t.Helper()
	var texts []string
	c.Warn = func(text string) { texts = append(texts, strings.ReplaceAll(text, c.To, "SOCKET")) }
	return openTest(t, c), func() string { return strings.Join(texts, "; ") }
}

// AUD-16: a program that listens at a socket gets the lines of the chain.
func TestSocket(t *testing.T) {
	path := socketPath(t)
	r := listen(t, path)
	s := openTest(t, Config{To: "unix:" + path})
	emit(t, s, "a", "b")
	s.Close()
	if got := targets(r.accept(t).all(t)); got != "a b seal" {
		t.Error(got)
	}
}

// AUD-16: a program that never reads delays no call for long. Once it reads, it gets whole lines, and the number of
// the missing ones.
func TestSocketThatIsNotRead(t *testing.T) {
	path := socketPath(t)
	r := listen(t, path)
	s, warned := withWarnings(t, Config{To: "unix:" + path, Arguments: "full"})
	const calls = 3000
	began := time.Now()
	for i := range calls {
		e := call(fmt.Sprint(i))
		e.Work.Arguments = []byte(`{"x":"` + strings.Repeat("x", i) + `"}`) // so a line is written in part
		if err := s.Emit(e); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("%d calls took %s", calls, took)
	}
	if lost := s.Lost(); lost < calls/2 || warned() != "SOCKET cannot be written: "+errSlow.Error() {
		t.Errorf("%d lost, %s", lost, warned())
	}
	done := make(chan []*trail.Entry)
	r.accept(t)
	go func() { done <- r.all(t) }()
	s.catchUp()
	emit(t, s, "last")
	lost := s.Lost()
	s.Close()
	list := <-done
	end := list[len(list)-3:]
	if got := targets(end); got != "missed last seal" || end[0].Count != lost || len(list) != calls-lost+3 {
		t.Errorf("%s: %d of %d, %d lines", got, end[0].Count, lost, len(list))
	}
	var v trail.Verifier
	for _, e := range list {
		if fault := v.Add(e); fault != nil {
			t.Fatalf("%+v", *fault)
		}
	}
}

// AUD-16: a program that ends and comes back gets the lines again. The missed events are counted.
func TestSocketThatComesBack(t *testing.T) {
	path := socketPath(t)
	for _, required := range []bool{false, true} {
		s, warned := withWarnings(t, Config{To: "unix:" + path, Required: required})
		miss := func() {
			t.Helper()
			if err := s.Emit(call("lost")); errors.Is(err, errUnavailable) != required {
				t.Errorf("required %t: %v", required, err)
			}
		}
		miss() // nobody listens yet
		first := listen(t, path)
		miss() // no attempt yet
		s.due()
		emit(t, s, "a")
		first.accept(t)
		first.conn.Close()
		first.Close()
		miss()
		second := listen(t, path)
		s.due()
		emit(t, s, "b")
		second.accept(t).conn.Close()
		emit(t, s, "c") // the listener is still there
		second.accept(t)
		s.Close()
		if got := targets(second.all(t)); got != "c seal" {
			t.Error(got)
		}
		second.Close()
		if got := warned(); strings.Count(got, "cannot be written") != 2 ||
			!strings.Contains(got, "again; 2 events") || !strings.Contains(got, "again; 1 events") {
			t.Error(got)
		}
	}
}

// journald reads datagrams from a socket, as the real one does.
func journald(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func toJournal(t *testing.T, path string, c Config) (*Stream, func() string) {
	t.Helper()
	c.To = "journald"
	s, warned := withWarnings(t, c)
	s.out.(*receiver).path = path
	return s, warned
}

// AUD-17: an entry of the journal has the line and the members that people search for.
func TestJournal(t *testing.T) {
	path := socketPath(t)
	server := journald(t, path)
	s, warned := toJournal(t, path, Config{})
	e := call("a")
	e.Cause = "scope"
	id := e.ID
	s.Emit(e)
	datagram := make([]byte, 1<<20)
	n, err := server.Read(datagram)
	if err != nil {
		t.Fatal(err)
	}
	want := "SYSLOG_IDENTIFIER=mcp-bash-audit\nPRIORITY=5\nMCPBASH_AUDIT_TYPE=mcp_tool_call\n" +
		"MCPBASH_AUDIT_OUTCOME=denied\nMCPBASH_AUDIT_ID=" + id + "\nMESSAGE={"
	if got := string(datagram[:n]); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "}\n") ||
		strings.Count(got, "\n") != 6 || warned() != "" {
		t.Errorf("%s %s", got, warned())
	}
}

// AUD-17: a journal that is not read, is away and comes back.
func TestJournalThatIsNotRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems drop datagrams")
	}
	path := socketPath(t)
	server := journald(t, path)
	s, warned := toJournal(t, path, Config{})
	began := time.Now()
	for range 3000 {
		s.Emit(call("a"))
	}
	if took := time.Since(began); took > time.Minute || s.Lost() == 0 {
		t.Errorf("%s, %d lost", took, s.Lost())
	}
	server.Close()
	lost := s.Lost()
	s.Emit(call("a"))
	server = journald(t, path+"2")
	s.out.(*receiver).path = path + "2"
	s.catchUp()
	emit(t, s, "b")
	if s.Lost() != lost+1 || s.missed != 0 {
		t.Errorf("%d lost, %d before; %d not reported", s.Lost(), lost, s.missed)
	}
	datagram := make([]byte, 1<<20)
	n, err := server.Read(datagram)
	want := fmt.Sprintf(`"count":%d`, lost+1)
	got := string(datagram[:n])
	if err != nil || !strings.Contains(got, "mcpbash_missed") || !strings.Contains(got, want) {
		t.Errorf("%s, want %s: %v", got, want, err)
	}
	if got := warned(); strings.Count(got, "cannot be written") != 1 {
		t.Error(got)
	}
}

// A line in the journal has no part that begins another field.
func TestJournalFields(t *testing.T) {
	e := call("x\nPRIORITY=0\n")
	e.Subject.Client = "\nMESSAGE=forged"
	entry := appendEntry(nil, e, append(e.AppendLine(nil, time.Now(), events.Link{}), '\n'))
	fields := 0
	for in := bufio.NewReader(strings.NewReader(string(entry))); ; fields++ {
		if _, err := in.ReadString('\n'); err == io.EOF {
			break
		}
	}
	if fields != 6 {
		t.Errorf("%d fields: %s", fields, entry)
	}
}
