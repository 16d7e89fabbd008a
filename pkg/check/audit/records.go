// Package audit shows people the calls that servers recorded.
//
// [Find] returns the [Record] of each server. [Selection] chooses lines, [Print] and [Summary] show them, and
// [Record.Verify] checks that nobody changed them.
package audit

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/files/boundedfile"
)

// A Record consists of the files that one server wrote, one after the other. The last file may still grow. When the
// server ends a file, it renames it with a number that no other file gets.
type Record struct {
	Name string // the path of the last file; "-" is standard input, which may be a log with other lines
}

// ErrNone is the error for a folder without records.
var ErrNone = errors.New("there is no record in it")

// ErrCompressed is the error for a file that is compressed, as tools that rotate logs leave it.
var ErrCompressed = errors.New("it is compressed")

// Find returns the records of a file or a folder. An ended file alone is a record.
func Find(path string) ([]Record, error) {
	if path == "-" {
		return []Record{{path}}, nil
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		last, _, err := open(path)
		if err != nil {
			return nil, err
		}
		defer last.Close()
		if isCompressed(last) {
			return nil, &fs.PathError{Op: "read", Path: path, Err: ErrCompressed}
		}
		return []Record{{path}}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, e := range entries {
		// The last file is missing while the server begins it, and if the server was killed then.
		name := e.Name()
		if stem := strings.TrimSuffix(name, filepath.Ext(name)); len(ended(stem, e)) > 0 {
			name = stem
		}
		r := Record{filepath.Join(path, name)}
		if filepath.Ext(name) == ".jsonl" && e.Type().IsRegular() && !slices.Contains(records, r) {
			records = append(records, r)
		}
	}
	if records == nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNone}
	}
	return records, nil
}

// isCompressed reports whether a file begins as those of gzip, zstd, xz and bzip2 do.
func isCompressed(f *os.File) bool {
	var begin [4]byte
	f.ReadAt(begin[:], 0) // a shorter file is not compressed
	return slices.ContainsFunc([]string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zX", "BZh"}, func(magic string) bool {
		return strings.HasPrefix(string(begin[:]), magic)
	})
}

// Distinct returns each record once, without ended files of other ones: a shell that expands * names all of them.
func Distinct(records []Record) (distinct []Record) {
	named, taken := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		named[place(r.Name)] = true
	}
	for _, r := range records {
		at := place(r.Name)
		dir, name := filepath.Split(at)
		stem := strings.TrimSuffix(name, filepath.Ext(name))
		info, err := os.Stat(at)
		isEnded := err == nil && named[filepath.Join(dir, stem)] && len(ended(stem, fs.FileInfoToDirEntry(info))) > 0
		if !isEnded && !taken[at] {
			distinct = append(distinct, r)
		}
		taken[at] = true
	}
	return distinct
}

// place returns the same path for a file, however it was named.
func place(path string) string {
	if path == "-" {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// open opens the last file of a record, and returns the names of the files before it.
func open(path string) (last *os.File, before []string, err error) {
	for {
		last, err = boundedfile.Open(path)
		entries, errDir := os.ReadDir(filepath.Dir(path))
		before = ended(filepath.Base(path), entries...)
		for i, name := range before {
			before[i] = filepath.Join(filepath.Dir(path), name)
		}
		newest := len(before) - 1
		switch {
		case errors.Is(err, fs.ErrNotExist) && newest >= 0:
			last, err = boundedfile.Open(before[newest])
			return last, before[:newest], err
		case err != nil:
			return nil, nil, err
		case errDir != nil:
			last.Close()
			return nil, nil, errDir
		}
		now, err := os.Stat(path)
		if err == nil && is(last, now) {
			return last, before, nil
		}
		last.Close() // the server ended the file meanwhile, so the list may contain it
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
}

// ended returns the names of the ended files of a record in order.
func ended(record string, entries ...fs.DirEntry) []string {
	files, _ := events.Ended(record, entries)
	return files
}

func is(f *os.File, info fs.FileInfo) bool {
	own, err := f.Stat()
	return err == nil && os.SameFile(own, info)
}

// Read calls each with every line of a record, and the name of its file.
func (r *Record) Read(stdin io.Reader, each func(file string, e *trail.Entry) error) error {
	if r.Name == "-" {
		return trail.ReadLog(stdin, func(e *trail.Entry) error { return each(r.Name, e) })
	}
	return r.read(each, func(last *os.File) io.ReadCloser { return last })
}

// read reads the files of a record, the last one through a reader.
func (r *Record) read(each func(string, *trail.Entry) error, through func(*os.File) io.ReadCloser) error {
	current, before, err := open(r.Name)
	if err != nil {
		return err
	}
	last := through(current)
	defer last.Close()
	begun := false
	for _, name := range before {
		f, err := boundedfile.Open(name)
		if errors.Is(err, fs.ErrNotExist) && !begun {
			continue // the server has removed its oldest file
		}
		if err != nil {
			return err
		}
		begun = true
		err = trail.Read(f, func(e *trail.Entry) error { return each(name, e) })
		f.Close()
		if err != nil {
			return err
		}
	}
	return trail.Read(last, func(e *trail.Entry) error { return each(r.Name, e) })
}

// Follow calls each with every line of a record, and with new lines as they are written, until ctx ends. When a file
// ends, Follow continues with the next one.
func (r *Record) Follow(ctx context.Context, stdin io.Reader, each func(*trail.Entry) error) error {
	if r.Name == "-" {
		return followLog(ctx, stdin, each)
	}
	err := r.read(func(_ string, e *trail.Entry) error {
		if ctx.Err() != nil { // an incomplete line that is being written
			return ctx.Err()
		}
		return each(e)
	}, func(last *os.File) io.ReadCloser { return &tail{ctx, r.Name, last} })
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Begun calls each with every record that servers begin in folders, apart from the known ones, until ctx ends.
func Begun(ctx context.Context, paths []string, known []Record, each func(Record)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollEvery):
		}
		all := slices.Clone(known)
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				found, _ := Find(path) // a folder that cannot be read now has no new record
				all = append(all, found...)
			}
		}
		for _, r := range Distinct(all) {
			if !slices.Contains(known, r) {
				known = append(known[:len(known):len(known)], r)
				each(r)
			}
		}
	}
}

// followLog reads standard input until its end, or until ctx ends.
func followLog(ctx context.Context, stdin io.Reader, each func(*trail.Entry) error) error {
	ended := make(chan error, 1)
	go func() { ended <- trail.ReadLog(stdin, each) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// A tail reads a growing file, and then the file that replaces it.
type tail struct {
	ctx  context.Context
	path string
	file *os.File
}

// pollEvery is the time between two checks for new lines.
const pollEvery = 200 * time.Millisecond

// Read waits at the end of the file.
func (t *tail) Read(p []byte) (int, error) {
	for {
		n, err := t.file.Read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		if next := t.next(); next != nil {
			if n, err := t.file.Read(p); n > 0 { // written between the two reads
				next.Close()
				return n, err
			}
			t.file.Close()
			t.file = next
			continue
		}
		select {
		case <-t.ctx.Done():
			return 0, io.EOF
		case <-time.After(pollEvery):
		}
	}
}

// Close closes the file that is read.
func (t *tail) Close() error { return t.file.Close() }

// next returns the file after the current one, or nil if the current one is the last.
func (t *tail) next() *os.File {
	if now, err := os.Stat(t.path); err != nil || is(t.file, now) {
		return nil
	}
	last, before, err := open(t.path)
	if err != nil {
		return nil
	}
	if now, err := last.Stat(); err != nil || is(t.file, now) { // the server has not created the next file
		last.Close()
		return nil
	}
	at := slices.IndexFunc(before, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && is(t.file, info)
	})
	if own, err := t.file.Stat(); at < 0 && err == nil { // it was removed or moved: the next file has later lines
		isLater := func(name string) bool {
			info, err := os.Stat(name)
			return err == nil && !info.ModTime().Before(own.ModTime())
		}
		if at = slices.IndexFunc(before, isLater) - 1; at < -1 {
			at = len(before) - 1
		}
	}
	if at+1 == len(before) {
		return last
	}
	last.Close()
	next, _ := boundedfile.Open(before[at+1])
	return next
}

// ReadAll calls each with every line of several records, in the order of their times. Lines of one record keep their
// order. The error comes from each, or is about a file.
func ReadAll(records []Record, stdin io.Reader, each func(*trail.Entry) error) error {
	sources := make([]*source, len(records))
	for i := range records {
		sources[i] = begin(&records[i], stdin)
		defer sources[i].stop()
	}
	for {
		var first *source
		for _, s := range sources {
			if s.entry != nil && (first == nil || s.entry.Time.Before(first.entry.Time)) {
				first = s
			}
		}
		if first == nil {
			break
		}
		if err := each(first.entry); err != nil {
			return err
		}
		first.advance()
	}
	for _, s := range sources {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// A source yields the lines of a record.
type source struct {
	entry *trail.Entry // the next one; nil at the end
	err   error
	next  func() (*trail.Entry, bool)
	stop  func()
}

func begin(r *Record, stdin io.Reader) *source {
	s := &source{}
	lines := func(yield func(*trail.Entry) bool) {
		s.err = r.Read(stdin, func(_ string, e *trail.Entry) error {
			if !yield(e) {
				return io.EOF
			}
			return nil
		})
		if s.err == io.EOF {
			s.err = nil
		}
	}
	s.next, s.stop = iter.Pull(iter.Seq[*trail.Entry](lines))
	s.advance()
	return s
}

func (s *source) advance() { s.entry, _ = s.next() }

// A Verdict is the result of checking a record.
type Verdict struct {
	File  string       // of the first fault
	Fault *trail.Fault // the first fault, or nil
	First int64        // the number of the first line; if more than 0, earlier lines are missing
	Lines int
	Head  events.Hash // of the last line
}

// Verify checks a record. If kept is not "", a line of the record must have this hash. seals continues with each record
// of a server. It is nil if there is no key.
func (r *Record) Verify(stdin io.Reader, kept string, seals *trail.Seals) (Verdict, error) {
	var v trail.Verifier
	var out Verdict
	found := kept == ""
	err := r.Read(stdin, func(file string, e *trail.Entry) error {
		if e.Broken == trail.ErrOther {
			return nil
		}
		if out.Lines++; out.Lines == 1 {
			out.First = e.Link.Seq
		}
		fault := v.Add(e)
		if (fault == nil || fault.Kind == trail.Missing) && seals != nil && e.Broken == nil {
			fault = seals.Add(e)
		}
		if out.Fault == nil && fault != nil && fault.Kind != trail.Missing {
			out.File, out.Fault = file, fault
		}
		found = found || e.Hash.String() == kept
		return nil
	})
	out.Head = v.Head()
	if out.Fault == nil && out.Lines == 0 {
		const text = "it is empty: each server writes a line at its start"
		out.File, out.Fault = r.Name, &trail.Fault{Kind: trail.Empty, Text: text}
	}
	if out.Fault == nil && !found {
		out.File, out.Fault = r.Name, &trail.Fault{Kind: trail.Head, Text: "no line has the hash that was kept: lines " +
			"were removed at the end, or all were written anew"}
	}
	return out, err
}
