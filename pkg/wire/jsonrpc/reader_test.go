package jsonrpc

import (
	"bytes"
	"io"
	"strings"
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

// P-400, P-404.
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
