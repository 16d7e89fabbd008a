package httpd

import (
	"context"
	"errors"

	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/wire/mcp"
)

var errUnused = errors.New("its client sends nothing any more")

// nobody is the connection of a caller. The stateless protocol sends nothing that belongs to no
// request.
type nobody struct{}

func (nobody) Queue([]byte)                 {}
func (nobody) Last([]byte, *mcp.Error)      {}
func (nobody) Push()                        {}
func (nobody) Deliver()                     {}
func (nobody) Full() bool                   { return false }
func (nobody) Reserve(context.Context, int) {}
func (nobody) Release(int)                  {}
func (nobody) AwaitRoom()                   {}
func (nobody) End(protocol.Ending)          {}
