package audit

import (
	"context"
	"io"
	"os"
	"time"

	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/files/boundedfile"
)

// Follow calls each with every line of a record, and with new ones as they are written, until ctx ends. It goes on with
// the next file when one ends.
func (r *Record) Follow(ctx context.Context, each func(*trail.Entry) error) error {
	last := len(r.Files) - 1
	for _, file := range r.Files[:last] {
		if err := readFile(file, nil, func(_ string, e *trail.Entry) error { return each(e) }); err != nil {
			return err
		}
	}
	t := &tail{ctx: ctx, path: r.Files[last]}
	if err := t.open(); err != nil {
		return err
	}
	defer func() { t.file.Close() }()
	err := trail.Read(t, func(e *trail.Entry) error {
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

// A tail reads a file that grows, and then the file that takes its name.
type tail struct {
	ctx  context.Context
	path string
	file *os.File
}

// pollEvery is the time between two looks at the end of a file.
const pollEvery = 200 * time.Millisecond

func (t *tail) open() error {
	f, err := boundedfile.Open(t.path)
	if err == nil {
		t.file = f
	}
	return err
}

// Read implements [io.Reader]. It waits at the end of the file.
func (t *tail) Read(p []byte) (int, error) {
	for {
		n, err := t.file.Read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		if t.replaced() {
			if n, err := t.file.Read(p); n > 0 { // written between the two looks
				return n, err
			}
			old := t.file
			if t.open() == nil {
				old.Close()
				continue
			}
		}
		select {
		case <-t.ctx.Done():
			return 0, io.EOF
		case <-time.After(pollEvery):
		}
	}
}

// replaced reports whether the name belongs to another file now.
func (t *tail) replaced() bool {
	now, err := os.Stat(t.path)
	if err != nil {
		return false
	}
	open, err := t.file.Stat()
	return err == nil && !os.SameFile(now, open)
}
