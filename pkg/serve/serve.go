// Package serve is a running server: it opens the project, connects the client on standard input
// and output, and ends everything in order.
//
// [Serve] is the whole life of the process. It makes the engine of a project (package engine), and
// one transport: package stdio for one client, or package httpd for any number. It then waits for
// the first [protocol.Ending], such as a signal or the end of the input. Then it answers or cancels
// requests, ends scripts, and removes the private directory.
package serve

import (
	"bytes"
	"context"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events/stream"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/run/capacity"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/serve/httpd"
	"mcp-bash/pkg/serve/httpd/scrape"
	"mcp-bash/pkg/serve/stdio"
)

// Options are the input of [Serve].
type Options struct {
	Env  project.Env
	Dir  string // the working directory
	Root string // the project; "": MCPBASH_PROJECT_ROOT, or the one around Dir
	// Audit is where to record what the server does. "" means MCPBASH_AUDIT.
	Audit string
	// Placeholders are the variables that are left out of Env (E-2).
	Placeholders []string
	Tree         func() project.Tree // the files in the binary
	Stderr       io.Writer
	Streams      stdio.Streams                      // nil: those of the process
	HTTP         *httpd.Options                     // nil: serve one client over Streams
	Signals      <-chan os.Signal                   // nil: those of the process
	Capacity     func(dir string) capacity.Capacity // nil: of this system

	Debug  bool     // mcp-bash debug (P-2500)
	NDJSON bool     // the record of a debug run is one object a line (CLI-1302)
	Args   []string // after "serve --", for scripts (CLI-302)
}

func (o *Options) transport() string {
	if o.HTTP != nil {
		return "http"
	}
	return "stdio"
}

type process struct {
	project   *project.Project
	state     *project.State
	bootstrap *project.TempDir // of the getting-started project, if that is served (P-120)
	runner    *script.Runner
	console   *console.Console
	server    *protocol.Server
	audit     *stream.Stream // nil: nothing is recorded
	scrape    *scrape.Server // nil: nobody reads the metrics
	transport transport
	stop      context.CancelCauseFunc // ends everything that runs
}

type transport interface {
	// Serve begins to accept messages.
	Serve()
	// Endings returns the channel of the reasons to end the process.
	Endings() <-chan protocol.Ending
	// Signalled returns how a signal ends the process, given how it would end at once.
	Signalled(protocol.Ending) protocol.Ending
	// Drain waits until all requests are answered. It returns the reason if an answer was lost.
	Drain() (lost *protocol.Ending)
	// Kill ends all requests. With silent, nothing more is sent. answered is closed when all
	// requests are answered, and ended when nothing runs.
	Kill(cause error, silent bool) (answered, ended <-chan struct{})
	// Finish sends the last messages after Kill.
	Finish(ended <-chan struct{})
	// Close drops everything that is not sent, and removes files.
	Close()
}

// cleanDelay keeps the search for files of killed runs away from the start, when a client waits.
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
	case sig := <-signals: // the start may be waiting (P-905)
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
