package server

import (
	"errors"
	"os"

	"mcp-bash/pkg/cli"
)

type filePair struct{ in, out *os.File }

// openProcessStdio returns the process's standard streams; the error says that
// standard output cannot be written to (P-105).
func openProcessStdio() (Stdio, error) {
	if cli.IsClosed(os.Stdout) {
		return nil, errors.New("mcp-bash requires stdout to be connected to an active pipe or terminal (stdout " +
			"must be connected)")
	}
	return &filePair{os.Stdin, os.Stdout}, nil
}

func (f *filePair) Read(p []byte) (int, error) { return f.in.Read(p) }

// AwaitHangup cannot be done on Windows: the next write tells.
func (f *filePair) AwaitHangup() { select {} }

// Ready cannot be known on Windows, so writing is left to another goroutine.
func (f *filePair) Ready() bool { return false }

func (f *filePair) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	if cli.IsBrokenPipe(err) {
		err = errHangup
	}
	return n, err
}
