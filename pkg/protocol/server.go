// Package protocol serves clients, independent of how their messages arrive. All clients of a
// process share a [Server]. A [Client] answers messages, or accepts them as requests that run next
// to the transport's reading.
//
// A transport gives each message to [Client.Accept], with a [Sink] for everything that the message
// causes. It runs the returned [Task] on a goroutine of its choice.
package protocol

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/feature/tool/paramheader"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/calls/suspended"
	"mcp-bash/pkg/protocol/calls/tasks"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/protocol/methods"
	"mcp-bash/pkg/protocol/stateless"
	"mcp-bash/pkg/protocol/subscribe"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/wire/mcp"
)

// A Log sends messages about the project, which belong to no single client, to all clients. It writes to standard
// error if no client takes log messages, or if the operator may not be the client.
type Log struct {
	console  *console.Console
	stderr   *session.Session
	operator bool
	sessions sync.Map // of *session.Session
}

// NewLog returns a Log without clients. operator means that standard error has its own reader, the operator, and
// always gets the messages.
func NewLog(c *console.Console, operator bool) *Log {
	return &Log{console: c, stderr: session.NewSession(nil, c, nil), operator: operator}
}

// Send logs a message. It is an [mcp.LogFunc].
func (l *Log) Send(level mcp.Level, logger, message string) {
	taken := false
	for s := range l.sessions.Range {
		if s := s.(*session.Session); s.Greeted.Load() {
			taken = true
			s.Log(level, logger, message)
		}
	}
	if !taken || l.operator {
		l.stderr.Log(level, logger, message)
	}
}

// Debugging reports whether debug messages are sent anywhere.
func (l *Log) Debugging() bool {
	for s := range l.sessions.Range {
		if s.(*session.Session).Debugging() {
			return true
		}
	}
	return l.console.Settings.Level <= mcp.Debug
}

// A Config is the input of [NewServer].
type Config struct {
	Context context.Context // of all clients
	Project *project.Project
	State   *project.State
	Engine  *engine.Engine // nil in minimal mode
	Console *console.Console
	Record  *console.Record
	Log     *Log        // also of the engine
	Events  events.Sink // nil: requests are not reported
	// Audit is the record of the requests, whose ids answers then have. It is one of Events. nil: nothing is recorded.
	Audit   events.Preparer
	Roots   roots.Scope // of a client that names none
	Replica Replica
}

// A Server has the project of all clients of a process, its lists, the suspended calls, and the
// limits for all.
type Server struct {
	Config
	offered   *methods.Project // nil in minimal mode
	pool      *calls.Pool
	suspended *suspended.Table
	tasks     *tasks.Table
	self      seal.Self
	lists     *subscribe.Lists
	results   *stateless.Results
}

// NewServer returns a server without clients.
func NewServer(c Config) *Server {
	self := seal.NewSelf(c.Replica.Keys, c.Replica.URL)
	s := &Server{
		Config: c, pool: calls.NewPool(&c.Project.Limits), self: self,
		suspended: suspended.NewTable(c.Context, c.Project, self),
		results:   stateless.NewResults(&c.Project.Meta),
	}
	s.tasks = tasks.NewTable(tasks.Config{
		Settings: &c.Project.Tasks, Limits: &c.Project.Limits, Grace: tasks.Grace, Running: handoff.MostWaiting(),
		Retry: c.Project.Sessions.ParkedTTL, NewID: s.suspended.NewID,
	})
	if c.Engine == nil {
		s.lists = subscribe.NewLists(c.Context, c.Project, nil, nil)
		return s
	}
	s.offered = methods.NewProject(c.Engine, self)
	s.lists = subscribe.NewLists(c.Context, c.Project, c.Engine.Catalog, s.offered.Skills())
	return s
}

// ParamHeaders returns the arguments of a tool that clients repeat in HTTP headers. It returns nil for a caller who may
// not call the tool.
func (s *Server) ParamHeaders(ctx context.Context, tool string) []paramheader.Param {
	if s.Engine == nil {
		return nil
	}
	if _, ok := auth.IdentityOf(ctx).Permits(auth.Tool, tool, s.Project.Meta.Scopes); !ok {
		return nil
	}
	of, err := s.Engine.ParamHeaders(ctx)
	if err != nil { // the call reports it
		return nil
	}
	return of[tool]
}

// OwesTasks reports whether a client would lose the answer of a task if the server ended now. See [tasks.Table.Owed]
// for the time.
func (s *Server) OwesTasks(since time.Time) bool { return s.tasks.Owed(since) }

// End waits for a check of the lists in progress, for within at most, and prevents later ones. Cancel the server's
// context first.
func (s *Server) End(within time.Duration) { s.lists.End(within) }

// Reading returns the usage of the limits, and the other values that events do not count.
func (s *Server) Reading() (r metrics.Reading) {
	r.Uses, r.Queued = s.pool.Uses()
	r.Uses = append(r.Uses, s.suspended.Use(), s.tasks.Use())
	if s.Engine != nil {
		r.Threads, r.Scans = s.Engine.Runner.Threads(), s.Engine.Catalog.Scans()
	}
	return r
}

// A Replica describes this process to others that serve the same project.
type Replica = seal.Replica

// An Owner is another replica. The zero Owner is this process.
type Owner = seal.Owner

// Self returns the identity of this process for other replicas.
func (s *Server) Self() Owner { return s.self.Owner }

// NewSessionID returns an unguessable id for a session of a caller. If this process has a URL, the id names it to
// other replicas.
func (s *Server) NewSessionID(caller *auth.Identity) string {
	id := rand.Text()
	if s.self.URL != "" {
		id += sessionMark + s.self.Name(sessionBound(id, caller))
	}
	return id
}

// sessionMark is between the random text of a session's id and the name of its replica.
const sessionMark = "."

func sessionBound(random string, caller *auth.Identity) string {
	return "session " + random + " " + caller.Key()
}

// SessionOwner returns the replica that a session of a caller belongs to. It is zero for the sessions of this process,
// and for an id that no replica made for the caller.
func (s *Server) SessionOwner(id string, caller *auth.Identity) Owner {
	random, name, _ := strings.Cut(id, sessionMark)
	if name == "" {
		return Owner{}
	}
	return s.self.Find(name, sessionBound(random, caller))
}

// Owner returns the replica that has the suspended call, the task or the stored result that a request names. The
// error is the answer if that replica cannot be reached. The owner is zero for all requests that this process
// answers. A transport passes others on to the replica.
func (s *Server) Owner(caller *auth.Identity, method string, params *mcp.Params) (o Owner, gone *mcp.Error) {
	if id := tasks.IDOf(method, params); id != "" {
		return s.suspended.Owner(id, caller.Key()), tasks.ErrUnknown
	}
	if method == "tools/call" || method == "prompts/get" {
		if state := params.Text(mcp.ParamState); state != "" {
			if o := s.suspended.Owner(state, caller.Key()); o.URL != "" {
				return o, suspended.ErrOwnerGone
			}
		}
	}
	return methods.Owner(s.self, caller, method, params)
}
