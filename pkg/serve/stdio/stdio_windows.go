package stdio

import (
	"os"

	"mcp-bash/pkg/cli"
)

type filePair struct{ in, out *os.File }

// Open returns the standard streams of the process. The error means that standard output is not writable.
func Open() (Streams, error) {
	if cli.IsClosed(os.Stdout) {
		return nil, errNoOutput
	}
	return &filePair{os.Stdin, os.Stdout}, nil
}

func (f *filePair) Read(p []byte) (int, error) { return f.in.Read(p) }

// AwaitHangup never returns on Windows. The next write fails instead.
func (f *filePair) AwaitHangup() { select {} }

// Ready is unknown on Windows, so another goroutine writes.
func (f *filePair) Ready() bool { return false }

func (f *filePair) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	if cli.IsBrokenPipe(err) {
		err = ErrHangup
	}
	return n, err
}
