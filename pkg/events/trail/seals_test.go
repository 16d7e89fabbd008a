package trail

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/seal"
)

// A sealedLine is a line of a test.
type sealedLine struct {
	kind  events.Type
	note  string
	after time.Duration // the line before
	epoch int           // of its key; 0: no seal
}

func call(after time.Duration) sealedLine { return sealedLine{events.ToolCall, "", after, 0} }

func sealAt(epoch int, after time.Duration, note string) sealedLine {
	return sealedLine{events.Seal, note, after, epoch}
}

// AUD-32: each epoch has its seal, in time, and lines have times of their epoch.
func TestSeals(t *testing.T) {
	first, err := seal.Create(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	const m, h = time.Minute, time.Hour
	start, stop := sealAt(1, 0, "start"), sealAt(3, m, "stop")
	for name, row := range map[string]struct {
		lines   []sealedLine
		current int
		want    string
	}{
		"whole":               {[]sealedLine{start, call(1), sealAt(2, m, ""), call(1), stop}, 4, ""},
		"a stop and a start":  {[]sealedLine{start, sealAt(2, m, "stop"), sealAt(3, h, "start"), call(1)}, 4, ""},
		"a kill and a start":  {[]sealedLine{start, call(m), sealAt(2, h, "start"), stop}, 4, ""},
		"a kill at a seal":    {[]sealedLine{start, sealAt(2, m, ""), sealAt(2, m, "start"), stop}, 4, ""},
		"before the key":      {[]sealedLine{call(0), call(h), sealAt(1, h, "start"), sealAt(2, m, ""), stop}, 4, ""},
		"oldest files gone":   {[]sealedLine{call(0), sealAt(2, m, ""), stop}, 4, ""},
		"no seal at all":      {[]sealedLine{call(0)}, 0, "no line is sealed"},
		"a gap":               {[]sealedLine{start, stop}, 4, "seal number 3 follows seal number 1"},
		"twice":               {[]sealedLine{start, sealAt(2, m, ""), sealAt(2, m, ""), stop}, 4, "number 2 follows"},
		"twice, with lines":   {[]sealedLine{start, sealAt(2, m, ""), call(1), sealAt(2, m, "start")}, 3, "2 follows"},
		"late":                {[]sealedLine{start, sealAt(2, h, "")}, 3, "there is no seal for 1h0m0s"},
		"a late line":         {[]sealedLine{start, call(h), sealAt(2, 1, "start")}, 3, "there is no seal for 1h0m0s"},
		"an early line":       {[]sealedLine{start, sealAt(2, m, ""), call(-m)}, 3, "before that of the last seal"},
		"after a stop":        {[]sealedLine{start, sealAt(2, m, "stop"), call(1)}, 3, "had stopped before it"},
		"older than its seal": {[]sealedLine{call(0), call(h), sealAt(2, 1, "start"), stop}, 4, "before it are missing"},
		"too large a number":  {[]sealedLine{start, {events.Seal, "", m, maxEpoch + 1}}, 0, "follows seal number 1"},
		"too large at first":  {[]sealedLine{{events.Seal, "", m, maxEpoch + 1}}, 0, "too large"},
		"cut to a stop":       {[]sealedLine{start, sealAt(2, m, "stop")}, 9, "up to number 8"},
		"cut":                 {[]sealedLine{start, call(1), sealAt(2, -4*h, "")}, 0, "before that of the last seal"},
	} {
		t.Run(name, func(t *testing.T) {
			at := time.Now().Add(-4 * h)
			s := Seals{Key: first}
			got := ""
			for _, l := range row.lines {
				at = at.Add(l.after)
				line := (&events.Event{Type: l.kind, Note: l.note}).AppendLine(nil, at, events.Link{})
				if l.epoch > 0 {
					key := first
					for key.Epoch < min(l.epoch, 10) {
						key = key.Next()
					}
					key.Epoch = l.epoch
					line = key.Seal(line)
				}
				if fault := s.Add(parse(line)); fault != nil && got == "" {
					got = fault.Text
				}
			}
			if fault := s.End(at, row.current); fault != nil && got == "" {
				got = fault.Text
			}
			if got != row.want && (row.want == "" || !strings.Contains(got, row.want)) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// AUD-32: a record whose last seal is old, and not that of a stop, is cut or of a killed server.
func TestOldSeal(t *testing.T) {
	first, _ := seal.Create(filepath.Join(t.TempDir(), "key"))
	at := time.Now()
	s := Seals{Key: first}
	s.Add(parse(first.Seal((&events.Event{Type: events.Seal, Note: "start"}).AppendLine(nil, at, events.Link{}))))
	for after, want := range map[time.Duration]bool{allowed: false, allowed + time.Second: true} {
		if got := s.End(s.Until.Add(after), 2) != nil; got != want {
			t.Errorf("after %s: a fault %t", after, got)
		}
	}
}

// The seals of any record are checked in bounded time.
func FuzzSeals(f *testing.F) {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	first, err := seal.Create(filepath.Join(dir, "key"))
	if err != nil {
		f.Fatal(err)
	}
	e := events.Event{Type: events.Seal, Note: "start"}
	f.Add(append(first.Seal(e.AppendLine(nil, time.Now(), events.Link{})), '\n'))
	f.Add([]byte(`{"msg":"audit_event","chain":{"seq":1,"prev":"` + strings.Repeat("0", 64) + `","epoch":9,"hmac":"0"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := Seals{Key: first}
		Read(bytes.NewReader(text), func(e *Entry) error {
			if e.Broken != nil || s.First == 0 && e.Epoch > 1000 {
				return nil
			}
			if fault := s.Add(e); fault == nil && e.Epoch > 0 && !s.last.Made(e.Raw) {
				t.Errorf("%s", e.Raw)
			}
			return nil
		})
		s.End(time.Now(), 0)
	})
}
