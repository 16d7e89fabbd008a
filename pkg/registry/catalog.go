// Package registry lists the items of a project and writes the lists to .registry/, which
// all programs share.
//
// A [Catalog] returns one [List] for each kind of item: tools, resources, prompts and so on
// (package kinds). It checks a kind if a program asks for the list and the last check is
// too old. The function check runs these steps, and converts errors to a [Failure]:
//
//	origin   selects the source of the items: discovery, declarations (package declare),
//	         or the registry file
//	build    scans the directories (package scan), builds the declared items, and makes
//	         the list; it reuses the results for unchanged files
//	persist  writes the registry file if the list has changed
//
// [Catalog.Changes] returns the changed lists for a server. [Catalog.Refresh] and
// [Catalog.Status] implement commands of mcp-registry. store.go has the format of registry files,
// their directory and its lock.
//
// Other users and running programs can change the files that the package reads. So it opens
// files relative to open directories, never follows symbolic links, and never opens a file
// that could block the reader (package folder).
package registry

import (
	"cmp"
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

// Options are the functions and settings that a [Catalog] gets from a program. All are
// optional.
type Options struct {
	Log       mcp.LogFunc        // receives log messages
	OnMessage func(item.Message) // receives the same messages with topic and place
	Warn      func(line string)  // receives lines for standard error

	// For server.d/register.sh. Without a Runner the script never runs. Private
	// returns a directory that nobody else can enter.
	Runner  *script.Runner
	Confine script.ConfineFunc // nil: the script runs unconfined
	HookEnv func() project.Env
	Private func() (dir string, err error)

	// Changed receives the list of a kind when it differs from the one before, or the first error. It may be nil.
	Changed func(kind *kinds.Kind, list *List, err error)

	// Withhold returns the reasons why items of a kind are not offered, by name. It is called for each check of a kind.
	// Nil means that all are offered.
	Withhold func(kind *kinds.Kind, items []item.Item) map[string]error

	ReadOnly bool             // write nothing
	Now      func() time.Time // nil: time.Now
	LockWait time.Duration    // 0: 5 s
}

// A Catalog lists the items of a project and keeps .registry/ up to date. It is safe for
// concurrent use.
type Catalog struct {
	p        *project.Project
	o        Options
	now      func() time.Time
	store    store
	messages messageLog
	declared *declare.Reader
	hook     *declare.Hook
	states   []*state     // of each kind, in the order of kinds.All
	polling  sync.Mutex   // locked by Changes
	checks   atomic.Int64 // the number of checks that began
	scans    atomic.Int64
	warnings atomic.Int64 // the number of messages of level warning or higher

	unwritableNotice, staticNotice sync.Once
}

type state struct {
	kind *kinds.Kind
	last atomic.Pointer[outcome] // of the last check; nil before the first

	mutex ctxlock.Mutex // locked during a check of the kind; guards lastCheck
	lastCheck

	polled   time.Time // the last check by Changes; guarded by Catalog.polling
	reported string    // the last hash that Changes reported
}

type outcome struct {
	list      *List
	err       error
	number    int64     // of the check, in the order of the beginnings
	until     time.Time // the end of the TTL, which starts with the check
	firstHash string    // of the valid registry file before the first check, or ""

	dropped []string // the reason for each declared entry that was left out
}

// NewCatalog returns the catalog of a project. It reads no files.
func NewCatalog(p *project.Project, o Options) *Catalog {
	c := &Catalog{p: p, o: o, now: o.Now}
	if c.now == nil {
		c.now = time.Now
	}
	c.store.dir, c.store.check, c.store.limit, c.store.wait = p.Registry, p.CheckPath, p.Discovery.MaxBytes, o.LockWait
	c.store.wait = cmp.Or(c.store.wait, DefaultLockWait)
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

// Scans returns how often the directories of a kind were scanned.
func (c *Catalog) Scans() int { return int(c.scans.Load()) }

// HasHook reports whether there is an executable register.sh, trusted or not.
func (c *Catalog) HasHook() bool { return c.hook.Present() }

// List returns the items of a kind. It checks the project if the last check is too old. The error is a [*Failure] or
// the context's error.
func (c *Catalog) List(ctx context.Context, kind *kinds.Kind) (*List, error) {
	return c.list(ctx, c.state(kind), false)
}

// Fresh is like [Catalog.List] but always checks the project.
func (c *Catalog) Fresh(ctx context.Context, kind *kinds.Kind) (*List, error) {
	return c.list(ctx, c.state(kind), true)
}

// DeclaredPaths returns the paths of all declared entries of a kind, also of invalid entries. In static
// mode it returns the paths in the registry file. It writes nothing.
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

func (c *Catalog) list(ctx context.Context, s *state, fresh bool) (*List, error) {
	now := c.now()
	return c.obtain(ctx, s, c.checks.Load(), func(o *outcome) bool { return !fresh && now.Before(o.until) })
}

func (c *Catalog) state(kind *kinds.Kind) *state { return c.states[slices.Index(kinds.All, kind)] }

// obtain returns the last outcome if isValid accepts it, or if its check has a higher number than asked. Otherwise it
// checks the kind.
func (c *Catalog) obtain(ctx context.Context, s *state, asked int64, isValid func(*outcome) bool) (*List, error) {
	if o := s.last.Load(); o != nil && isValid(o) {
		return o.list, o.err
	}
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	// Another goroutine may have checked the kind.
	if o := s.last.Load(); o != nil && (isValid(o) || o.number > asked) {
		return o.list, o.err
	}
	return c.renew(ctx, s, request{asked: asked, within: c.bounds(c.p.Discovery.SubPath)[s.kind]})
}

type request struct {
	asked  int64  // the number of checks that began before the request; their results may be old
	within string // a subtree of the content directory, or "" for the whole directory
	force  bool   // for the refresh command: ignore static mode, and fail if the file cannot be written
	locked bool   // the lock was not available for another kind: do not wait again
}

// renew checks a kind and stores the outcome. The caller has locked the state's mutex.
func (c *Catalog) renew(ctx context.Context, s *state, r request) (*List, error) {
	number, began := c.checks.Add(1), c.now()
	list, err := c.check(ctx, s, r)
	if _, failed := errors.AsType[*Failure](err); err != nil && !failed {
		return nil, err // cancelled
	}
	if err == nil && c.o.Withhold != nil {
		list = list.without(c.o.Withhold(s.kind, list.Items), s.last.Load())
	}
	o := &outcome{
		list: list, err: err, number: number, until: began.Add(s.kind.TTL(&c.p.Discovery)),
		firstHash: s.firstHash, dropped: s.dropped,
	}
	last := s.last.Swap(o)
	if c.o.Changed != nil && (last == nil || last.list != list || (last.err == nil) != (err == nil)) {
		c.o.Changed(s.kind, list, err)
	}
	return list, err
}

func (c *Catalog) log(level mcp.Level, logger, text string) {
	c.report(logger, item.Message{Level: level, Text: text})
}

func (c *Catalog) report(logger string, m item.Message) {
	if m.Level >= mcp.Warning {
		c.warnings.Add(1)
	}
	c.inform(m.Level, logger, m.Line())
	if c.o.OnMessage != nil {
		c.o.OnMessage(m)
	}
}

// inform logs a message that does not count as a warning about the project.
func (c *Catalog) inform(level mcp.Level, logger, text string) {
	if c.o.Log != nil {
		c.o.Log(level, logger, text)
	}
}

// pollPace is the minimum time between two checks of a kind by Changes.
const pollPace = time.Second

// A Poll describes a call of [Catalog.Changes].
type Poll struct {
	Idle  bool // called by a timer: do not run register.sh
	Fresh bool // check all kinds, also before the end of the TTL
}

// Changes returns the kinds that have changed since Changes last returned them, in the order of [kinds.All]. The first
// call compares a kind with the valid registry file from before the first check. A kind without such a file has
// changed. A kind that is not available has not changed.
//
// Changes checks the kinds whose TTL has ended, each at most once a second. Other calls are
// cheap, so a server can call it after each message. A call during another call returns
// nothing, unless Poll.Fresh is set.
func (c *Catalog) Changes(ctx context.Context, p Poll) []*kinds.Kind {
	if c.p.Discovery.Static {
		return nil
	}
	if p.Fresh {
		c.polling.Lock()
	} else if !c.polling.TryLock() {
		return nil
	}
	defer c.polling.Unlock()
	check := !p.Idle || !c.hook.Due(ctx)
	now, asked := c.now(), c.checks.Load()
	for _, s := range c.states {
		if check && (p.Fresh || now.Sub(s.polled) >= pollPace) {
			s.polled = now
			c.obtain(ctx, s, asked, func(o *outcome) bool { return !p.Fresh && now.Before(o.until) })
		}
	}
	var changed []*kinds.Kind
	for _, s := range c.states { // a second loop, because the check of one kind may check another
		if s.changed() {
			changed = append(changed, s.kind)
		}
	}
	return changed
}

func (s *state) changed() bool {
	o := s.last.Load()
	if o == nil || o.list == nil {
		return false
	}
	s.reported = cmp.Or(s.reported, o.firstHash)
	if s.reported == o.list.Hash {
		return false
	}
	s.reported = o.list.Hash
	return true
}

// A messageLog logs a message about a topic once, and again only after a check without the message.
type messageLog struct {
	log    func(logger string, m item.Message)
	mu     sync.Mutex
	logged map[string]map[item.Message]bool // by topic
}

// report logs the messages of a check that are new since the last check of the topic.
func (j *messageLog) report(topic, logger string, now []item.Message) {
	j.add(topic, logger, now, func(item.Message) bool { return false })
}

// reportFound is like report, but leaves out messages that another topic has logged. Kinds
// that scan the same directory report the same faults of its files.
func (j *messageLog) reportFound(topic, logger string, now []item.Message) {
	j.add(topic, logger, now, func(m item.Message) bool {
		for other, messages := range j.logged {
			if other != topic && messages[m] {
				return true
			}
		}
		return false
	})
}

func (j *messageLog) add(topic, logger string, now []item.Message, known func(item.Message) bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := j.logged[topic]
	if len(now) == 0 && before == nil {
		return
	}
	current := make(map[item.Message]bool, len(now))
	for _, m := range now {
		if !before[m] && !current[m] && !known(m) {
			j.log(logger, m)
		}
		current[m] = true
	}
	if j.logged == nil {
		j.logged = make(map[string]map[item.Message]bool)
	}
	j.logged[topic] = current
}
