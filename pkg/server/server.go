package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A Server serves one client. What else is in this package is given what it uses
// of that, never the whole.
type Server struct {
	project   *project.Project
	state     *project.State
	bootstrap *project.TempDir // of the getting-started project, if that is served (P-120)
	parent    int              // the process that started us
	runner    *script.Runner
	engine    *engine.Engine // nil in minimal mode

	*logger
	stdio   Stdio
	reader  *jsonrpc.Reader // belongs to the goroutine that reads
	scratch []byte          // the same: where small answers are made
	token   tokenGuard

	requests  *requests
	handshake *handshake
	stateless *stateless
	streams   *streams
	outgoing  *outgoing
	roots     *clientRoots
	changes   *changeWatch

	base     context.Context // of every request
	stopAll  context.CancelCauseFunc
	activity atomic.Int64 // when the last line came, in nanoseconds

	exits    chan exit            // why to end; the first counts
	hangup   sync.Once            // begins awaitHangup
	lost     atomic.Pointer[exit] // set when standard output could not be written
	watchdog *time.Timer          // belongs to the goroutine that reads; set by shutdown
}

// errStopping is the cause of requests that end because the server does.
var errStopping = mcp.Errorf(mcp.CodeInternal, "Server stopping")
