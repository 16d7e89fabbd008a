// Package audit shows people the calls that servers recorded.
//
// [Find] returns the [Record] of each server: its files in order. [Selection] chooses lines, [Print] and [Summary] show
// them, and [Verify] checks that nobody changed them.
package audit

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/files/boundedfile"
)

// A Record is what one server wrote, one file after the other. The last one may still grow.
type Record struct {
	Name  string
	Files []string // "-" is standard input, which may be a log with lines of others
}

// errNone is the error for a folder without records.
var errNone = errors.New("there is no record in it")

// Find returns the records of a file or a folder.
func Find(path string) ([]Record, error) {
	if path == "-" {
		return []Record{{path, []string{path}}}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		files, err := filesOf(path)
		return []Record{{path, files}}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl") && e.Type().IsRegular() {
			name := filepath.Join(path, e.Name())
			files, err := filesOf(name)
			if err != nil {
				return nil, err
			}
			records = append(records, Record{name, files})
		}
	}
	if records == nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNone}
	}
	return records, nil
}

// filesOf returns the ended files of a record in order, and then the current one. An ended file alone is a record.
func filesOf(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	files, _ := events.Ended(filepath.Base(path), entries)
	for i, name := range files {
		files[i] = filepath.Join(filepath.Dir(path), name)
	}
	return append(files, path), nil
}

// Read calls each with every line of a record.
func (r *Record) Read(stdin io.Reader, each func(file string, e *trail.Entry) error) error {
	for _, file := range r.Files {
		if err := readFile(file, stdin, each); err != nil {
			return err
		}
	}
	return nil
}

func readFile(file string, stdin io.Reader, each func(file string, e *trail.Entry) error) error {
	line := func(e *trail.Entry) error { return each(file, e) }
	if file == "-" {
		return trail.ReadLog(stdin, line)
	}
	f, err := boundedfile.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return trail.Read(f, line)
}
