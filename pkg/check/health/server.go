package health

import (
	"context"
	"errors"
	"fmt"
)

// A ParseFunc returns how to ask the server that a command line starts. words are without the name of the program. ask
// is nil for a server that cannot be asked. ok is false if the words start no server.
type ParseFunc func(words []string) (ask func(context.Context) error, ok bool)

// A running server is a process.
type running struct {
	process int
	stopped bool // by a signal, or it has ended
	ask     func(context.Context) error
}

var errNoServer = errors.New("no server runs here")

// checkServer checks the server of this container (CLI-1206).
func checkServer(ctx context.Context, parse ParseFunc) error {
	s, err := findServer(parse)
	switch {
	case err != nil:
		return err
	case s.stopped:
		return fmt.Errorf("the server (process %d) is stopped", s.process)
	case s.ask == nil:
		return nil
	}
	return s.ask(ctx)
}
