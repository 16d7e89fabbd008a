// Package serve runs a server: it opens the project, connects the client on standard input and output, and ends
// everything in order.
//
// [Serve] is the whole life of the process. It makes the engine of a project (package engine), and
// one transport: package stdio for one client, or package httpd for any number. It then waits for
// the first [protocol.Ending], such as a signal or the end of the input. Then it answers or cancels
// requests, ends scripts, and removes the private directory.
package serve

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/run/capacity"
	"mcp-bash/pkg/serve/httpd"
	"mcp-bash/pkg/serve/stdio"
)

// Options are the input of [Serve].
type Options struct {
	Env  project.Env
	Dir  string // the working directory
	Root string // the project; "": MCPBASH_PROJECT_ROOT, or the one around Dir
	// Audit is the destination of the record of calls. "" means MCPBASH_AUDIT.
	Audit string
	// Placeholders are the variables that are left out of Env.
	Placeholders []string
	Tree         func() project.Tree // the files in the binary
	Stderr       io.Writer
	Streams      stdio.Streams                      // nil: those of the process
	HTTP         *httpd.Options                     // nil: serve one client over Streams
	Signals      <-chan os.Signal                   // nil: those of the process
	Capacity     func(dir string) capacity.Capacity // nil: of this system

	Debug  bool     // mcp-bash debug
	NDJSON bool     // the record of a debug run is one object a line
	Args   []string // after "serve --", for scripts
}

// A process is a server that has started.
type process struct {
	*starter
	console   *console.Console
	server    *protocol.Server
	transport transport
}

type transport interface {
	// Serve begins to accept messages.
	Serve()
	// Endings returns the channel of the reasons to end the process.
	Endings() <-chan protocol.Ending
	// Signalled returns how a signal ends the process. Its argument is the ending without a drain.
	Signalled(protocol.Ending) protocol.Ending
	// Drain waits until all requests are answered. It returns the reason if an answer was lost.
	Drain() (lost *protocol.Ending)
	// Kill ends all requests. With silent, nothing more is sent. answered is closed when all
	// requests are answered, and ended when nothing runs.
	Kill(cause error, silent bool) (answered, ended <-chan struct{})
	// Finish sends the last messages after Kill.
	Finish(ended <-chan struct{})
	// Close drops everything that is not sent, and closes all connections. It removes the socket file of an HTTP server.
	Close()
}

// cleanDelay delays the search for files of killed runs, because a client waits for the start.
const cleanDelay = 200 * time.Millisecond

// Serve starts the server, serves its clients, and returns the exit code.
func Serve(o Options) int {
	shield()
	stderr := &stderrQueue{out: o.Stderr}
	defer stderr.flush(lastGrace)
	o.Stderr = stderr
	if o.Env["MCPBASH_LOG_FORMAT"] == "json" {
		o.Stderr = &console.JSONLog{Out: stderr}
	}
	st := newStarter(o)
	st.lines = stderr
	signals, caught := catchSignals(o.Signals)
	st.caught = caught
	var p *process
	started := make(chan error, 1)
	go func() {
		var err error
		p, err = st.start()
		started <- err
	}()
	select {
	case err := <-started:
		if err != nil {
			cli.Printf(stderr, "%s\n", cli.MessageOf(err))
			return cli.ExitFailed
		}
	case sig := <-signals: // the start may be waiting
		st.stop(calls.ErrStopping)
		select {
		case err := <-started:
			if err == nil {
				p.cleanUp(signals)
			}
		case <-signals:
			st.runner.KillAll()
		case <-time.After(killGrace):
			st.runner.KillAll()
		}
		return signalEnding(sig).Code
	}
	tmp := p.project.TmpRoot
	time.AfterFunc(cleanDelay, func() { project.CleanTmp(tmp) })
	go st.runner.CollectOrphans(st.base)
	code := p.serveUntilEnd(signals, caught)
	p.cleanUp(signals)
	log.SetFlags(log.LstdFlags)
	log.SetOutput(os.Stderr)
	return code
}

// takeLibraryLog logs the messages of libraries that use Go's package log, such as net/http.
func takeLibraryLog(c *console.Console) {
	log.SetFlags(0)
	log.SetOutput(libraryLog{c})
}

type libraryLog struct{ *console.Console }

func (l libraryLog) Write(p []byte) (int, error) {
	l.Notice("mcp-bash: %s", bytes.TrimSpace(p))
	return len(p), nil
}

// background calls a function on another goroutine. It returns a function that waits for the
// result.
func background[T any](f func() (T, error)) func() (T, error) {
	result := sync.OnceValues(f)
	go result()
	return result
}

const (
	// killGrace is how long scripts may take to end after SIGTERM and SIGKILL. Then the server ends anyway, and the
	// system kills the remaining scripts (pkg/run/script).
	killGrace = 3 * time.Second
	// lastGrace is how long the last lines to standard error may take.
	lastGrace = time.Second
)

// serveUntilEnd reads until there is a reason to end, and returns the exit code.
func (p *process) serveUntilEnd(signals <-chan os.Signal, caught func()) int {
	caught() // from here on, scripts run and there are files to remove
	p.transport.Serve()
	var e protocol.Ending
	select {
	case e = <-p.transport.Endings():
	case sig := <-signals:
		e = p.transport.Signalled(signalEnding(sig))
	}
	if !e.Kill {
		e = p.drain(e, signals)
	}
	if e.Reason != "" {
		p.console.Complain("%s", e.Reason)
	}
	if e.Kill {
		p.kill(signals, e.Silent)
	}
	return e.Code
}

// drain waits for running requests and until the client has all answers, unless there is a more urgent reason to end.
func (p *process) drain(e protocol.Ending, signals <-chan os.Signal) protocol.Ending {
	done := make(chan *protocol.Ending, 1)
	go func() { done <- p.transport.Drain() }()
	var late <-chan time.Time
	if e.Within > 0 {
		late = time.After(e.Within)
	}
	select {
	case lost := <-done:
		if lost != nil {
			return *lost
		}
		return e
	case <-late:
		e.Kill = true
		return e
	case more := <-p.transport.Endings():
		return more
	case sig := <-signals:
		return signalEnding(sig)
	}
}

// kill ends everything that runs. A second signal ends it without grace.
func (p *process) kill(signals <-chan os.Signal, silent bool) {
	answered, ended := p.transport.Kill(calls.ErrStopping, silent)
	p.stop(calls.ErrStopping)
	select {
	case <-answered:
	case <-signals:
		p.runner.KillAll()
	case <-time.After(killGrace):
		p.runner.KillAll()
	}
	if !silent {
		p.transport.Finish(ended)
	}
	// Requests no longer wait for the client, so they end. Only then can their files be removed.
	select {
	case <-ended:
	case <-time.After(killGrace):
	}
}

// cleanUp removes the files of this run, unless the operator has chosen to keep them.
func (p *process) cleanUp(signals <-chan os.Signal) {
	p.transport.Close()
	p.scrape.Close()
	p.stop(calls.ErrStopping)
	p.endScripts(signals)
	p.server.End(killGrace)
	p.audit.Emit(&events.Event{Type: events.Stop})
	p.audit.Close()
	if p.bootstrap != nil {
		p.bootstrap.Remove()
	}
	if p.project.Preserve || p.project.KeepLogs {
		p.console.Announce("mcp-bash: state preserved at %s", p.state.Dir)
		p.state.Preserve()
		p.state.Release()
		return
	}
	p.state.Remove()
}

// endScripts terminates processes that scripts have left running. A signal kills them without grace.
func (p *process) endScripts(signals <-chan os.Signal) {
	ended := make(chan struct{})
	go func() {
		p.state.EndScripts(p.runner, func(line string) { p.console.Complain("%s", line) })
		close(ended)
	}()
	select {
	case <-ended:
	case <-signals:
		p.runner.KillAll()
		<-ended
	}
}

// catchSignals returns the signals that end the server. They are the given ones, or else those of the process. They
// are caught on another goroutine, and caught waits until then. Before that, signals end the process as usual.
// SIGPIPE is caught and dropped, because a write reports a closed pipe. Scripts would inherit an ignored signal.
func catchSignals(given <-chan os.Signal) (signals <-chan os.Signal, caught func()) {
	if given != nil {
		return given, func() {}
	}
	ours := make(chan os.Signal, 2)
	caught = sync.OnceFunc(func() {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		signal.Notify(ours, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	})
	go caught()
	return ours, caught
}

// signalEnding ends everything at once, with 128 plus the signal's number as exit code.
func signalEnding(sig os.Signal) protocol.Ending {
	cli.BeginLine(sig, os.Stderr)
	code := cli.ExitSignal
	if n, ok := sig.(syscall.Signal); ok {
		code += int(n)
	}
	return protocol.Ending{Code: code, Kill: true, Silent: true}
}

// A stderrQueue writes standard error on another goroutine, so that no caller waits until it is read. It drops messages
// while too many are waiting, and reports their number.
type stderrQueue struct {
	out io.Writer

	mu      sync.Mutex
	waiting []byte
	writing int // bytes of the write under way
	dropped int
	busy    chan struct{} // closed when everything is written; nil: nothing is being written
}

// maxStderrQueue is the maximum number of bytes that wait.
const maxStderrQueue = 1 << 20

func (q *stderrQueue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.writing+len(q.waiting)+len(p) > maxStderrQueue {
		q.dropped++
		return len(p), nil
	}
	q.waiting = append(q.waiting, p...)
	if q.busy == nil {
		q.busy = make(chan struct{})
		go q.drain()
	}
	return len(p), nil
}

func (q *stderrQueue) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) > 0 || q.dropped > 0 {
		text := q.waiting
		q.waiting, q.writing = nil, len(text)
		if q.dropped > 0 {
			text = fmt.Appendf(text, "mcp-bash: standard error was not read; %d messages were dropped\n", q.dropped)
			q.dropped = 0
		}
		q.mu.Unlock()
		q.out.Write(text) // an error cannot be reported anywhere
		q.mu.Lock()
		q.writing = 0
	}
	close(q.busy)
	q.busy = nil
}

func (q *stderrQueue) flush(within time.Duration) {
	q.mu.Lock()
	busy := q.busy
	q.mu.Unlock()
	if busy == nil {
		return
	}
	select {
	case <-busy:
	case <-time.After(within):
	}
}
