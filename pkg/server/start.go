package server

import (
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

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// Options are how the server was started.
type Options struct {
	Env project.Env
	Dir string // the working directory
	// Placeholders are the variables that are left out of Env (E-2).
	Placeholders []string
	Tree         func() project.Tree // what is linked into the binary
	Stderr       io.Writer
	Stdio        Stdio            // nil: the process's own
	Signals      <-chan os.Signal // nil: the process's own

	Debug  bool     // mcp-bash debug (P-2500)
	NDJSON bool     // the record of a debug run is one object a line (CLI-1302)
	Args   []string // after "serve --", for scripts (CLI-302)
}

// Serve starts the server, serves one client on standard input and output, and
// returns the exit code.
func Serve(o Options) int {
	shield()
	stderr := &stderrQueue{out: o.Stderr}
	defer stderr.flush(lastGrace)
	o.Stderr = stderr
	s := &Server{logger: &logger{stderr: stderr}, parent: os.Getppid(), exits: make(chan exit, 1),
		runner: new(script.Runner)}
	s.base, s.stopAll = context.WithCancelCause(context.Background())
	signals, caught := catchSignals(o.Signals)
	started := make(chan error, 1)
	go func() { started <- s.start(o, caught) }()
	select {
	case err := <-started:
		if err != nil {
			cli.Printf(o.Stderr, "%s\n", cli.MessageOf(err))
			return cli.ExitFailed
		}
	case sig := <-signals:
		return s.endStart(signalExit(sig), started, signals)
	}
	tmp := s.project.TmpRoot
	time.AfterFunc(cleanDelay, func() { project.CleanTmp(tmp) })
	code := s.serveUntilExit(signals, caught)
	s.cleanUp(signals)
	giveLibraryLog()
	return code
}

// endStart ends a server that is not serving yet, whatever its start waits for
// (P-905).
func (s *Server) endStart(e exit, started <-chan error, signals <-chan os.Signal) int {
	s.stopAll(errStopping)
	select {
	case err := <-started:
		if err == nil {
			s.cleanUp(signals)
		}
	case <-signals:
		s.runner.KillAll()
	case <-time.After(killGrace):
		s.runner.KillAll()
	}
	return e.code
}

// A starter makes a server ready to serve. It is gone when the server serves.
type starter struct {
	*Server
	Options
	caught   func()                        // waits until signals reach us
	findHome func() (*project.Home, error) // waits for the installation
	home     *project.Home
	scope    roots.Scope // of a client that names no roots
	quiet    bool        // before the settings are read (P-1306)
	warned   []string
}

// start takes the steps of a start in the order of P-101. The first that fails is
// the error, and nothing was written to the client or is left behind.
func (s *Server) start(o Options, caught func()) error {
	st := &starter{Server: s, Options: o, caught: caught, quiet: quietEnv(o.Env)}
	// What takes long and depends on nothing is done beside the rest. The
	// environment may get defaults meanwhile (P-303), so it is read from a copy.
	given := o.Env.Clone()
	st.findHome = begin(func() (*project.Home, error) { return project.FindHome(given, o.Tree, st.warn) })
	for _, step := range []func() error{
		st.checkTransport,
		st.openStdio,
		st.openProject,
		st.sourceProfile,
		st.sourceEnv,
		st.readRoots,
		func() error { return st.project.Token.Check() },
		st.openState,
		st.awaitHome,
		st.connect,
		st.loadProject,
	} {
		if err := step(); err != nil {
			return st.undo(err)
		}
	}
	s.takeLibraryLog()
	s.announce(st.home.Dir, o.Dir, o.Placeholders)
	return nil
}

// undo leaves nothing behind of a start that failed. An installation that is not
// there explains more than what followed from it.
func (st *starter) undo(err error) error {
	if _, first := st.findHome(); first != nil {
		err = first
	}
	st.removeBootstrap()
	if st.state != nil {
		st.state.Remove()
	}
	return err
}

// warn writes a line to standard error before there is a project to say how quiet
// it wants to be.
func (st *starter) warn(text string) {
	if !st.quiet {
		cli.Printf(st.Stderr, "%s\n", text)
	}
}

// warnOnce is warn for what reads the project, which may happen twice.
func (st *starter) warnOnce(text string) {
	if !slices.Contains(st.warned, text) {
		st.warned = append(st.warned, text)
		st.warn(text)
	}
}

// checkTransport warns of a transport that there is not (P-104).
func (st *starter) checkTransport() error {
	if t := transport(st.Env); t != "stdio" {
		st.warn("mcp-bash: unsupported transport '" + t + "'; defaulting to stdio.")
	}
	return nil
}

// openStdio takes standard input and output (P-105).
func (st *starter) openStdio() (err error) {
	if st.stdio = st.Stdio; st.stdio == nil {
		st.stdio, err = openProcessStdio()
	}
	return err
}

// openProject finds the project and reads it. Where there is none, a project that
// says how to get one is made (P-120).
func (st *starter) openProject() error {
	root, err := project.FindRoot(st.Env, "", st.Dir)
	if errors.Is(err, project.ErrNone) {
		st.caught() // from here on there is something to clean up
		if st.bootstrap, err = stageBootstrap(st.Env); err == nil {
			root = st.bootstrap.Path
			st.warn("mcp-bash: no project configured; starting getting-started helper (temporary workspace " + root +
				")")
		}
	}
	if err != nil {
		return err
	}
	st.project = project.Open(root, st.Env, st.Dir, st.warnOnce)
	st.project.Create()
	if st.bootstrap != nil {
		st.project.Meta = bootstrapMeta()
	}
	return nil
}

// limitMemory has the garbage collector work harder once twice what may be pending
// is in use, as many large messages leave as much behind as they take. GOMEMLIMIT
// is the operator's own word.
func limitMemory(pending int) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(2*int64(pending) + usualMemory)
	}
}

// usualMemory is more than a server needs, in bytes, that has nothing large to do.
const usualMemory = 32 << 20

// cleanDelay keeps the search for what killed runs left behind away from the
// start, when a client waits.
const cleanDelay = 200 * time.Millisecond

// quietEnv is P-1306 for what is said before the settings are read.
func quietEnv(env project.Env) bool {
	level := env["MCPBASH_LOG_LEVEL"]
	return env["MCPBASH_QUIET"] == "true" || level != "" && mcp.ParseLevelSetting(level) >= mcp.Err
}

// transport returns the transport that is asked for; no other than "stdio" is served
// (P-104).
func transport(env project.Env) string {
	t := env["MCPBASH_TRANSPORT"]
	if t == "" {
		t = env["MCP_TRANSPORT"]
	}
	if t == "" {
		t = "stdio"
	}
	if strings.EqualFold(t, "stdio") {
		return "stdio"
	}
	return t
}

// profileTime bounds the login profile: a client waits.
const profileTime = 5 * time.Second

// sourceProfile has Bash read the login profile that the launcher of a bundle names, and
// takes over the variables that changed: programs with windows start servers without the
// PATH that a person has. Whatever goes wrong with it, the server starts (CLI-1423).
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

// sourceEnv evaluates server.d/env.sh when the operator wants it (P-113), and
// reads the project again with what came of it.
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

// readRoots reads the roots for a client that names none. One that cannot be used ends the start
// (P-2101).
func (st *starter) readRoots() (err error) {
	st.scope, err = roots.Fallback(st.project)
	var unusable *roots.UnusableError
	if errors.As(err, &unusable) {
		return cli.Failf(cli.CodeInvalid, "mcp-bash: %v\n%s", err, unusable.Remedy())
	}
	return err
}

// openState settles where the private directory of this run is (P-300).
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
		err = state.Make() // there will be something in it, whatever comes
	}
	if err != nil {
		return cli.Failf(cli.CodeInternal, "mcp-bash: unable to create state directory: %s\n%v", dir, err)
	}
	st.state = state
	return nil
}

// awaitHome waits for the installation (P-102).
func (st *starter) awaitHome() (err error) {
	st.home, err = st.findHome()
	return err
}

// connect puts together what speaks with the client.
func (st *starter) connect() error {
	s, p := st.Server, st.project
	limitMemory(p.Limits.Pending)
	s.redactor.Names, s.redactor.Values = []string{p.Token.Key, p.Token.Fallback}, []string{p.Token.Secret}
	record, err := openPayloadLog(p, s.state, &s.redactor, st.NDJSON)
	if err != nil {
		return err
	}
	s.activity.Store(time.Now().UnixNano())
	s.token = tokenGuard{settings: p.Token, failures: newThrottle(p.Token.MaxFailures)}
	s.requests = newRequests(p.Limits.Concurrent, p.Limits.Pending)
	s.reader = jsonrpc.NewReader(s.stdio, p.Limits.Line)
	s.settings, s.session = &p.Logging, newSession(p.Logging.Level)
	s.client = &client{writer: jsonrpc.NewWriter(s.stdio, p.Limits.Pending, s.writeFailed), record: record}
	s.outgoing = &outgoing{client: s.client, asked: s.requests.wake}
	s.roots = newClientRoots(s.base, p, st.scope, s.outgoing, s.log)
	s.handshake = &handshake{
		session: s.session, client: s.client, outgoing: s.outgoing, roots: s.roots, methods: map[string]*method{},
	}
	s.changes = &changeWatch{
		project: p, session: s.handshake, client: s.client, ctx: s.base, running: make(chan struct{}, 1),
	}
	info := serverInfo(p)
	s.streams = &streams{client: s.client, changes: s.changes, info: info}
	s.changes.streams = s.streams
	s.stateless = newStateless(info, s.roots, newExchanges(s.base, p, s.client, s.log, exchangeHooks{
		work: s.protected, carry: s.carry, freeze: s.freeze,
	}))
	return nil
}

// loadProject makes what the project offers available, except in minimal mode.
func (st *starter) loadProject() error {
	p := st.project
	if p.Minimal {
		return nil
	}
	st.engine = engine.New(engine.Config{
		Project: p, State: st.state, Runner: st.runner, Home: st.home, Args: st.Args,
		Log: st.log, Debug: st.debugging, Notice: func(line string) { st.notice("%s", line) }, Stderr: st.stderr,
	})
	st.serveKinds(st.engine)
	return nil
}
