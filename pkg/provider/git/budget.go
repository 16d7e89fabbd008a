package git

import (
	"errors"
	"io"
)

// A budget is the number of bytes that may still be received or unpacked (RES-124).
type budget struct{ left int64 }

var errTooLarge = errors.New("the repository is too large")

func (b *budget) take(n int64) error {
	if n > b.left {
		b.left = 0
		return errTooLarge
	}
	b.left -= n
	return nil
}

type budgetReader struct {
	r io.Reader
	b *budget
}

func (c budgetReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if over := c.b.take(int64(n)); over != nil {
		return 0, over
	}
	return n, err
}
