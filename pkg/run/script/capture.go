package script

import (
	"fmt"
	"io"
)

// A capture collects one output stream within a limit.
type capture struct {
	buf      []byte
	limit    int   // 0 for no limit
	exceeded error // the cause for the end of a script with more output
	tee      io.Writer
	grew     func(bytes int) // see Spec.Grew

	spool     func() (io.Writer, error) // see Spec.Spool; nil: all output stays in memory
	spoolFrom int
	spooled   int       // bytes in the spool
	file      io.Writer // the spool, or nil before it is needed
	failed    error     // of the spool
}

// captures returns the captures of the standard output and the standard error of a script.
func (s *Spec) captures() (stdout, stderr capture) {
	stdout = capture{limit: s.StdoutLimit, exceeded: ErrStdoutLimit, grew: s.Grew, spool: s.Spool, spoolFrom: s.SpoolFrom}
	stderr = capture{limit: s.StderrLimit, exceeded: ErrStderrLimit, grew: s.Grew, tee: s.StderrTee}
	return stdout, stderr
}

const (
	captureFirst = 4 << 10
	captureNext  = 64 << 10
)

// space returns the buffer for the next read: at least one byte, and at most one byte more than the limit.
func (c *capture) space() []byte {
	if len(c.buf) == cap(c.buf) {
		c.grow()
	}
	free := c.buf[len(c.buf):cap(c.buf)]
	if c.file != nil {
		return free
	}
	if c.limit > 0 {
		free = free[:min(len(free), c.limit+1-len(c.buf))]
	}
	return free
}

// grow multiplies the buffer by four. Unused memory is free, but copying a large output is not.
func (c *capture) grow() {
	size := 4 * cap(c.buf)
	switch {
	case size == 0:
		size = captureFirst
	case size < captureNext:
		size = captureNext
	}
	if c.limit > 0 {
		size = min(size, c.limit+1)
	}
	grown := make([]byte, len(c.buf), max(size, len(c.buf)+1))
	copy(grown, c.buf)
	if c.grew != nil {
		c.grew(cap(grown) - cap(c.buf))
	}
	c.buf = grown
}

// add appends n bytes that were read into space. It reports whether the output is within the limit.
func (c *capture) add(n int) bool {
	c.buf = c.buf[:len(c.buf)+n]
	if c.tee != nil {
		c.tee.Write(c.buf[len(c.buf)-n:])
	}
	if c.spool != nil && (c.file != nil || len(c.buf) > c.spoolFrom) && !c.flush() {
		return false
	}
	return c.limit <= 0 || c.spooled+len(c.buf) <= c.limit
}

// flush moves the buffer to the spool. It reports whether that succeeded.
func (c *capture) flush() bool {
	if c.file == nil {
		if c.file, c.failed = c.spool(); c.failed != nil {
			c.file = nil
			return false
		}
	}
	var n int
	n, c.failed = c.file.Write(c.buf)
	c.spooled += n
	c.buf = c.buf[:0]
	return c.failed == nil
}

// tooMuch returns the cause for the end of a script whose output cannot be captured.
func (c *capture) tooMuch() error {
	if c.failed != nil {
		return fmt.Errorf("%w: %w", c.exceeded, c.failed)
	}
	return c.exceeded
}
