package protocol

import (
	"crypto/rand"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/protocol/calls/suspended"
	"mcp-bash/pkg/protocol/calls/tasks"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/protocol/methods"
	"mcp-bash/pkg/wire/mcp"
)

// A Replica describes this process to others that serve the same project.
type Replica = seal.Replica

// An Owner is another replica. The zero Owner is this process.
type Owner = seal.Owner

// Self returns this process, as other replicas know it.
func (s *Server) Self() Owner { return s.self.Owner }

// NewSessionID returns an id for a session of a caller, which nobody can guess. If this process has a URL, the id names
// it to other replicas (H-32).
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

// Owner returns the replica that has what a request names: the suspended call of a retry, a task, or a
// stored result. The error is the answer if that replica cannot be reached. The owner is zero for all
// requests that this process answers. A transport passes others on to the replica (H-504, LR-13, TASK-41).
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
	return methods.Replica{Self: s.self}.Owner(caller, method, params)
}
