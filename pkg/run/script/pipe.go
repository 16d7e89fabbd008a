package script

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// endTime is the time in which one of our programs must end after SIGTERM.
const endTime = 5 * time.Second

// Pipe runs one of our programs with an input, and writes its standard output to output. If the
// program fails, the error is its standard error. If ctx ends, the program gets SIGTERM, and the
// error is the context's cause.
func Pipe(ctx context.Context, input io.Reader, output io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTime
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
