package audit

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/stream"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/text/secrets"
)

// AUD-30: a reader that follows a record over several files misses no line.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	s, err := stream.Open(stream.Config{
		To: path, MaxSize: 4096, Files: 100, Redactor: &secrets.Redactor{}, Warn: func(string) {}, Required: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	emit := func(i int) {
		s.Emit(&events.Event{Type: events.ToolCall, Target: events.Target{Method: "tools/call", Name: fmt.Sprint(i)}})
	}
	const before, all = 20, 80
	for i := range before {
		emit(i)
	}
	records, err := Find(path)
	if err != nil || len(filesOf(t, path)) < 2 {
		t.Fatal(records, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	found := make(chan string)
	ended := make(chan error)
	go func() {
		ended <- records[0].Follow(ctx, nil, func(e *trail.Entry) error {
			if e.IsCall() {
				found <- e.Target
			}
			return nil
		})
	}()
	for i := range all {
		if i >= before && i%20 == 0 { // all earlier lines were read; the next lines fill several files
			if i == all-20 { // its server begins a new one
				past := time.Now().Add(-time.Second)
				for _, ended := range filesOf(t, path) { // else they can have the same time as the moved one
					if ended != path {
						os.Chtimes(ended, past, past)
					}
				}
				if err := os.Rename(path, path+".moved"); err != nil && runtime.GOOS != "windows" {
					t.Fatal(err)
				}
			}
			for next := i; next < i+20; next++ {
				emit(next)
			}
		}
		if got := <-found; got != fmt.Sprint(i) {
			t.Fatalf("%s, want %d", got, i)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.Close()
}

// AUD-31: a reader sees each line once, in order, also if the server ends files while it reads them.
func TestReadWhileFilesEnd(t *testing.T) {
	dir := t.TempDir()
	sealer(t, dir)
	path := record(t, dir)
	r := &Record{path}
	lines := 0
	if err := r.Read(nil, func(string, *trail.Entry) error { lines++; return nil }); err != nil {
		t.Fatal(err)
	}
	ended, read := 0, 0
	var v trail.Verifier
	err := r.Read(nil, func(_ string, e *trail.Entry) error {
		if read%3 == 0 { // in each file, also the last one
			ended++
			if err := os.Rename(path, fmt.Sprintf("%s.%06d", path, 100+ended)); err != nil {
				t.Fatal(err)
			}
			write(t, path, "a later line\n")
		}
		read++
		if fault := v.Add(e); fault != nil {
			t.Error(fault)
		}
		return nil
	})
	if err != nil || read != lines || ended < 5 {
		t.Errorf("%d of %d lines, %d ended files, %v", read, lines, ended, err)
	}
}

// AUD-31: a server that is killed while it begins a file leaves a record without a last file.
func TestNoLastFile(t *testing.T) {
	dir := t.TempDir()
	key := sealer(t, dir)
	path := record(t, dir)
	if err := os.Rename(path, path+".000100"); err != nil {
		t.Fatal(err)
	}
	write(t, path+".backup", "")
	for _, name := range []string{path, dir} {
		if records, err := Find(name); err != nil || len(records) != 1 {
			t.Error(records, err)
		}
		if got := sealed(t, name, dir, key); got != "" {
			t.Error(got)
		}
	}
}

// AUD-30: a file that is named several times, or as an ended file of another record, is read once.
func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.jsonl", "a.jsonl.000001", "a.jsonl.000002", "b.jsonl.000001", "b.jsonl.1"} {
		write(t, filepath.Join(dir, name), "")
	}
	t.Chdir(dir)
	var names []Record
	for _, name := range []string{
		"-", "a.jsonl.000002", "a.jsonl", "a.jsonl.000001", "b.jsonl.000001", "b.jsonl.1", "./a.jsonl",
		filepath.Join(dir, "a.jsonl"), "-",
	} {
		names = append(names, Record{name})
	}
	want := []Record{{"-"}, {"a.jsonl"}, {"b.jsonl.000001"}, {"b.jsonl.1"}}
	if got := Distinct(names); !slices.Equal(got, want) {
		t.Error(got)
	}
}

// AUD-30: --follow also reads the record of a server that starts later.
func TestBegun(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "a.jsonl")
	write(t, old, "")
	write(t, filepath.Join(dir, "b.jsonl"), "")
	ctx, stop := context.WithCancel(t.Context())
	var names []string
	Begun(ctx, []string{dir, old, filepath.Join(dir, "none")}, []Record{{old}}, func(r Record) {
		if names = append(names, filepath.Base(r.Name)); len(names) == 2 {
			stop()
			return
		}
		write(t, old+".000001", "") // not a new record
		write(t, filepath.Join(dir, "c.jsonl"), "")
	})
	if got := strings.Join(names, " "); got != "b.jsonl c.jsonl" {
		t.Error(got)
	}
}

// AUD-30: a log on standard input is followed to its end, or until the context ends while no line arrives.
func TestFollowLog(t *testing.T) {
	r := &Record{"-"}
	line := (&events.Event{Type: events.Seal}).AppendLine(nil, time.Now(), events.Link{})
	lines := 0
	count := func(e *trail.Entry) error { lines++; return nil }
	log := "mcp-bash: serving\n[pod/a/b] " + string(line) + "\n"
	if err := r.Follow(t.Context(), strings.NewReader(log), count); err != nil || lines != 2 {
		t.Error(lines, err)
	}
	silent, writer := io.Pipe()
	defer writer.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := r.Follow(ctx, silent, count); err != nil {
		t.Error(err)
	}
}

// ReadAll merges several records in the order of their times.
func TestReadAll(t *testing.T) {
	line := func(second int, name string, link *events.Link) string {
		at := time.Date(2026, 11, 28, 9, 0, second, 0, time.UTC)
		e := &events.Event{Type: events.ToolCall, Target: events.Target{Method: "tools/call", Name: name}}
		text := e.AppendLine(nil, at, *link)
		*link = events.Link{Seq: link.Seq + 1, Prev: events.HashOf(text)}
		return string(text) + "\n"
	}
	dir := t.TempDir()
	var a, b events.Link
	write(t, filepath.Join(dir, "a.jsonl"), line(1, "1", &a)+line(4, "4", &a)+line(5, "5", &a))
	write(t, filepath.Join(dir, "b.jsonl"), line(2, "2", &b)+line(3, "3", &b)+line(6, "6", &b))
	records, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	err = ReadAll(records, nil, func(e *trail.Entry) error {
		names = append(names, e.Target)
		return nil
	})
	if got := strings.Join(names, ""); err != nil || got != "123456" {
		t.Errorf("%s, %v", got, err)
	}
	enough := fmt.Errorf("enough")
	err = ReadAll(records, nil, func(e *trail.Entry) error { return enough })
	if err != enough || !slices.Equal(names, []string{"1", "2", "3", "4", "5", "6"}) {
		t.Error(err)
	}
}
