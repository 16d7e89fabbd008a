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
	"mcp-bash/pkg/jsonrpc"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/script"
)

// Options are how the server was started.
type Options struct {
	Env     project.Env
	Dir     string              // the working directory
	Tree    func() project.Tree // what is linked into the binary
	Stderr  io.Writer
	Stdio   Stdio            // nil: the process's own
	Signals <-chan os.Signal // nil: the process's own

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
	s := &Server{stderr: stderr, parent: os.Getppid(), exits: make(chan exit, 1), runner: new(script.Runner)}
	s.base, s.stopAll = context.WithCancelCause(context.Background())
	signals, caught := catchSignals(o.Signals)
	started := make(chan error, 1)
	go func() { started <- s.start(o, caught) }()
	select {
	case err := <-started:
		if err != nil {
			fmt.Fprintln(o.Stderr, err)
			return cli.ExitFailed
		}
	case sig := <-signals:
		return s.endStart(signalExit(sig), started, signals)
	}
	tmp := s.project.TmpRoot
	time.AfterFunc(cleanDelay, func() { project.CleanTmp(tmp) })
	code := s.serveUntilExit(signals, caught)
	s.cleanUp()
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
			s.cleanUp()
		}
	case <-signals:
		s.runner.KillAll()
	case <-time.After(killGrace):
		s.runner.KillAll()
	}
	return e.code
}

// start makes the server ready to serve, in the order of P-101: the first step
// that fails is the error, and nothing was written to the client or is left
// behind. caught waits until signals reach us.
func (s *Server) start(o Options, caught func()) (err error) {
	env := o.Env
	quiet := quietEnv(env)
	warn := func(text string) {
		if !quiet {
			fmt.Fprintln(o.Stderr, cli.Line(text))
		}
	}
	// What takes long and depends on nothing is done beside the rest. The
	// environment may get defaults meanwhile (P-303), so it is read from a copy.
	given := env.Clone()
	findHome := begin(func() (*project.Home, error) { return project.FindHome(given, o.Tree, warn) })
	defer func() {
		if err == nil {
			return
		}
		if _, first := findHome(); first != nil {
			err = first
		}
		s.removeBootstrap()
		if s.state != nil {
			s.state.Remove()
		}
	}()
	if t := transport(env); t != "stdio" {
		warn("mcp-bash: unsupported transport '" + t + "'; defaulting to stdio.")
	}
	if s.stdio = o.Stdio; s.stdio == nil {
		if s.stdio, err = OpenStdio(); err != nil {
			return err
		}
	}
	root, err := project.FindRoot(env, "", o.Dir)
	if errors.Is(err, project.ErrNone) {
		caught() // from here on there is something to clean up
		if s.bootstrap, err = stageBootstrap(env); err == nil {
			root = s.bootstrap.Path
			warn("mcp-bash: no project configured; starting getting-started helper (temporary workspace " + root + ")")
		}
	}
	if err != nil {
		return err
	}
	var said []string // the project may be read twice
	once := func(text string) {
		if !slices.Contains(said, text) {
			said = append(said, text)
			warn(text)
		}
	}
	s.project = project.Open(root, env, o.Dir, once)
	s.project.Create()
	if s.bootstrap == nil {
		if err := s.adoptEnv(o, once); err != nil {
			return err
		}
	} else {
		s.project.Meta = bootstrapMeta()
	}
	if err := checkToken(s.project.Token); err != nil {
		return err
	}
	if err := s.openState(o); err != nil {
		return err
	}
	home, err := findHome()
	if err != nil {
		return err
	}
	if err := s.assemble(home, o); err != nil {
		return err
	}
	s.takeLibraryLog()
	s.announce(home.Dir, o)
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

// transport is P-104.
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

// adoptEnv evaluates server.d/env.sh when the operator wants it (P-113), and
// reads the project again with what came of it.
func (s *Server) adoptEnv(o Options, warn func(string)) error {
	p := s.project
	if p.Env["MCPBASH_SERVER_SOURCE_ENV"] != "true" {
		return nil
	}
	file := filepath.Join(p.Dirs.Server, "env.sh")
	switch err := p.CheckTrusted(file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("mcp-bash: refusing insecure server.d/env.sh: %w", err)
	}
	changed, stderr, err := p.Source(s.base, s.runner, file)
	io.WriteString(o.Stderr, stderr)
	var failed *project.SourceError
	switch {
	case errors.As(err, &failed):
		return fmt.Errorf("mcp-bash: server.d/env.sh failed (exit %d)", failed.Status)
	case err != nil:
		return fmt.Errorf("mcp-bash: server.d/env.sh: %w", err)
	}
	s.project = project.Open(p.Root, project.Adopt(p.Env, changed), o.Dir, warn)
	return nil
}

func checkToken(t project.Token) error {
	if t.Secret != "" && len(t.Secret) < minToken {
		return errors.New("mcp-bash: MCPBASH_REMOTE_TOKEN must be at least 32 characters; refusing weak shared secret")
	}
	return nil
}

func (s *Server) openState(o Options) error {
	if o.Debug {
		s.project.Logging.DebugPayloads, s.project.Preserve = true, true
		state, err := project.NewDebugState(o.Env)
		if err != nil {
			return err
		}
		s.state = state
		fmt.Fprintf(o.Stderr, "mcp-bash debug: logging to %s\n", filepath.Join(state.Dir, "payload.debug.log"))
		return nil
	}
	p := s.project
	state, dir, err := project.NewState(p.Env, &p.Settings)
	if err == nil && (p.Preserve || p.KeepLogs || p.Logging.DebugPayloads) {
		err = state.Make() // there will be something in it, whatever comes
	}
	if err != nil {
		return fmt.Errorf("mcp-bash: unable to create state directory: %s\n%w", dir, err)
	}
	s.state = state
	return nil
}

// assemble puts the parts together.
func (s *Server) assemble(home *project.Home, o Options) error {
	p := s.project
	s.session = newSession(p.Logging.Level)
	limitMemory(p.Limits.Pending)
	s.requests = newRequests(p.Limits.Concurrent, p.Limits.Pending)
	s.token = tokenGuard{settings: p.Token, failures: newThrottle(p.Token.MaxFailures)}
	s.activity.Store(time.Now().UnixNano())
	var err error
	if s.payloads, err = openPayloadLog(p, s.state, o.NDJSON); err != nil {
		return err
	}
	s.reader = jsonrpc.NewReader(s.stdio, p.Limits.Line)
	s.writer = jsonrpc.NewWriter(s.stdio, p.Limits.Pending, s.writeFailed)
	s.outgoing = &outgoing{
		writer: s.writer, log: func(line []byte) { s.payloads.record("rpc", "-", "ok", line) }, asked: s.requests.wake,
	}
	s.roots = newRootKeeper(s)
	s.changes = newChangeWatch(s)
	s.methods = map[string]*method{}
	if p.Minimal {
		return nil
	}
	s.engine = engine.New(engine.Config{
		Project: p, State: s.state, Runner: s.runner, Home: home, Args: o.Args,
		Log: s.log, Debug: s.debugging, Notice: func(line string) { s.notice("%s", line) }, Stderr: s.stderr,
	})
	for _, family := range [][]*method{s.toolMethods(), s.resourceMethods(), s.promptMethods(), s.completionMethods()} {
		for _, m := range family {
			s.methods[m.name] = m
		}
	}
	return nil
}
