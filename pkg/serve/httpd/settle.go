package httpd

import (
	"context"
	"net"
	"net/http"
	"time"
)

const (
	// keptTime is how long unused connections stay open after the server accepts no more. A load balancer can send a
	// request over one until it notices that the server ends.
	keptTime = time.Second
	// lateTime is how long after that requests may take that have begun to arrive.
	lateTime = 500 * time.Millisecond
	// handshakeTime is how long a handshake may still take that has begun before new ones are refused.
	handshakeTime = 250 * time.Millisecond
	settlePace    = time.Millisecond
	keptPace      = 10 * time.Millisecond
)

// settle prepares the listener for its end. A client that can no longer connect tries another server. A client that
// is already connected sends its request, so closing the listener must not reset connections that nobody has accepted
// yet. settle refuses new ones, and returns when all others are accepted or ctx ends. within is the time for
// handshakes that have begun: such a client may believe that it is connected. A socket of a service manager stays as
// it is: the next server accepts its connections.
func (l *Listener) settle(ctx context.Context, within time.Duration) {
	if l.inherited {
		return
	}
	l.remove()
	refuseConnections(l.Listener)
	begun, stop := context.WithTimeout(ctx, within)
	defer stop()
	for hasHandshakes(l.Listener) && pause(begun, settlePace) {
	}
	for hasConnections(l.Listener) && pause(ctx, settlePace) {
	}
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitTasks lets tasks run, and clients get their answers, within the time for running requests (TASK-62). Other
// connections bring these requests, so the server accepts them meanwhile.
func (s *Server) awaitTasks() {
	ctx, cancel := context.WithTimeout(s.Context, s.limits.drain)
	defer cancel()
	for began := time.Now(); s.Config.Server.OwesTasks(began) && pause(ctx, keptPace); {
	}
}

// settle ends accepting, and then the connections without a request, so that no request is lost (H-60). Each answer of
// a server that ends closes its connection. So only connections on which nothing was sent for keptTime remain unused.
func (s *Server) settle() {
	ctx, cancel := context.WithTimeout(s.Context, s.limits.kept+lateTime)
	defer cancel()
	s.Listener.settle(ctx, handshakeTime)
	s.Listener.Close()
	select {
	case <-s.accepted:
	case <-ctx.Done():
	}
	kept, enough := context.WithTimeout(ctx, s.limits.kept)
	defer enough()
	for len(s.connections.Unused()) > 0 && pause(kept, keptPace) {
	}
	for unused := s.connections.Unused(); len(unused) > 0; unused = s.connections.Unused() {
		for _, nc := range unused {
			if c := timed(nc); c != nil {
				c.endUnused()
			}
		}
		if !pause(ctx, settlePace) {
			return
		}
	}
	for s.pending.Load() > 0 && pause(ctx, settlePace) {
	}
}

// follow follows the state of a connection. It is for [http.Server.ConnState].
func (s *Server) follow(nc net.Conn, state http.ConnState) {
	if c := timed(nc); c != nil {
		s.arrived(c)
		switch state {
		case http.StateActive:
			c.pending.Store(true)
			s.pending.Add(1)
		case http.StateIdle:
			c.used.Store(false)
		}
	}
	s.connections.State(nc, state)
}

// arrived notes that the request of a connection has reached its client, or needs none.
func (s *Server) arrived(c *timedConn) {
	if c != nil && c.pending.Swap(false) {
		s.pending.Add(-1)
	}
}

// announceEnd lets a response announce the end of its connection while the server ends.
func (s *Server) announceEnd(h http.Header) {
	if !s.serving.Load() {
		h["Connection"] = s.values.closes
	}
}

// endChunks ends a response in chunks, while the server ends with its connection. A load balancer would send another
// request over a connection whose end was not announced. With the last bytes it learns that the connection has ended.
func (s *Server) endChunks(w http.ResponseWriter, r *http.Request) {
	if s.serving.Load() || w.Header()["Connection"] != nil || !r.ProtoAtLeast(1, 1) {
		return
	}
	if nc, _, err := http.NewResponseController(w).Hijack(); err == nil {
		finishChunks(nc)
	}
}
