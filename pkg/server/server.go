package server

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/jsonrpc"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/resource"
	"mcp-bash/pkg/script"
)

// A Server serves one client.
type Server struct {
	project   *project.Project
	state     *project.State
	bootstrap *project.TempDir // of the getting-started project, if that is served (P-120)
	stderr    io.Writer
	parent    int // the process that started us

	stdio      Stdio
	reader     *jsonrpc.Reader // belongs to the goroutine that reads
	scratch    []byte          // the same: where small answers are made
	writer     *jsonrpc.Writer
	payloads   *payloadLog
	token      tokenGuard
	corruption corruption

	session  *session
	hangup   sync.Once // begins awaitHangup
	requests *requests
	outgoing *outgoing
	roots    *rootKeeper
	methods  map[string]*method
	changes  *changeWatch

	runner *script.Runner
	engine *engine.Engine // nil in minimal mode

	resources     *resource.Resources // nil in minimal mode, as all that follows
	subscriptions *subscriptions

	base     context.Context // of every request
	stopAll  context.CancelCauseFunc
	dropped  atomic.Int64 // messages the client did not get, as it does not read (P-1805)
	activity atomic.Int64 // when the last line came, in nanoseconds
	exits    chan exit    // why to end; the first counts
	watchdog *time.Timer  // belongs to the goroutine that reads; set by shutdown
}

// errStopping is the cause of requests that end because the server does.
var errStopping = mcp.Errorf(mcp.CodeInternal, "Server stopping")

// send sends a line that belongs to no request.
func (s *Server) send(line []byte) {
	s.payloads.record("rpc", "-", "ok", line)
	s.writer.Send(line)
}
