package server

import (
	"errors"
	"io"

	"mcp-bash/pkg/wire/jsonrpc"
)

// A Stdio is the pair of streams to the client.
type Stdio interface {
	io.Reader // errHangup when the client no longer reads our output
	jsonrpc.Output
	// AwaitHangup returns when the client no longer reads our output.
	AwaitHangup()
}

// errHangup is the error of both directions once the client has closed our
// output.
var errHangup = errors.New("output closed by the client")
