package tool

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

// A Config is what a project's tools are called with.
type Config struct {
	Project *project.Project
	// Find returns the registry entry of a tool, nil when there is none.
	Find func(ctx context.Context, name string) (json.RawMessage, error)
	// Near, when set, returns the tool that a name nobody has most likely stands
	// for, "" for none.
	Near   func(ctx context.Context, name string) string
	Level  access.Level // tools that need more are refused
	Policy *policy.Policy
	Runner *script.Runner
	// Sandbox holds tools to what they declare; nil holds none.
	Sandbox *sandbox.Sandbox
	Common  project.Env // what every script is given
	State   *project.State
	Log     mcp.LogFunc
	Debug   func() bool // whether debug messages go anywhere
	Stderr  io.Writer   // where a tool's standard error is copied, if it is (T-136)
}

// Tools calls the tools of one project. It may be used from any goroutine.
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
	counter atomic.Int64
	inherit sync.Once
	watcher handoff.Watcher // of calls that wait for their client
}

// New returns the tools of a project.
func New(c Config) *Tools {
	return &Tools{c, &shared{
		project: c.Project,
		base:    baseEnviron(c.Project, &c.Project.Scripts.Tools, c.Common, c.State.Dir),
		files:   handoff.NewPool(c.State.Dir, handoff.MostIdle(), c.State.Root),
	}}
}

// WithLog returns the same tools for a client: messages of its calls go to log.
func (t *Tools) WithLog(log mcp.LogFunc, debug func() bool) *Tools {
	policy := *t.Policy
	policy.Log = log
	c := t.Config
	c.Policy, c.Log, c.Debug = &policy, log, debug
	return &Tools{c, t.shared}
}

const logger = "mcp.tools"

// logs returns the directory that logs of calls go to, and its path: the one of
// the settings, else the private one (T-260).
func (t *Tools) logs() (root *os.Root, path string, err error) {
	if t.State.Logs != nil {
		return t.State.Logs, t.project.Logging.Dir, nil
	}
	root, err = t.State.Root()
	return root, t.State.Dir, err
}

// unique makes names differ.
func (t *Tools) unique() string { return strconv.FormatInt(t.counter.Add(1), 10) }
