package registry

import (
	"encoding/json"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Kinds are the kinds of things a project offers, in the order in which they
// are refreshed, reported and notified (registry ). The rest of
// the package knows kinds only through their descriptors.
var Kinds = []*Kind{Tools}

// A Kind describes one kind of thing: what it is called, and how its items are
// found and made. All its methods and fields are constant.
type Kind struct {
	Key    string // in register.json and in what the commands print
	File   string // its registry file
	Logger string // registry R-40
	Noun   string // "Tool": of one item, in messages
	Name   string // "Tool registry": in the message of R-121

	// What a request for the list is answered when it is not available: see
	// [Kind.Unavailable].
	code    int
	message string

	faults mcp.Level // at which the faults of register.json are logged
	crowd  string    // "Tools": in the warning of R-122; "" for a kind that has none

	dir func(*project.Project) string          // its content directory
	ttl func(*project.Discovery) time.Duration

	// passes reports whether a directory below the content directory is passed
	// over with everything in it; nil: none is.
	passes func(path string) bool
	// examine adds what it finds in one directory; nil: the kind is only listed
	// by hand.
	examine func(*look)
	// entry makes an item of an entry of a handwritten list.
	entry func(*subject) (found, bool)
}

// Unavailable is what a client is told whose request needs the list of this
// kind, when [Catalog.List] failed.
func (k *Kind) Unavailable(err error) *mcp.Error {
	return &mcp.Error{Code: k.code, Message: k.message, Data: Reason(err)}
}

// Reason is the data of an error that goes back to a failure of this package:
// {"reason":…}.
func Reason(err error) json.RawMessage {
	var b rawjson.Builder
	return b.Object().Name("reason").String(err.Error()).End().Bytes()
}

// A Failure says why a kind is not available. Its text is what was logged.
type Failure struct {
	Kind   *Kind
	Reason string
	Fatal  bool // the lock or the registry directory failed, not the project
}

func (f *Failure) Error() string { return f.Reason }
