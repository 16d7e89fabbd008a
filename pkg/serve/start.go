package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/auth/statekey"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/events/stream"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/bounds"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/run/capacity"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/serve/httpd"
	"mcp-bash/pkg/serve/httpd/scrape"
	"mcp-bash/pkg/serve/stdio"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
)

// A starter opens a project and makes a process that serves it. Each step sets fields for later steps.
type starter struct {
	Options
	base      context.Context // of everything that runs
	stop      context.CancelCauseFunc
	runner    *script.Runner
	caught    func()                        // waits until signals are caught
	findHome  func() (*project.Home, error) // waits for the installation
	quiet     bool                          // before the settings are read
	warned    []string
	parent    int
	listener  *httpd.Listener // nil: the client is on Streams
	gate      *httpd.Gate     // of listener
	scrape    *scrape.Server  // nil: no metrics
	metrics   *metrics.Metrics
	bootstrap *project.TempDir
	project   *project.Project
	roots     roots.Scope // of a client that names none
	replica   protocol.Replica
	audit     *stream.Stream // nil: nothing is recorded
	lines     io.Writer      // standard error, for lines that are JSON already
	state     *project.State
	home      *project.Home
	reduced   []bounds.Reduction
	lock      *lock.Guard // nil: the project is not locked
}

func newStarter(o Options) *starter {
	st := &starter{Options: o, runner: new(script.Runner), quiet: quietEnv(o.Env), parent: os.Getppid()}
	st.base, st.stop = context.WithCancelCause(context.Background())
	return st
}

// start takes the steps of a start in the order of P-101. After the first error, nothing was
// written to the client, and no files are left.
func (st *starter) start() (*process, error) {
	// Slow work that depends on nothing else runs in parallel. A later step may add defaults to the environment, so
	// this work gets a copy.
	given := st.Env.Clone()
	st.findHome = background(func() (*project.Home, error) { return project.FindHome(given, st.Tree, st.warn) })
	for _, step := range []func() error{
		st.openTransport,
		st.openProject,
		st.checkLock,
		st.sourceProfile,
		st.sourceEnv,
		st.readHTTP,
		st.readRoots,
		func() error { return st.project.Token.Check() },
		st.openState,
		st.fit,
		func() (err error) { st.home, err = st.findHome(); return err }, // P-102
	} {
		if err := step(); err != nil {
			return nil, st.undo(err)
		}
	}
	p, err := st.newProcess()
	if err != nil {
		return nil, st.undo(err)
	}
	takeLibraryLog(p.console)
	p.announce()
	return p, nil
}

// undo removes the files of a failed start. A missing installation explains more than the errors
// that follow from it.
func (st *starter) undo(err error) error {
	if _, first := st.findHome(); first != nil {
		err = first
	}
	if st.bootstrap != nil {
		st.bootstrap.Remove()
	}
	if st.state != nil {
		st.state.Remove()
	}
	if st.listener != nil {
		st.listener.Close()
	}
	st.scrape.Close()
	st.audit.Close()
	return err
}

// warn writes a line to standard error before the settings are read.
func (st *starter) warn(text string) {
	if !st.quiet {
		cli.Printf(st.Stderr, "%s\n", text)
	}
}

// warnOnce is warn for reading the project, which can happen twice.
func (st *starter) warnOnce(text string) {
	if !slices.Contains(st.warned, text) {
		st.warned = append(st.warned, text)
		st.warn(text)
	}
}

// openTransport opens the transport: an address, or standard input and output.
func (st *starter) openTransport() (err error) {
	if st.HTTP != nil {
		st.listener, err = httpd.Listen(st.HTTP.Addr, st.Env)
		if err == nil {
			st.gate, err = httpd.NewGate(st.base, st.listener, st.HTTP.Access, st.warn)
		}
		return startError("serve --http: ", err)
	}
	t := cmp.Or(st.Env["MCPBASH_TRANSPORT"], st.Env["MCP_TRANSPORT"])
	if t != "" && !strings.EqualFold(t, "stdio") { // P-104
		st.warn("mcp-bash: unsupported transport '" + t + "'; defaulting to stdio.")
	}
	if st.Streams == nil {
		st.Streams, err = stdio.Open()
	}
	return err
}

// openProject finds the project and reads it. Without one, it makes a project that explains how to get one.
func (st *starter) openProject() error {
	root, err := project.FindRoot(st.Env, st.Root, st.Dir)
	if errors.Is(err, project.ErrNone) {
		st.caught() // from here on there are files to remove
		if st.bootstrap, err = makeBootstrap(st.Env); err == nil {
			root = st.bootstrap.Path
			st.warn("mcp-bash: no project configured; starting getting-started helper (temporary workspace " + root +
				")")
		}
	}
	if err != nil {
		return err
	}
	st.project = project.Open(root, st.Env, st.Dir, st.warnOnce)
	if st.bootstrap == nil {
		source := "MCPBASH_PROJECT_ROOT"
		if st.Root != "" {
			source = "--project-root"
		}
		if err := st.project.Check(source); err != nil {
			return err
		}
	}
	st.project.Create()
	if st.bootstrap != nil {
		st.project.Meta = project.Meta{
			Name: "mcp-bash", Title: "MCP Bash Framework", Version: cli.Version,
			Description: "Getting started helper - configure MCPBASH_PROJECT_ROOT to build your own server",
		}
	}
	return nil
}

// checkLock ends the start if a locked project has no usable lock, or differs from it.
func (st *starter) checkLock() (err error) {
	if st.bootstrap != nil || !st.project.Locked() {
		return nil
	}
	if st.lock, err = lock.NewGuard(st.project); err != nil {
		return startError("the project is locked: ", err)
	}
	st.runner.Allow = st.lock.Allow
	return nil
}

// quietEnv returns Settings.Quiet before the settings are read (P-1306).
func quietEnv(env project.Env) bool {
	level := env["MCPBASH_LOG_LEVEL"]
	return env["MCPBASH_QUIET"] == "true" || level != "" && mcp.ParseLevelSetting(level) >= mcp.Err
}

// profileTime limits the login profile, because a client waits.
const profileTime = 5 * time.Second

// sourceProfile sources the login profile that the launcher of a bundle names, and adopts the variables that changed.
// Desktop programs start servers without the PATH of a login shell. An error does not prevent the start.
func (st *starter) sourceProfile() error {
	p := st.project
	file := p.Env["MCPBASH_LOGIN_PROFILE"]
	if st.bootstrap != nil || file == "" || p.Env["MCPB_SKIP_LOGIN_SHELL"] != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(st.base, profileTime)
	defer cancel()
	changed, _, err := p.SourceProfile(ctx, st.runner, code.OperatorFile(file))
	if err != nil {
		return nil
	}
	for _, name := range []string{"MCPBASH_LOGIN_PROFILE", "MCPBASH_JSON_TOOL", "MCPBASH_JSON_TOOL_BIN"} {
		delete(changed, name) // the launcher's own
	}
	st.project = project.Open(p.Root, project.Adopt(p.Env, changed), st.Dir, st.warnOnce)
	return nil
}

// sourceEnv sources server.d/env.sh if the operator has enabled it, and reads the project again with the result.
func (st *starter) sourceEnv() error {
	p := st.project
	if st.bootstrap != nil || p.Env["MCPBASH_SERVER_SOURCE_ENV"] != "true" {
		return nil
	}
	file := code.Env.In(p)
	switch err := p.CheckTrusted(file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("mcp-bash: refusing insecure server.d/env.sh: %w", err)
	}
	changed, stderr, err := p.Source(st.base, st.runner, file)
	st.Stderr.Write([]byte(stderr))
	var failed *project.SourceError
	switch {
	case errors.As(err, &failed):
		return fmt.Errorf("mcp-bash: server.d/env.sh failed (exit %d)", failed.Status)
	case err != nil:
		return fmt.Errorf("mcp-bash: server.d/env.sh: %w", err)
	}
	st.project = project.Open(p.Root, project.Adopt(p.Env, changed), st.Dir, st.warnOnce)
	return nil
}

// startError returns the error that ends a start, with its remedy if it has one. It is nil for nil.
func startError(what string, err error) error {
	if err == nil {
		return nil
	}
	e := cli.Failf(cli.CodeInvalid, "mcp-bash: %s%v", what, err)
	if remedied, ok := errors.AsType[interface {
		error
		Remedy() string
	}](err); ok {
		e.Hint = cli.Line(remedied.Remedy())
	}
	return e
}

// readHTTP reads the settings of a server over HTTP, and opens the address of the metrics.
func (st *starter) readHTTP() error {
	if st.HTTP == nil {
		return nil
	}
	if err := settings.Check(st.project.Env, "MCPBASH_HTTP_"); err != nil {
		return startError("serve --http: ", err)
	}
	var err error
	if st.scrape, err = scrape.Open(cmp.Or(st.HTTP.Metrics, st.project.Env["MCPBASH_METRICS"])); err != nil {
		return startError("serve --metrics: ", err)
	}
	if st.scrape != nil {
		st.metrics = metrics.New(cli.Version)
	}
	return startError("serve --http: ", st.readReplica())
}

// readRoots reads the roots for a client that names none. An unusable root ends the start.
func (st *starter) readRoots() (err error) {
	st.roots, err = roots.Fallback(st.project)
	return startError("", err)
}

// readReplica reads what a server over HTTP shares with its replicas, and checks the scopes of tokens. An error in
// either ends the start, because the server would permit more, or lose calls.
func (st *starter) readReplica() (err error) {
	if err := st.project.Meta.BadScopes; err != nil {
		return err
	}
	env := st.project.Env
	file := cmp.Or(st.HTTP.StateKeyFile, env["MCPBASH_HTTP_STATE_KEY_FILE"])
	st.replica.URL = cmp.Or(st.HTTP.Advertise, env["MCPBASH_HTTP_ADVERTISE"])
	if file != "" {
		if st.replica.Keys, err = statekey.Read(file); err != nil {
			return httpd.FileError(err, "(umask 077; openssl rand -hex 32 >"+shell.Quote(file)+")")
		}
	}
	if st.replica.URL == "" {
		return nil
	}
	if file == "" {
		return errors.New("--advertise needs --state-key-file, since replicas share the state of calls by its key")
	}
	if err := statekey.CheckURL(st.replica.URL); err != nil {
		return fmt.Errorf("--advertise: %w", err)
	}
	return nil
}

// openAudit opens the record of what the server does. An unusable setting ends the start.
func (st *starter) openAudit(c *console.Console) (err error) {
	p := st.project
	for _, name := range []string{"MCPBASH_AUDIT", "MCPBASH_LOG_FORMAT"} {
		if err := settings.Check(p.Env, name); err != nil {
			return startError("", err)
		}
	}
	a := &p.Audit
	to := cmp.Or(st.Audit, a.To, "off")
	if to == "off" && a.Mode == "required" {
		return startError("", errors.New("MCPBASH_AUDIT_MODE=required needs MCPBASH_AUDIT or --audit"))
	}
	st.audit, err = stream.Open(stream.Config{
		To: to, Required: a.Mode == "required", SyncLine: a.Sync == "line",
		MaxSize: int64(a.MaxBytes), Files: a.Files, Key: a.Key, Arguments: stream.Form(a.Arguments),
		Redactor: &c.Redactor, Component: p.Meta.Name, Replica: st.replica.URL,
		Stderr: st.lines, Warn: func(text string) { c.Complain("mcp-bash: audit: %s", text) },
	})
	if err != nil {
		return startError("MCPBASH_AUDIT: ", err)
	}
	return st.audit.Emit(&events.Event{Type: events.Start, Note: "mcp-bash " + cli.Version})
}

// sinks returns the sinks for the events of requests, or nil. Over HTTP the log is one of them.
func (st *starter) sinks(c *console.Console) events.Sink {
	var list events.Sinks
	if st.audit != nil {
		list = append(list, st.audit)
	}
	if st.metrics != nil {
		list = append(list, st.metrics)
	}
	if st.HTTP != nil && c.Settings.Level <= mcp.Info && !c.Settings.Quiet {
		list = append(list, console.CallLog{Console: c})
	}
	if list == nil {
		return nil
	}
	return list
}

// openState chooses the private directory of this run.
func (st *starter) openState() error {
	p := st.project
	if st.Debug {
		p.Logging.DebugPayloads, p.Preserve = true, true
		state, err := project.NewDebugState(st.Env)
		if err != nil {
			return err
		}
		st.state = state
		cli.Printf(st.Stderr, "mcp-bash debug: logging to %s\n", filepath.Join(state.Dir, "payload.debug.log"))
		return nil
	}
	state, dir, err := project.NewState(p.Env, &p.Settings)
	if err == nil && (p.Preserve || p.KeepLogs || p.Logging.DebugPayloads) {
		err = state.Make() // the server writes files there
	}
	if err != nil {
		return cli.Failf(cli.CodeInternal, "mcp-bash: unable to create state directory: %s\n%v", dir, err)
	}
	st.state = state
	return nil
}

// fit reduces the limits that are too high for the system.
func (st *starter) fit() error {
	p, dir := st.project, st.state.Dir
	if _, err := os.Stat(dir); err != nil { // it is created when it is first needed
		dir = filepath.Dir(dir)
	}
	read := capacity.Read
	if st.Capacity != nil {
		read = st.Capacity
	}
	env := p.Env.Clone()
	st.reduced = bounds.Fit(env, read(dir), bounds.Use{HTTP: st.HTTP != nil, Forwards: len(st.replica.Keys) > 0})
	if st.reduced != nil {
		p.Env, p.Settings = env, project.ReadSettings(env, p.Dirs)
	}
	return nil
}

func (st *starter) newProcess() (*process, error) {
	p := st.project
	limitMemory(p.Limits.Pending)
	c := console.New(st.Stderr, p)
	if err := st.openAudit(c); err != nil {
		return nil, err
	}
	for err := range settings.Faults(p.Env, "") {
		c.Notice("mcp-bash: not used: %v", err)
	}
	record, err := c.OpenRecord(st.state, st.NDJSON)
	if err != nil {
		return nil, err
	}
	log := protocol.NewLog(c, st.HTTP != nil)
	if st.HTTP != nil {
		p.ServeStrangers(p.Env)
	}
	var scripts script.StderrFunc
	if p.Calls.StderrTo.Log {
		scripts = console.NewScriptLog(c).Add
	}
	sinks := st.sinks(c)
	var e *engine.Engine
	if !p.Minimal {
		e = engine.New(engine.Config{
			Project: p, State: st.state, Runner: st.runner, Home: st.home, Args: st.Args, Log: log.Send,
			Debug: log.Debugging, Notice: func(line string) { c.Notice("%s", line) }, Stderr: st.Stderr,
			ScriptLog: scripts, Lock: st.lock, Changed: st.watchRegistry(sinks),
		})
	}
	config := protocol.Config{
		Context: st.base, Project: p, State: st.state, Engine: e, Console: c, Record: record, Log: log, Roots: st.roots,
		Replica: st.replica, Events: sinks,
	}
	if st.audit != nil {
		config.Audit = st.audit
	}
	server := protocol.NewServer(config)
	return &process{st, c, server, st.newTransport(server)}, nil
}

// watchRegistry returns the function that records changes of the registry, or nil if neither the record nor the metrics
// need it. The log has no lines about them.
func (st *starter) watchRegistry(to events.Sink) func(*kinds.Kind, *registry.List, error) {
	if st.audit == nil && st.metrics == nil {
		return nil
	}
	watches := map[*kinds.Kind]*events.Watch{}
	for _, k := range kinds.All {
		watches[k] = &events.Watch{Type: events.Reload, Target: events.Target{Kind: k.Key}, To: to}
	}
	return func(k *kinds.Kind, list *registry.List, err error) {
		if err != nil {
			watches[k].Set(nil, err)
			return
		}
		watches[k].Set(list.Hashes(), nil)
	}
}

func (st *starter) newTransport(server *protocol.Server) transport {
	if st.HTTP != nil {
		s := httpd.New(httpd.Config{
			Options: *st.HTTP, Context: st.base, Listener: st.listener, Gate: st.gate, Project: st.project,
			Console: server.Console,
			Server:  server, Metrics: st.metrics,
		})
		if st.scrape != nil {
			st.scrape.Serve(func(dst []byte) []byte {
				r := s.Reading()
				r.Missed = st.audit.Lost()
				return st.metrics.AppendText(dst, r)
			})
			server.Console.Announce("mcp-bash: metrics at %s", st.scrape.URL())
		}
		return s
	}
	return stdio.New(stdio.Config{Context: st.base, Streams: st.Streams, Project: st.project, Parent: st.parent},
		func(conn protocol.Connection) stdio.Client { return server.NewClient(conn, protocol.Caller{}) })
}

// usualMemory is an upper bound for the memory of a server with small messages, in bytes.
const usualMemory = 32 << 20

// limitMemory makes the garbage collector run more often above twice the memory of pending messages, because large
// messages leave much garbage. GOMEMLIMIT has precedence.
func limitMemory(pending int) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(2*int64(pending) + usualMemory)
	}
}
