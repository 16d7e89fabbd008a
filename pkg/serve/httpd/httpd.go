// Package httpd serves many clients over Streamable HTTP. Each POST of the stateless protocol is
// independent. A client of the handshake protocol has a session, which keeps its streams.
//
// A [Listener] accepts connections, a [Gate] decides which requests come in, and a [Server] gives
// their messages to package protocol:
//
//	listener, err := httpd.Listen(addr, env)
//	gate, err := httpd.NewGate(ctx, listener, access, log)
//	server := httpd.New(httpd.Config{ … })
//	go server.Serve()
//
// A post (post.go) is the sink for everything that its message causes: one JSON answer, or a stream of events. A
// stream (stream.go) keeps events for clients that resume it. Server.maintain ends sessions and clients that are no
// longer used. Packages below internal have the parts that know nothing about MCP.
package httpd

import (
	"container/list"
	"context"
	"log"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/serve/httpd/internal/guard"
)

// Options are the settings of the operator.
type Options struct {
	Addr       string // see [Listen]
	TrustRoots bool   // the roots of clients apply although they can be on other machines
	Access     Access

	StateKeyFile string // the keys that replicas share, or ""
	Advertise    string // the URL at which other replicas reach this one, or ""
	Metrics      string // the address of the metrics, "" or "off"
}

// A Config is the input of [New].
type Config struct {
	Options
	Context  context.Context // of the process
	Listener *Listener
	Gate     *Gate // nil: all requests are accepted
	Project  *project.Project
	Console  *console.Console
	Server   *protocol.Server
	Metrics  *metrics.Metrics // nil: metrics are off

	guard func(http.Handler) http.Handler // set by tests, in place of Gate
	// challenge returns the value of WWW-Authenticate for a token that lacks a scope.
	challenge func(scope string) string
}

// A Server is the HTTP transport of a process.
type Server struct {
	Config
	limits limits
	http   http.Server
	values headerValues

	replicas    *replicas
	connections *guard.Connections
	pending     atomic.Int64  // requests that have not reached their clients yet
	accepted    chan struct{} // is closed when no more connections are accepted

	posts    sync.Pool // of *post
	bodies   sync.Pool // of *[]byte
	endings  chan protocol.Ending
	serving  atomic.Bool   // false before Serve, and when the server ends
	last     atomic.Uint64 // the number of the last request of the stateless protocol
	ballast  []byte        // see ballastSize
	used     atomic.Bool   // since the last round of maintain
	unread   unread
	running  running
	arriving arriving
	kept     kept

	evictions *guard.Quota                 // of sessions
	refusals  *guard.Sample[*events.Event] // of requests that the gate refuses

	mu       sync.Mutex
	callers  map[string]*caller  // by the key of their identity
	sessions map[string]*session // by id
	streams  map[*stream]string  // with hijacked connections; the values are owners
	persons  struct{ sessions, streams share.Usage }
	ended    list.List // of *stream: of all sessions, the oldest first, which can be resumed
	closing  bool      // no more sessions and streams
}

// headerValues are values of response headers, which are never changed.
type headerValues struct{ json, events, noStore, noBuffering, closes []string }

// New returns a server that does not accept requests yet.
func New(c Config) *Server {
	s := &Server{
		Config: c, limits: readLimits(c.Project.Env),
		endings: make(chan protocol.Ending, 1), accepted: make(chan struct{}),
		ballast: make([]byte, ballastSize),
		callers: map[string]*caller{}, sessions: map[string]*session{}, streams: map[*stream]string{},
		values: headerValues{
			json: []string{"application/json"}, events: []string{"text/event-stream"}, noStore: []string{"no-store"},
			noBuffering: []string{"no"}, closes: []string{"close"},
		},
	}
	s.unread.bound, s.arriving.bound, s.kept.bound = s.limits.pending, s.limits.pending, s.limits.pending
	notice := func(line string) { s.Console.Notice("mcp-bash: %s", line) }
	s.evictions, s.refusals = guard.NewQuota(notice), guard.NewSample[*events.Event](refusalBurst, refusalPace)
	s.posts.New = func() any { return &post{server: s, done: make(chan struct{}, 1)} }
	s.bodies.New = func() any { return new([]byte) }
	s.http = http.Server{
		Handler: http.HandlerFunc(s.handle), ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime,
		IdleTimeout:    unusedTime,
		MaxHeaderBytes: s.limits.header - headerSlack, DisableGeneralOptionsHandler: true, Protocols: new(http.Protocols),
	}
	s.http.Protocols.SetHTTP1(true)
	s.http.ErrorLog = log.New(guard.NewQuota(notice), "", 0)
	s.connections = guard.NewConnections(settings.Int(c.Project.Env, "MCPBASH_HTTP_MAX_CONNECTIONS"))
	s.http.ConnState, s.http.ConnContext = s.follow, withConn
	s.replicas = newReplicas(s, s.http.Handler)
	switch {
	case c.guard != nil:
		s.http.Handler = c.guard(s.http.Handler)
	case c.Gate != nil:
		s.http.Handler, s.challenge = c.Gate.open(s, s.http.Handler), c.Gate.guard.Challenge
	}
	s.http.Handler = s.prepare(s.replicas.meet(s.http.Handler))
	return s
}

const (
	headerTime = 10 * time.Second // for the header of a request
	extraTime  = 2 * time.Second  // the same, above the limit of connections
	bodyTime   = 30 * time.Second // for the header and the body of a request, until readBody ends it
	unusedTime = 2 * time.Minute  // of a connection without a request
)

// headerSlack is the number of bytes that net/http reads beyond MaxHeaderBytes before it refuses a header.
const headerSlack = 4096

// ballastSize is the size, in bytes, of memory that is allocated and never used, so it takes no pages. A busy server
// has a heap of a few megabytes, which the garbage collector would scan hundreds of times a second. The ballast makes
// the heap look larger, so the collector runs less often. maintain frees it in an idle server.
const ballastSize = 24 << 20

// Serve begins to accept requests.
func (s *Server) Serve() {
	s.serving.Store(true)
	s.Console.Announce("mcp-bash: serving %s", s.Listener.URL)
	go func() {
		defer close(s.accepted)
		err := s.http.Serve(s.Listener)
		if err != http.ErrServerClosed && s.serving.Load() {
			s.end(protocol.Ending{Code: 1, Kill: true, Reason: "mcp-bash: serve " + s.Listener.URL + ": " +
				err.Error()})
		}
	}()
	go s.replicas.Serve(s.replicas.channels)
	go s.maintain()
}

func (s *Server) end(e protocol.Ending) {
	select {
	case s.endings <- e:
	default:
	}
}

// Endings returns the channel of the reasons to end the process.
func (s *Server) Endings() <-chan protocol.Ending { return s.endings }

// Signalled returns how a signal ends the process: running requests may finish.
func (s *Server) Signalled(e protocol.Ending) protocol.Ending {
	if s.limits.drain == 0 {
		return e
	}
	return protocol.Ending{Code: e.Code, Within: s.limits.drain + s.limits.drainDelay + s.limits.kept + lateTime}
}

// Drain ends the streams, and waits until all requests are answered and their connections closed.
func (s *Server) Drain() *protocol.Ending {
	s.serving.Store(false)
	pause(s.Context, s.limits.drainDelay)
	s.awaitTasks()
	s.settle()
	s.http.SetKeepAlivesEnabled(false)
	clients := s.close()
	for _, client := range clients {
		client.CloseInput()
		client.Finish()
	}
	s.endStreams(func(st *stream) bool { return st.session == nil || st == st.session.own })
	s.http.Shutdown(s.Context)
	s.replicas.Shutdown(s.Context)
	s.endStreams(nil) // streams that were resumed have their answers now
	for _, client := range clients {
		client.Wait()
		client.Leave()
	}
	return nil
}

// close prevents new clients and streams, and returns all clients.
func (s *Server) close() (all []*protocol.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	for _, c := range s.callers {
		all = append(all, c.client)
	}
	for _, se := range s.sessions {
		all = append(all, se.client)
	}
	return all
}

// endStreams ends the streams with hijacked connections, and waits until their clients have read everything. of
// selects streams; nil: all.
func (s *Server) endStreams(of func(*stream) bool) {
	var ends sync.WaitGroup
	s.mu.Lock()
	for st := range s.streams {
		if of == nil || of(st) {
			ends.Go(func() { st.end("the server stops") })
		}
	}
	s.mu.Unlock()
	ends.Wait()
}

// Kill ends all requests without answers. answered is closed when all requests are answered, and
// ended when nothing runs.
func (s *Server) Kill(cause error, _ bool) (answered, ended <-chan struct{}) {
	s.serving.Store(false)
	s.Listener.Close()
	clients := s.close()
	for _, client := range clients {
		client.Cancel(cause)
	}
	first, second := make(chan struct{}), make(chan struct{})
	go func() {
		for _, client := range clients {
			client.WaitAnswered()
		}
		close(first)
		for _, client := range clients {
			client.Wait()
		}
		close(second)
	}()
	return first, second
}

// Finish lets running responses end within lastGrace, and closes all connections.
func (s *Server) Finish(<-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), lastGrace)
	defer cancel()
	s.http.Shutdown(ctx)
	s.replicas.Shutdown(ctx)
	s.endStreams(nil)
}

// lastGrace is how long clients may take to read the last answers.
const lastGrace = time.Second

// Close closes all connections, and removes the file of a socket.
func (s *Server) Close() {
	s.http.Close()
	s.replicas.Close()
	s.Listener.Close()
	s.recordRefusals()
}

// limits are the bounds of the transport (http section 7).
type limits struct {
	body, header int // bytes of a request
	sessions     int
	sessionIdle  time.Duration // 0: none
	streams      int
	keepAlive    time.Duration // between comments on a silent stream; 0: none
	drain        time.Duration
	drainDelay   time.Duration
	kept         time.Duration // keptTime
	replay       int           // bytes of events that a stream keeps for resumption
	pending      int           // bytes for all sessions
}

func readLimits(env project.Env) limits {
	return limits{
		body: settings.Int(env, "MCPBASH_HTTP_MAX_BODY"), header: settings.Int(env, "MCPBASH_HTTP_MAX_HEADER"),
		sessions:    settings.Int(env, "MCPBASH_HTTP_MAX_SESSIONS"),
		sessionIdle: settings.Duration(env, "MCPBASH_HTTP_SESSION_IDLE"),
		streams:     settings.Int(env, "MCPBASH_HTTP_MAX_STREAMS"),
		keepAlive:   settings.Duration(env, "MCPBASH_HTTP_KEEPALIVE"),
		drain:       settings.Duration(env, "MCPBASH_HTTP_DRAIN"),
		drainDelay:  settings.Duration(env, "MCPBASH_HTTP_DRAIN_DELAY"),
		kept:        keptTime,
		replay:      settings.Int(env, "MCPBASH_HTTP_REPLAY"),
		pending:     settings.Int(env, "MCPBASH_MAX_PENDING_BYTES"),
	}
}

// LimitConnections returns an [http.Server.ConnState] that limits the connections of another server of this process.
func LimitConnections(most int) func(net.Conn, http.ConnState) {
	return guard.NewConnections(most).State
}

// Reading returns the values of the protocol, and adds the limits of HTTP.
func (s *Server) Reading() metrics.Reading {
	r := s.Server.Reading()
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Uses = append(r.Uses, s.connections.Use(),
		metrics.Use{Limit: "sessions", Used: len(s.sessions), Most: s.limits.sessions},
		metrics.Use{Limit: "streams", Used: s.persons.streams.All(), Most: s.limits.streams})
	return r
}

// restTime is the minimum time between two releases of memory to the system.
const restTime = 30 * time.Second

// maintain sends comments on silent streams, and ends sessions, streams and clients that are no longer used. It
// returns unused memory to the system when no requests come.
func (s *Server) maintain() {
	pace := 5 * time.Second
	for _, limit := range []time.Duration{s.limits.keepAlive, s.limits.sessionIdle} {
		if limit > 0 {
			pace = min(pace, limit/4)
		}
	}
	ticker := time.NewTicker(max(pace, 10*time.Millisecond))
	defer ticker.Stop()
	var garbage bool // requests or sessions may have left some
	var freed time.Time
	for {
		select {
		case <-s.Context.Done():
			return
		case <-ticker.C:
		}
		if s.limits.keepAlive > 0 {
			s.running.keepAlive(s.limits.keepAlive)
			for _, st := range s.silent() {
				st.comment("")
			}
		}
		for _, st := range s.rejected() {
			go st.hangUp("the credential is no longer accepted") // H-49: it waits for the client
		}
		s.dropCallers()
		s.dropSessions()
		s.recordRefusals()
		switch {
		case s.used.Swap(false):
			garbage = true
		case garbage && time.Since(freed) > restTime:
			debug.FreeOSMemory()
			garbage, freed = false, time.Now()
		}
	}
}

// silent returns the streams with hijacked connections on which nothing was sent for a while.
func (s *Server) silent() (list []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.streams {
		if st.silent(s.limits.keepAlive) {
			list = append(list, st)
		}
	}
	return list
}

// rejected returns the streams whose credential has expired or was revoked, each once.
func (s *Server) rejected() (list []*stream) {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.streams))
	s.mu.Unlock()
	for _, st := range open {
		st.mu.Lock()
		if !st.opener.Accepted() {
			list, st.opener = append(list, st), nil
		}
		st.mu.Unlock()
	}
	return list
}
