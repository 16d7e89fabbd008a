package audit

import (
	"io"
	"iter"

	"mcp-bash/pkg/events/trail"
)

// ReadAll calls each with every line of several records, in the order of their times. Lines of one record keep their
// order. The error comes from each, or is about a file.
func ReadAll(records []Record, stdin io.Reader, each func(*trail.Entry) error) error {
	sources := make([]*source, len(records))
	for i := range records {
		sources[i] = open(&records[i], stdin)
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

func open(r *Record, stdin io.Reader) *source {
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
