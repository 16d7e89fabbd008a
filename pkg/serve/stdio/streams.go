package stdio

import (
	"errors"
	"io"

	"mcp-bash/pkg/wire/jsonrpc"
)

// Streams are the input from a client and the output to it.
type Streams interface {
	io.Reader // its error is [ErrHangup] when the client no longer reads the output
	jsonrpc.Output
	// AwaitHangup returns when the client no longer reads the output.
	AwaitHangup()
}

// ErrHangup is the error of both directions once the client has closed the output.
var ErrHangup = errors.New("output closed by the client")

// errNoOutput is the error for a process without a usable standard output (P-105).
var errNoOutput = errors.New("mcp-bash requires stdout to be connected to an active pipe or terminal (stdout " +
	"must be connected)")
