package httpd

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/wire/mcp"
)

// A caller has the requests of the stateless protocol of one identity. They share a client, so a
// caller may resume its suspended calls with any request.
type caller struct {
	key    string // of the identity
	owner  string // see auth.Identity.Owner
	client *protocol.Client
	used   atomic.Int64 // the time of the last request, of [clock.Now]
}

// callerUnused is how long the client of an identity without requests is kept.
const callerUnused = 15 * time.Minute

// callerOf returns the caller with an identity, nil while the server ends.
func (s *Server) callerOf(id *auth.Identity) *caller {
	key := id.Key()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callers[key]
	if c == nil {
		if s.closing {
			return nil
		}
		c = &caller{key: key, owner: id.Owner()}
		c.client = s.Server.NewClient(nobody{}, protocol.Caller{
			Identity: id, Owner: c.owner, Remote: true, Shared: true, MaxStreams: s.limits.streams,
		})
		s.callers[key] = c
	}
	c.used.Store(int64(clock.Now()))
	return c
}

// dropCallers removes the clients of identities that no longer send requests.
func (s *Server) dropCallers() {
	since := int64(clock.Now() - callerUnused)
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, c := range s.callers {
		if c.used.Load() < since && !c.client.InUse() {
			delete(s.callers, key)
			c.client.Cancel(errUnused)
			c.client.Leave()
		}
	}
}

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
