package audit

import (
	"context"
	"io"
	"os"
	"slices"
	"time"

	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/files/boundedfile"
)

// Follow calls each with every line of a record, and with new ones as they are written, until ctx ends. It goes on with
// the next file when one ends.
func (r *Record) Follow(ctx context.Context, stdin io.Reader, each func(*trail.Entry) error) error {
	last := len(r.Files) - 1
	if r.Files[last] == "-" {
		return followLog(ctx, stdin, each)
	}
	for _, file := range r.Files[:last] {
		if err := readFile(file, nil, func(_ string, e *trail.Entry) error { return each(e) }); err != nil {
			return err
		}
	}
	t := &tail{ctx: ctx, path: r.Files[last]}
	var err error
	if t.file, err = boundedfile.Open(t.path); err != nil {
		return err
	}
	defer func() { t.file.Close() }()
	err = trail.Read(t, func(e *trail.Entry) error {
		if ctx.Err() != nil { // the rest of a line that is being written
			return ctx.Err()
		}
		return each(e)
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
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

// A tail reads a file that grows, and then the file that takes its name.
type tail struct {
	ctx  context.Context
	path string
	file *os.File
}

// pollEvery is the time between two looks at the end of a file.
const pollEvery = 200 * time.Millisecond

// Read implements [io.Reader]. It waits at the end of the file.
func (t *tail) Read(p []byte) (int, error) {
	for {
		n, err := t.file.Read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		if next := t.next(); next != nil {
			if n, err := t.file.Read(p); n > 0 { // written between the two looks
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

// next returns the file after the one that is read, or nil if that is the last one. If the server begins a file
// meanwhile, names stand for other files than before, and a later call returns it.
func (t *tail) next() *os.File {
	open, err := t.file.Stat()
	if err != nil {
		return nil
	}
	files, err := filesOf(t.path)
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(files, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && os.SameFile(info, open)
	})
	if at == len(files)-1 {
		return nil
	}
	f, err := boundedfile.Open(files[at+1]) // the oldest one, if the server has removed ours
	if err != nil {
		return nil
	}
	if after, err := filesOf(t.path); err != nil || !slices.Equal(files, after) {
		f.Close()
		return nil
	}
	return f
}
