package serve

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/calls"
)

const (
	// killGrace is how long scripts get to end on SIGTERM and die on SIGKILL. Then the server ends
	// anyway, and the system kills the rest (pkg/run/script).
	killGrace = 3 * time.Second
	// lastGrace is how long standard error may take at the end.
	lastGrace = time.Second
)

// serveUntilEnd reads until there is a reason to end, and returns the exit code.
func (p *process) serveUntilEnd(signals <-chan os.Signal, caught func()) int {
	p.transport.Serve()
	caught()
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

// drain waits for running requests and until the client has all answers, unless there is a more
// urgent reason to end (P-902, P-903).
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

// kill ends everything that runs. A second signal ends it without grace (P-905).
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

// cleanUp removes the files of this run, unless the operator wants them (P-302, P-907, P-908).
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
		p.console.Complain("mcp-bash: state preserved at %s", p.state.Dir)
		p.state.Preserve()
		p.state.Release()
		return
	}
	p.state.Remove()
}

// endScripts terminates processes that scripts have left running. A signal kills them without
// grace (P-905).
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

// catchSignals returns the signals that end the server. They are the given ones, or else those of the process. The
// start need not wait until they are caught, but caught does. Before that, they end the process as usual. SIGPIPE is
// caught and dropped, because a write reports a closed pipe. Scripts would inherit an ignored signal (T-47).
func catchSignals(given <-chan os.Signal) (signals <-chan os.Signal, caught func()) {
	if given != nil {
		return given, func() {}
	}
	ours := make(chan os.Signal, 2)
	caught = sync.OnceFunc(func() {
		signal.Notify(make(chan os.Signal, 1), brokenPipe)
		signal.Notify(ours, endSignals...)
	})
	go caught()
	return ours, caught
}

// signalEnding ends everything at once, with 128 plus the signal's number as exit code (P-905).
func signalEnding(sig os.Signal) protocol.Ending {
	cli.BeginLine(sig, os.Stderr)
	code := cli.ExitSignal
	if n, ok := sig.(syscall.Signal); ok {
		code += int(n)
	}
	return protocol.Ending{Code: code, Kill: true, Silent: true}
}
