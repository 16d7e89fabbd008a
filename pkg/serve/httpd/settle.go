package httpd

import (
	"context"
	"time"
)

const (
	// settleTime limits how long connections that exist at the end may take to send their first request.
	settleTime = time.Second
	// handshakeTime is how long a handshake may take that has begun before new ones are refused.
	handshakeTime = 250 * time.Millisecond
	settlePace    = time.Millisecond
)

// settle prepares the listener for its end. A client that can no longer connect tries another server. A client that
// is already connected sends its request, so closing the listener must not reset connections that nobody has accepted
// yet. settle refuses new ones, and returns when all others are accepted or ctx ends. within is the time for
// handshakes that have begun. A socket of a service manager stays as it is: the next server accepts its connections.
func (l *Listener) settle(ctx context.Context, within time.Duration) {
	if l.inherited {
		return
	}
	l.remove()
	if refuseConnections(l.Listener) {
		pause(ctx, min(within, handshakeTime))
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

// settle lets clients send the requests that they have begun, before the server refuses to run more.
func (s *Server) settle() {
	ctx, cancel := context.WithTimeout(s.Context, settleTime)
	defer cancel()
	s.Listener.settle(ctx, s.limits.drainDelay)
	for quiet := 0; quiet < 10; quiet++ { // the last request takes a moment from its connection to its client
		if s.connections.New() > 0 {
			quiet = 0
		}
		if !pause(ctx, settlePace) {
			return
		}
	}
}
