package script

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
)

// Pipe runs one of our programs with an input, and returns its standard output. If the program
// fails, the error is its standard error. If ctx ends, so does the program, and the error is the
// context's cause.
func Pipe(ctx context.Context, input io.Reader, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var message bytes.Buffer
	cmd.Stdin, cmd.Stderr = input, &message
	out, err := cmd.Output()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &ended) && message.Len() > 0:
		return nil, errors.New(string(bytes.TrimSpace(message.Bytes())))
	}
	return out, err
}
