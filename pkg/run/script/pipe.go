package script

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
)

// Pipe runs one of our programs with an input, and writes its standard output to output. If the
// program fails, the error is its standard error. If ctx ends, so does the program, and the error
// is the context's cause.
func Pipe(ctx context.Context, input io.Reader, output io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	var message bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, output, &message
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &ended) && message.Len() > 0:
		return errors.New(string(bytes.TrimSpace(message.Bytes())))
	}
	return err
}
