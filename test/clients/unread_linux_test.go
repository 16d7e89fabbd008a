package clients

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// A mute client talks to a server over pipes and reads only on request.
type mute struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stdout *os.File // the source of out
	stderr *os.File
	wrote  chan error // of the last feed
	ended  chan struct{}
}

// openMute starts a server of testdata/unread, greeted in revision 2025-03-26.
func openMute(t *testing.T, project string, env map[string]string) *mute {
	t.Helper()
	return openMuteOf(t, filepath.Join(bin, "mcp-bash"), project, env)
}

func openMuteOf(t *testing.T, server, project string, env map[string]string) *mute {
	t.Helper()
	m := &mute{t: t, cmd: exec.Command(server), wrote: make(chan error, 1),
		ended: make(chan struct{})}
	tmp := checkout.Directory(t)
	m.cmd.Dir, m.cmd.Env = tmp, environment(project, tmp, env)
	var theirs []*os.File
	for _, ours := range []**os.File{&m.stdout, &m.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		*ours, theirs = r, append(theirs, w)
		t.Cleanup(func() { r.Close() })
	}
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	m.cmd.Stdout, m.cmd.Stderr, m.out = theirs[0], theirs[1], bufio.NewReaderSize(m.stdout, 1<<20)
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs[0].Close()
	theirs[1].Close()
	go func() {
		m.cmd.Wait()
		close(m.ended)
	}()
	t.Cleanup(func() {
		m.cmd.Process.Kill()
		<-m.ended
	})
	m.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-03-26",` +
		`"capabilities":{"elicitation":{}},"clientInfo":{"name":"mute","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	if line := m.read(); !strings.Contains(line, `"id":"hello"`) {
		t.Fatalf("greeted with %s", line)
	}
	return m
}

func (m *mute) say(text string) {
	m.t.Helper()
	if _, err := io.WriteString(m.in, text); err != nil {
		m.t.Fatal(err)
	}
}

// feed writes many lines in the background, and then ends the input.
func (m *mute) feed(lines func(out *bufio.Writer)) {
	go func() {
		out := bufio.NewWriterSize(m.in, 1<<20)
		lines(out)
		err := out.Flush()
		m.in.Close()
		m.wrote <- err
	}()
}

func (m *mute) read() string {
	m.t.Helper()
	line, err := m.out.ReadString('\n')
	if err != nil {
		m.t.Fatalf("reading: %v", err)
	}
	return line
}

// rests waits until the server, to which nobody listens, does nothing any more.
func (m *mute) rests() {
	m.t.Helper()
	before, still := "", 0
	eventually(m.t, "the server rests", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(m.cmd.Process.Pid) + "/stat")
		if err != nil {
			return true // it has ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
		now := strings.Join(fields[11:15], " ") // the time it used, and its children
		if now != before {
			before, still = now, 0
		}
		still++
		return still > 60
	})
}

// all reads the output to its end, and counts its lines.
func (m *mute) all(look func(line []byte)) (lines int) {
	m.t.Helper()
	for {
		line, err := m.out.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			var rest []byte
			line = bytes.Clone(line)
			rest, err = m.out.ReadBytes('\n')
			line = append(line, rest...)
		}
		if err == io.EOF && len(line) == 0 {
			return lines
		}
		if err != nil {
			m.t.Fatal(err)
		}
		look(line)
		lines++
	}
}

// peak returns the maximum memory of the server so far, in MB.
func (m *mute) peak() int {
	m.t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(m.cmd.Process.Pid) + "/status")
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	if err != nil || !found {
		return 0 // it has ended
	}
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		m.t.Fatal(err)
	}
	return kilobytes >> 10
}

func (m *mute) isWithin(most int) {
	m.t.Helper()
	if peak := m.peak(); peak > most {
		m.t.Errorf("the server needed %d MB, more than %d", peak, most)
	}
}

// endsWith waits for the exit of the server.
func (m *mute) endsWith(code int) {
	m.t.Helper()
	select {
	case <-m.ended:
	case <-time.After(patience):
		m.t.Fatal("the server does not end")
	}
	if got := m.cmd.ProcessState.ExitCode(); got != code {
		m.t.Errorf("the server ended with %d, not %d", got, code)
	}
}

// responseID is the id at the beginning of a response, of which megabytes may follow.
var responseID = regexp.MustCompile(`^\{"jsonrpc":"2\.0","id":\d+,`)

// A client that sends much and reads nothing costs no more memory than the bound,
// and gets every answer when it reads (P-1803, P-1804).
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	call := func(id int, method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	}
	for name, tc := range map[string]struct {
		feed  func(out *bufio.Writer, project string)
		count int
		has   string // every answer
		most  int    // MB
	}{
		"batch": {func(out *bufio.Writer, _ string) {
			out.WriteString("[1")
			for range 4<<20 - 1 {
				out.WriteString(",1")
			}
			out.WriteString("]\n")
		}, 4 << 20, `"Missing method"`, 200},
		"calls": {func(out *bufio.Writer, _ string) {
			big := `{"name":"echo","arguments":{"big":"` + strings.Repeat("x", 4_900_000) + `"}}`
			for i := range 48 {
				out.WriteString(call(i, "tools/call", big))
			}
		}, 48, `"text":"done"`, 300},
		"reads": {func(out *bufio.Writer, project string) {
			for i := range 40 {
				out.WriteString(call(i, "resources/read", `{"uri":"file://`+project+`/resources/big.bin"}`))
			}
		}, 40, `"blob":"`, 450},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := checkout.Copy(t, "testdata/unread")
			os.Mkdir(filepath.Join(project, "resources"), 0o755)
			if err := os.WriteFile(filepath.Join(project, "resources", "big.bin"),
				bytes.Repeat([]byte{0, 1, 2, 3}, 9_900_000/4), 0o644); err != nil {
				t.Fatal(err)
			}
			// As it is shipped: the race detector needs several times the memory.
			m := openMuteOf(t, shipped(t), project, map[string]string{"MCPBASH_MAX_RESOURCE_BYTES": "10000000"})
			m.feed(func(out *bufio.Writer) { tc.feed(out, project) })
			m.rests()
			m.isWithin(tc.most)
			ids := map[string]bool{}
			seen, bad := 0, 0
			n := m.all(func(line []byte) {
				if seen++; seen%(tc.count/20+1) == 0 {
					m.isWithin(tc.most)
				}
				if !bytes.Contains(line, []byte(tc.has)) {
					if bad++; bad < 3 {
						t.Errorf("an answer: %.200s", line)
					}
				}
				if tc.count < 1000 {
					ids[string(responseID.Find(line))] = true
				}
			})
			if err := <-m.wrote; err != nil {
				t.Error(err)
			}
			if n != tc.count || tc.count < 1000 && len(ids) != n {
				t.Errorf("%d answers to %d requests, of %d", n, tc.count, len(ids))
			}
			m.endsWith(0)
		})
	}
}

// Nobody needs to read standard error: every line is answered, and what could not
// be kept is counted (P-1308).
func TestUnreadStderr(t *testing.T) {
	t.Parallel()
	m := openMute(t, checkout.Copy(t, "testdata/unread"), nil)
	const lines = 30_000
	m.feed(func(out *bufio.Writer) {
		for range lines {
			out.WriteString("{\x1b[2J\n")
		}
	})
	if n := m.all(func(line []byte) {
		if !bytes.Contains(line, []byte("-32700")) {
			t.Errorf("an answer: %s", line)
		}
	}); n != lines {
		t.Errorf("%d answers", n)
	}
	<-m.ended
	output, err := io.ReadAll(m.stderr)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(output, []byte("JSON normalization failed")); n < 500 || n >= lines {
		t.Errorf("%d lines on standard error", n)
	}
}

// The server reports the number of dropped lines when somebody reads again (P-1308).
func TestStderrReadLate(t *testing.T) {
	t.Parallel()
	m := openMute(t, checkout.Copy(t, "testdata/unread"), nil)
	const lines = 30_000
	go func() {
		for range lines {
			io.WriteString(m.in, "{\n")
		}
	}()
	for range lines {
		m.read()
	}
	output := bufio.NewScanner(m.stderr)
	kept, dropped := 0, 0
	for kept+dropped < lines && output.Scan() {
		switch line := output.Text(); {
		case strings.HasPrefix(line, "JSON normalization failed"):
			kept++
		default:
			var n int
			if _, err := fmt.Sscanf(line, "mcp-bash: standard error was not read; %d messages were dropped",
				&n); err != nil {
				t.Fatalf("on standard error: %q", line)
			}
			dropped += n
		}
	}
	if kept+dropped != lines || dropped == 0 {
		t.Errorf("%d lines and %d dropped, of %d", kept, dropped, lines)
	}
	m.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}` + "\n")
	if line := m.read(); !strings.Contains(line, `"text":"done"`) {
		t.Error(line)
	}
}

// A client that reads nothing keeps no script from being ended: its time limit
// holds, and a signal to the server (P-905, P-1702, P-1805).
func TestUnreadScript(t *testing.T) {
	t.Parallel()
	talk := map[string]string{"MCPBASH_MAX_LOGS_PER_MIN": "0", "MCPBASH_MAX_PROGRESS_PER_MIN": "0",
		"MCPBASH_MAX_PENDING_BYTES": "300000"}
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chatty","_meta":{"progressToken":1}}}` +
		"\n"
	begin := func(t *testing.T) (*mute, *process) {
		project := checkout.Copy(t, "testdata/unread")
		m := openMute(t, project, talk)
		m.say(call)
		file := filepath.Join(project, "chatty.pid")
		eventually(t, "the tool has begun", func() bool { return exists(file) })
		pid, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return m, watch(t, strings.TrimSpace(string(pid)))
	}
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		m, script := begin(t)
		if !script.ends(t) {
			t.Fatal("the script goes on")
		}
		m.in.Close()
		var told, answered bool
		m.all(func(line []byte) {
			told = told || bytes.Contains(line, []byte("messages were dropped because the client did not read"))
			answered = answered || bytes.Contains(line, []byte("Tool timed out after 2s"))
		})
		if !answered || !told {
			t.Errorf("answered: %t, told of what was dropped: %t", answered, told)
		}
	})
	t.Run("signal", func(t *testing.T) {
		t.Parallel()
		m, script := begin(t)
		eventually(t, "nothing more goes out", func() bool {
			waiting, err := unix.IoctlGetInt(int(m.stdout.Fd()), unix.TIOCINQ)
			return err == nil && waiting > 40_000
		})
		m.cmd.Process.Signal(unix.SIGTERM)
		if !script.ends(t) {
			t.Error("the script goes on")
		}
		m.endsWith(143)
	})
}
