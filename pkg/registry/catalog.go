package registry

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/internal/ctxlock"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// Options are what a [Catalog] needs from the program around it. The zero
// value is for one that only wants to know what a project offers.
type Options struct {
	Log  mcp.LogFunc        // gets messages; nil: none are wanted
	Said func(item.Message) // gets the same messages with topic and place; nil: none are wanted
	Warn func(line string)  // gets lines for standard error; nil: none

	// For server.d/register.sh. Without a Runner it is never run. Private
	// returns a directory that nobody else can enter.
	Runner  *script.Runner
	Confine script.ConfineFunc // nil: it runs as it is
	HookEnv func() project.Env
	Private func() (dir string, err error)

	ReadOnly bool             // write nothing (CLI-1202)
	Now      func() time.Time // nil: time.Now
	LockWait time.Duration    // 0: 5 s
}

// A Catalog knows what a project offers, and keeps .registry/ up to date. Its methods
// may be called from any goroutine.
type Catalog struct {
	p        *project.Project
	o        Options
	now      func() time.Time
	store    store
	messages messageLog
	declared *declare.Reader
	hook     *declare.Hook
	states   []*state     // of each kind, in the order of kinds.All
	polling  sync.Mutex   // held by Changes
	checks   atomic.Int64 // how many were begun
	warnings atomic.Int64 // how many were logged, more severe messages included

	unwritableNotice, staticNotice sync.Once
}

// A state is what is known of one kind.
type state struct {
	kind *kinds.Kind
	last atomic.Pointer[outcome] // of the last check; nil: there was none

	mutex ctxlock.Mutex // held by whoever checks the kind; guards lastCheck
	lastCheck

	polled   time.Time // by Changes, under Catalog.polling
	reported string    // the hash that was reported last
}

// An outcome is the result of a check. It is valid for a time.
type outcome struct {
	list      *List
	err       error
	number    int64 // of the check, in the order in which they began
	until     time.Time
	firstHash string // of the valid registry file before the first check, "" for none

	dropped []string // for each declared entry that was left out: why
}

// NewCatalog returns the catalog of a project. It touches no disk.
func NewCatalog(p *project.Project, o Options) *Catalog {
	c := &Catalog{p: p, o: o, now: o.Now}
	if c.now == nil {
		c.now = time.Now
	}
	c.store.dir, c.store.check, c.store.limit, c.store.wait = p.Registry, p.CheckPath, p.Discovery.MaxBytes, o.LockWait
	if c.store.wait == 0 {
		c.store.wait = DefaultLockWait
	}
	c.messages.log = c.report
	c.declared = declare.NewReader(p)
	c.hook = declare.NewHook(p, declare.HookOptions{
		Runner: o.Runner, Confine: o.Confine, Env: o.HookEnv, Private: o.Private, Now: c.now, Log: c.log, Note: c.inform,
	})
	for _, kind := range kinds.All {
		c.states = append(c.states, &state{kind: kind, mutex: ctxlock.New()})
	}
	return c
}

// HasHook reports whether there is a register.sh to run, or one that may not be run.
func (c *Catalog) HasHook() bool { return c.hook.Present() }

// List returns what the project offers of a kind. It checks the project if the last
// check is too old. The error is a [*Failure] or the context's.
func (c *Catalog) List(ctx context.Context, kind *kinds.Kind) (*List, error) {
	return c.list(ctx, c.state(kind), false)
}

// Fresh is like [Catalog.List] but always checks the project (M-63).
func (c *Catalog) Fresh(ctx context.Context, kind *kinds.Kind) (*List, error) {
	return c.list(ctx, c.state(kind), true)
}

// DeclaredPaths returns the paths of all entries that are declared of a kind, as they are written, also of
// those that a list leaves out. It writes nothing. In static mode they are those of the registry file.
func (c *Catalog) DeclaredPaths(ctx context.Context, kind *kinds.Kind) (paths []string, err error) {
	s := c.state(kind)
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	from, err := c.origin(ctx, s, request{asked: c.checks.Load()})
	switch {
	case err != nil:
		return nil, err
	case from.static != nil:
		for _, item := range from.static.Items {
			paths = append(paths, rawjson.TextOf(item.JSON, "path"))
		}
	case from.declared != nil:
		return from.declared.Paths(), from.declared.Err
	}
	return paths, nil
}

// list is [Catalog.List], or with fresh [Catalog.Fresh].
func (c *Catalog) list(ctx context.Context, s *state, fresh bool) (*List, error) {
	now := c.now()
	return c.obtain(ctx, s, c.checks.Load(), func(o *outcome) bool { return !fresh && now.Before(o.until) })
}

// state returns the state of a kind.
func (c *Catalog) state(kind *kinds.Kind) *state { return c.states[slices.Index(kinds.All, kind)] }

// obtain returns the last outcome if it serves or is of a check that began after the
// number asked; else it checks the kind.
func (c *Catalog) obtain(ctx context.Context, s *state, asked int64, serves func(*outcome) bool) (*List, error) {
	if o := s.last.Load(); o != nil && serves(o) {
		return o.list, o.err
	}
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	// Somebody else may have checked the kind meanwhile.
	if o := s.last.Load(); o != nil && (serves(o) || o.number > asked) {
		return o.list, o.err
	}
	return c.renew(ctx, s, request{asked: asked, within: c.bounds(c.p.Discovery.SubPath)[s.kind]})
}

// A request is how to check a kind.
type request struct {
	asked  int64  // how many checks had begun when it was made; what those saw may be old
	within string // a subtree of the content directory, "" for all of it
	force  bool   // by the refresh command: whatever the mode, and not to be able to write is a failure
	locked bool   // the lock was not to be had for the kind before: do not wait for it again
}

// renew checks a kind and remembers the outcome. The caller holds the state's mutex.
func (c *Catalog) renew(ctx context.Context, s *state, r request) (*List, error) {
	number := c.checks.Add(1)
	list, err := c.check(ctx, s, r)
	var failure *Failure
	if err != nil && !errors.As(err, &failure) {
		return nil, err // cancelled, which is no outcome
	}
	o := &outcome{
		list: list, err: err, number: number, until: c.now().Add(s.kind.TTL(&c.p.Discovery)),
		firstHash: s.firstHash, dropped: s.dropped,
	}
	s.last.Store(o)
	return list, err
}

// log logs a fault of the project, or what is less.
func (c *Catalog) log(level mcp.Level, logger, text string) {
	c.report(logger, item.Message{Level: level, Text: text})
}

// report logs a message.
func (c *Catalog) report(logger string, m item.Message) {
	if m.Level >= mcp.Warning {
		c.warnings.Add(1)
	}
	c.inform(m.Level, logger, m.Line())
	if c.o.Said != nil {
		c.o.Said(m)
	}
}

// inform logs something that is no fault of the project.
func (c *Catalog) inform(level mcp.Level, logger, text string) {
	if c.o.Log != nil {
		c.o.Log(level, logger, text)
	}
}
