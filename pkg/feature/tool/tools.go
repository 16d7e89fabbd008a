package tool

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

// A Config has the dependencies of [Tools].
type Config struct {
	Project *project.Project
	// Find returns the registry entry of a tool, or nil.
	Find func(ctx context.Context, name string) (json.RawMessage, error)
	// Near returns the tool with the most similar name, or "". It may be nil.
	Near   func(ctx context.Context, name string) string
	Level  access.Level // tools that need a higher level are refused
	Policy *policy.Policy
	Runner *script.Runner
	// Sandbox confines tools. nil means that they are not confined.
	Sandbox   *sandbox.Sandbox
	Common    project.Env // variables for every script
	State     *project.State
	Results   *results.Client // large results of the client; nil: they are not stored
	Caller    *auth.Identity  // of all calls; nil: it needed no credential
	Log       mcp.LogFunc
	Debug     func() bool       // reports whether debug messages are logged
	Stderr    io.Writer         // receives copies of standard error if configured (T-136)
	ScriptLog script.StderrFunc // for the log (T-137)
}

// Tools calls the tools of one project. It is safe for concurrent use.
type Tools struct {
	Config
	*shared
}

// shared is what the tools of all clients have in common.
type shared struct {
	project *project.Project
	base    []string
	files   *handoff.Pool
	schemas schema.Cache
	digests digests
	counter atomic.Int64
	inherit sync.Once
	faults  mcp.LogFunc // for faults of this process
	// reviewed has the scripts that succeeded and whose text was searched for mistakes.
	reviewed sync.Map
	bash     sync.Map        // reports for scripts whether Bash runs them
	watcher  handoff.Watcher // of calls that wait for their client
}

// New returns the tools of a project.
func New(c Config) *Tools {
	return &Tools{c, &shared{
		project: c.Project,
		base:    baseEnviron(c.Project, &c.Project.Scripts.Tools, c.Common, c.State.Dir),
		files:   c.State.Files(),
		faults:  mcp.Sparse(c.Log),
	}}
}

// ForClient returns the same tools for a client: messages of its calls go to log, and it may call
// what its identity permits.
func (t *Tools) ForClient(caller *auth.Identity, stored *results.Client, log mcp.LogFunc,
	debug func() bool) *Tools {
	policy := *t.Policy
	policy.Log = log
	c := t.Config
	c.Policy, c.Caller, c.Results, c.Log, c.Debug = &policy, caller, stored, log, debug
	return &Tools{c, t.shared}
}

const logger = "mcp.tools"

// logs returns the directory for logs of calls, and its path: from the settings, or the private directory (T-260).
func (t *Tools) logs() (root *os.Root, path string, err error) {
	if t.State.Logs != nil {
		return t.State.Logs, t.project.Logging.Dir, nil
	}
	root, err = t.State.Root()
	return root, t.State.Dir, err
}

func (t *Tools) unique() string { return strconv.FormatInt(t.counter.Add(1), 10) }
