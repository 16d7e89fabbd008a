package channel

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

var (
	one, two = bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	self     = Process{7}
)

// A tapped connection records everything that is written to it, and can change it.
type tapped struct {
	net.Conn
	change  func([]byte) []byte
	written bytes.Buffer
}

func (c *tapped) Write(p []byte) (int, error) {
	out := bytes.Clone(p)
	if c.change != nil {
		out = c.change(out)
	}
	c.written.Write(out)
	if _, err := c.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// connect returns the two ends of a channel, and the connection below the caller's.
func connect(t testing.TB) (caller, called net.Conn, tap *tapped) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	tap = &tapped{Conn: a}
	call, err := NewKeys([][]byte{one}).Call(self)
	if err != nil {
		t.Fatal(err)
	}
	answer, make, ok := NewKeys([][]byte{one}).Answer(self, call.Hello())
	if !ok {
		t.Fatal("the hello is refused")
	}
	if caller, err = call.Connect(tap, answer); err != nil {
		t.Fatal(err)
	}
	return caller, make(b), tap
}

// Everything arrives as it was sent, in both directions, and nothing of it can be read on the way.
func TestChannel(t *testing.T) {
	caller, called, tap := connect(t)
	text := []byte(strings.Repeat("a secret of the caller. ", 5000))
	go func() {
		caller.Write(nil)
		caller.Write(text)
		caller.Close()
	}()
	if got, err := io.ReadAll(called); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if bytes.Contains(tap.written.Bytes(), []byte("secret")) {
		t.Error("the connection shows the text")
	}
	caller, called, _ = connect(t)
	go func() {
		called.Write([]byte("first"))
		called.Write([]byte("second"))
	}()
	got := make([]byte, 11)
	if _, err := io.ReadFull(caller, got); err != nil || string(got) != "firstsecond" {
		t.Errorf("%q, %v", got, err)
	}
}

// The same text has another form in each record, direction and connection.
func TestNoRepetition(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		caller, called, tap := connect(t)
		go io.Copy(io.Discard, called)
		for range 2 {
			tap.written.Reset()
			caller.Write([]byte("text"))
			seen[tap.written.String()] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d of 4 records differ", len(seen))
	}
}

// A deadline in the middle of a record loses nothing.
func TestTimeout(t *testing.T) {
	caller, called, tap := connect(t)
	half := make(chan struct{})
	tap.change = func(record []byte) []byte {
		tap.Conn.Write(record[:5])
		<-half
		return record[5:]
	}
	go caller.Write([]byte("text"))
	got := make([]byte, 4)
	called.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := called.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	called.SetReadDeadline(time.Time{})
	close(half)
	if n, err := called.Read(got); string(got[:n]) != "text" || err != nil {
		t.Errorf("%q, %v", got[:n], err)
	}
}

// A record that something on the way has changed, left out, repeated or exchanged ends the channel.
func TestChanged(t *testing.T) {
	for name, change := range map[string]func(n int, record []byte) []byte{
		"text":     func(_ int, r []byte) []byte { r[len(r)-20] ^= 1; return r },
		"tag":      func(_ int, r []byte) []byte { r[len(r)-1] ^= 1; return r },
		"shorter":  func(_ int, r []byte) []byte { r[1]--; return r },
		"longer":   func(_ int, r []byte) []byte { return append([]byte{0xff, 0xff}, r[2:]...) },
		"empty":    func(_ int, r []byte) []byte { return append([]byte{0, 0}, r...) },
		"repeated": func(_ int, r []byte) []byte { return append(r, r...) },
		"left out": func(n int, r []byte) []byte {
			if n == 1 {
				return nil
			}
			return r
		},
		"text for text": func(int, []byte) []byte { return []byte("GET / HTTP/1.1\r\n\r\n") },
	} {
		caller, called, tap := connect(t)
		n := 0
		tap.change = func(r []byte) []byte { n++; return change(n, r) }
		go func() {
			caller.Write([]byte("some text"))
			caller.Write([]byte("more text"))
			caller.Close()
		}()
		got, err := io.ReadAll(called)
		if err != errForged || name != "repeated" && len(got) > 0 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := called.Read(make([]byte, 1)); err != errForged {
			t.Errorf("%s: it goes on: %v", name, err)
		}
	}
}

// Only a process with the key, and with the number that the caller names, can answer.
func TestProof(t *testing.T) {
	call := func(keys ...[]byte) *Caller {
		c, err := NewKeys(keys).Call(self)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	refused := func(name string, keys [][]byte, process Process, hello string) {
		t.Helper()
		if answer, _, ok := NewKeys(keys).Answer(process, hello); ok || answer != "" {
			t.Errorf("%s: it is accepted", name)
		}
	}
	c := call(one)
	hello := c.Hello()
	refused("another key", [][]byte{two}, self, hello)
	refused("no key", nil, self, hello)
	refused("another process", [][]byte{one}, Process{8}, hello)
	for i := range hello {
		changed := []byte(hello)
		changed[i] = map[bool]byte{true: 'A', false: 'B'}[changed[i] != 'A']
		refused("a changed hello", [][]byte{one}, self, string(changed))
	}
	answer, _, ok := NewKeys([][]byte{two, one}).Answer(self, hello) // a new key is being introduced
	if !ok {
		t.Fatal("the second key is refused")
	}
	if _, err := c.Connect(nil, answer); err != nil {
		t.Error(err)
	}
	other, _, _ := NewKeys([][]byte{one}).Answer(self, call(one).Hello())
	for name, answer := range map[string]string{
		"nothing": "", "the hello": hello, "the answer to another hello": other, "a cut answer": answer[1:],
		"an answer and more": answer + "A", "a changed answer": answer[:len(answer)-4] + "AAAA",
	} {
		if _, err := c.Connect(nil, answer); err != ErrNoProof {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewKeys(nil).Call(self); err != ErrNoProof {
		t.Error("a caller without a key:", err)
	}
}

// The recorded bytes of a connection are worth nothing on another one, to the same process.
func TestReplay(t *testing.T) {
	keys := NewKeys([][]byte{one})
	call, _ := keys.Call(self)
	answer, _, _ := keys.Answer(self, call.Hello())
	a, b := net.Pipe()
	tap := &tapped{Conn: a}
	caller, _ := call.Connect(tap, answer)
	go io.Copy(io.Discard, b)
	caller.Write([]byte("a request"))
	a.Close()

	_, connect, ok := keys.Answer(self, call.Hello()) // the same hello, to the same process
	if !ok {
		t.Fatal("a hello has no date")
	}
	a, b = net.Pipe()
	defer b.Close()
	go a.Write(tap.written.Bytes())
	if got, err := io.ReadAll(connect(b)); err != errForged || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzAnswer(f *testing.F) {
	keys := NewKeys([][]byte{one, two})
	said := append(make([]byte, nonceSize), self[:]...)
	call := &Caller{keys.keys[0], append(said, keys.keys[0].prove("caller", said)...)} // the same in each process
	f.Add(call.Hello())
	f.Add("")
	f.Fuzz(func(t *testing.T, hello string) {
		if _, _, ok := keys.Answer(self, hello); ok && hello != call.Hello() {
			t.Errorf("%q is accepted", hello)
		}
		if _, err := call.Connect(nil, hello); err == nil {
			t.Errorf("%q is an answer", hello)
		}
	})
}

// A still connection has the bytes that arrive, and those that were sent.
type still struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (s *still) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *still) Write(p []byte) (int, error) { return s.out.Write(p) }

func FuzzRecords(f *testing.F) {
	in := func() *direction { return newDirection(one) }
	sent := new(still)
	(&Conn{Conn: sent, out: in()}).Write([]byte("hello"))
	f.Add(sent.out.Bytes())
	f.Add([]byte{})
	f.Add([]byte{0, 16, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &Conn{Conn: &still{in: bytes.NewReader(b)}, in: in()}
		got, _ := io.ReadAll(c)
		if len(got) > 0 && string(got) != "hello" {
			t.Errorf("%q", got)
		}
		if cap(c.raw) > 4*(maxText+len(b)) {
			t.Errorf("%d bytes are kept", cap(c.raw))
		}
	})
}
