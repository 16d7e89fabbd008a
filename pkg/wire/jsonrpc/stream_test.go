package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func readAll(r *Reader) (lines []string, long int, err error) {
	for {
		line, err := r.Next()
		switch {
		case err == ErrTooLong:
			long++
		case err != nil:
			return lines, long, err
		default:
			lines = append(lines, string(line))
		}
	}
}

// P-400, P-404: the lines that a Reader returns.
func TestReader(t *testing.T) {
	const limit = 20
	for _, tc := range []struct {
		name, in string
		want     string
		long     int
	}{
		{"plain", "a\nb\n", "a|b", 0},
		{"last line without end", "a\nb", "a|b", 0},
		{"blank lines", "\n \t\r\n\r\na\n\n", "a", 0},
		{"white space and CR", " \ta b\t \r\n", "a b", 0},
		{"byte order mark", "\xEF\xBB\xBF{}\r\n \xEF\xBB\xBF []\n", "{}|[]", 0},
		{"byte order mark alone", "\xEF\xBB\xBF\n", "", 0},
		{"longest", strings.Repeat("x", limit) + "\na\n", strings.Repeat("x", limit) + "|a", 0},
		{"too long", strings.Repeat("x", limit+1) + "\na\n", "a", 1},
		{"far too long", strings.Repeat("x", 100*limit) + "\na\n", "a", 1},
		{"too long at the end", "a\n" + strings.Repeat("x", 100*limit), "a", 1},
		{"two too long", strings.Repeat("x", 999) + "\n" + strings.Repeat("y", 999) + "\nb", "b", 2},
	} {
		for mode, src := range map[string]io.Reader{
			"whole": strings.NewReader(tc.in), "bytes": iotest.OneByteReader(strings.NewReader(tc.in)),
			"with end": iotest.DataErrReader(strings.NewReader(tc.in)),
		} {
			lines, long, err := readAll(NewReader(src, limit))
			if got := strings.Join(lines, "|"); got != tc.want || long != tc.long || err != io.EOF {
				t.Errorf("%s, %s: %q, %d too long, %v", tc.name, mode, got, long, err)
			}
		}
	}
}

func TestReaderLargeLines(t *testing.T) {
	var in bytes.Buffer
	for i := range 6 {
		in.WriteString(strings.Repeat("z", 300_000*i+1))
		in.WriteByte('\n')
	}
	r := NewReader(&in, 2_000_000)
	lines, long, _ := readAll(r)
	for i := range 6 {
		if len(lines[i]) != 300_000*i+1 {
			t.Errorf("line %d has %d bytes", i, len(lines[i]))
		}
	}
	if long != 0 {
		t.Error("no line is too long")
	}
	if r.Waiting() {
		t.Error("nothing waits at the end")
	}
}

func TestReaderWaiting(t *testing.T) {
	r := NewReader(strings.NewReader("a\nb\nc"), 10)
	for i, want := range []bool{true, false} {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if r.Waiting() != want {
			t.Errorf("after line %d: Waiting is not %v", i, want)
		}
	}
}

// Reading and classifying a small message allocates nothing.
func TestFramingAllocations(t *testing.T) {
	line := []byte(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"hello",` +
		`"arguments":{"name":"World"}}}` + "\n")
	src := &endless{line: line}
	r := NewReader(src, 1<<20)
	if n := testing.AllocsPerRun(1000, func() {
		line, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(line); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
}

// endless repeats a line, in pieces of odd sizes.
type endless struct {
	line []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], e.line[e.at:])
		e.at = (e.at + k) % len(e.line)
		n += k
	}
	return n, nil
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\r\n\n\xEF\xBB\xBFb"), 3)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		whole, longWhole, _ := readAll(NewReader(bytes.NewReader(in), limit))
		pieces, longPieces, _ := readAll(NewReader(iotest.OneByteReader(bytes.NewReader(in)), limit))
		if strings.Join(whole, "\n") != strings.Join(pieces, "\n") || longWhole != longPieces {
			t.Fatalf("%q: %q and %q", in, whole, pieces)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"hello",` +
		`"arguments":{"name":"World"}}}` + "\n")
	r := NewReader(&endless{line: line}, 1<<20)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// sink is an Output that can block, fail, or be not ready.
type sink struct {
	mu     sync.Mutex
	got    bytes.Buffer
	writes int
	ready  bool
	err    error
	gate   chan struct{} // when set, a Write waits for it
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.err != nil {
		return 0, s.err
	}
	return s.got.Write(p)
}

func (s *sink) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.String()
}

func noFailure(t *testing.T) func(error, int) {
	return func(err error, lost int) { t.Errorf("lost %d bytes: %v", lost, err) }
}

// P-405, P-1802: lines stay whole, for any number of writers and any length.
func TestWriterKeepsLinesWhole(t *testing.T) {
	out := &sink{ready: true}
	w := NewWriter(out, 64<<20, noFailure(t))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				size := 10
				if i%50 == 0 {
					size = 3 * ownChunk
				}
				line := []byte(fmt.Sprintf("%d %d %s\n", g, i, strings.Repeat("x", size)))
				if g == 0 {
					w.Queue(line)
					w.Push()
				} else {
					w.Send(line)
				}
			}
		})
	}
	all.Wait()
	w.Flush()
	next := map[int]int{}
	for _, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		var g, i int
		var tail string
		if _, err := fmt.Sscanf(line, "%d %d %s", &g, &i, &tail); err != nil || strings.Trim(tail, "x") != "" {
			t.Fatalf("torn line %.60q", line)
		}
		if next[g] != i {
			t.Fatalf("line %d of %d comes after %d", i, g, next[g])
		}
		next[g]++
	}
	for g := range 8 {
		if next[g] != 200 {
			t.Errorf("%d lines of %d", next[g], g)
		}
	}
}

// The goroutine that reads must never wait for the client to read.
func TestWriterNeverWaitsForTheReader(t *testing.T) {
	out := &sink{gate: make(chan struct{})} // not ready, and writes wait
	w := NewWriter(out, 64<<20, noFailure(t))
	for i := range 100 {
		w.Queue([]byte(fmt.Sprintf("%d\n", i)))
		w.Push() // would hang here
	}
	close(out.gate)
	w.Flush()
	if n := strings.Count(out.String(), "\n"); n != 100 {
		t.Errorf("%d lines", n)
	}
}

func TestWriterCoalesces(t *testing.T) {
	out := &sink{ready: true}
	w := NewWriter(out, 64<<20, noFailure(t))
	for range 50 {
		w.Queue([]byte("ping\n"))
	}
	w.Push()
	if out.writes != 1 || out.got.Len() != 250 {
		t.Errorf("%d writes, %d bytes", out.writes, out.got.Len())
	}
}

func TestWriterReportsFailures(t *testing.T) {
	broken := errors.New("broken")
	out := &sink{ready: true, err: broken}
	lost := 0
	w := NewWriter(out, 64<<20, func(err error, n int) {
		if err != broken {
			t.Error(err)
		}
		lost += n
	})
	w.Send([]byte("abc\n"))
	w.Queue([]byte("def\n"))
	w.Push()
	if lost != 8 {
		t.Errorf("%d bytes reported", lost)
	}
	w.Close()
	w.Send([]byte("late\n"))
	w.Flush()
	if lost != 8 {
		t.Error("a closed writer still writes")
	}
}

// Answering a small message allocates nothing after buffers have grown.
func TestWriterAllocations(t *testing.T) {
	out := &discard{}
	w := NewWriter(out, 64<<20, noFailure(t))
	line := AppendResult(nil, ID("12"), nil)
	if n := testing.AllocsPerRun(1000, func() {
		w.Queue(line)
		w.Push()
	}); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}

type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }
func (*discard) Ready() bool                 { return true }

// P-1803: Reserve waits until the reader has read enough, or until its context ends. One
// reservation is always possible.
func TestWriterBound(t *testing.T) {
	out := &sink{gate: make(chan struct{})}
	w := NewWriter(out, 100, noFailure(t))
	w.Send(bytes.Repeat([]byte("x"), 101))
	if !w.Full() {
		t.Fatal("not full")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.Reserve(ctx, 0) // would hang here
	passed := make(chan int)
	for i := range 2 {
		go func() {
			w.Reserve(t.Context(), 200)
			passed <- i
		}()
	}
	select {
	case <-passed:
		t.Error("there is room in a full writer")
	default:
	}
	close(out.gate)
	<-passed
	if !w.Full() {
		t.Error("what is reserved does not count")
	}
	select {
	case <-passed:
		t.Error("two get by at once")
	default:
	}
	w.Release(200)
	<-passed
	w.Release(200)
	if w.Flush(); w.Full() || out.String() != strings.Repeat("x", 101) {
		t.Errorf("full: %t, %q", w.Full(), out)
	}
}

// A reader that never reads again blocks no goroutine after the Writer is closed (P-905).
func TestWriterClosedUnread(t *testing.T) {
	out := &sink{gate: make(chan struct{})}
	defer close(out.gate)
	w := NewWriter(out, 10, func(error, int) {})
	w.Send([]byte("nobody reads this\n"))
	reserved := make(chan struct{})
	go func() {
		w.Reserve(t.Context(), 5)
		w.Flush()
		close(reserved)
	}()
	w.Close()
	<-reserved
	w.Flush()
}

// Deliver only writes lines that were queued before, because other goroutines may queue
// lines forever.
func TestDeliverEnds(t *testing.T) {
	var w *Writer
	out := &talkative{next: func() { w.Queue([]byte("again\n")) }}
	w = NewWriter(out, 1<<20, noFailure(t))
	w.Queue([]byte("mine\n"))
	w.Deliver() // would hang here
	w.Close()
}

// talkative is an Output that queues another line during each write.
type talkative struct{ next func() }

func (e *talkative) Write(p []byte) (int, error) { e.next(); return len(p), nil }
func (e *talkative) Ready() bool                 { return true }
