package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
)

// A file that is read with the state of a folder has only its own position.
func TestPlacesOfAnotherPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		line := (&events.Event{Type: events.Seal, Component: name}).AppendLine(nil, time.Now(), events.Link{})
		if err := os.WriteFile(filepath.Join(dir, name), append(line, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fail := func(format string, args ...any) { t.Errorf(format, args...) }
	folder, err := NewFiles(dir, nil, false, fail)
	if err != nil {
		t.Fatal(err)
	}
	budget := Budget{Lines: 10, Bytes: 1 << 20}
	if lines, err := folder.Read(&budget); err != nil || len(lines) != 2 || budget.Lines != 8 {
		t.Fatalf("%d lines, %v, %+v", len(lines), err, budget)
	}
	file, err := NewFiles(filepath.Join(dir, "b.jsonl"), folder.Positions(), false, fail)
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := file.Read(&budget); err != nil || len(lines) != 0 || len(file.Positions()) != 1 {
		t.Errorf("%d lines, %v, %v", len(lines), err, file.Positions())
	}
}

// A record that nobody may read does not keep the others from being read.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700) // not a file, so no record
	line := (&events.Event{Type: events.Seal}).AppendLine(nil, time.Now(), events.Link{})
	for _, name := range []string{"a.jsonl", "b.jsonl", "c.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), append(line, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := NewFiles(dir, nil, false, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "b.jsonl"))
	os.Mkdir(filepath.Join(dir, "b.jsonl"), 0o700) // root can read everything, but no folder as a file
	for n := 0; n < 3; n++ {
		if lines, err := f.Read(&Budget{Lines: 10, Bytes: 1 << 20}); n == 0 && (err == nil || len(lines) != 2) ||
			n > 0 && len(lines) != 0 || err != nil && !strings.Contains(err.Error(), "b.jsonl") {
			t.Errorf("read %d: %d lines, %v", n, len(lines), err)
		}
	}
}
