package server

import (
	"errors"
	"os"
	"time"

	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// An exit is why the server ends, and how (protocol section 9).
type exit struct {
	code   int
	say    string        // on standard error, whatever the user wants
	kill   bool          // end what runs; else wait for it
	silent bool          // send nothing more
	within time.Duration // wait at most this long, then kill; 0: no limit
}

// leave ends the server; what is said later is not heard, but for a second
// signal.
func (s *Server) leave(e exit) {
	select {
	case s.exits <- e:
	default:
	}
}

// endInput is called when nothing more can be read.
func (s *Server) endInput(err error) {
	if errors.Is(err, errHangup) {
		s.writeFailed(err, 0)
		return
	}
	s.outgoing.end()
	s.stateless.calls.close()
	e := exit{}
	if s.session.at(phaseNew) {
		e.within = statelessDrain
	}
	if s.session.at(phaseClosing) {
		e.within = s.project.Sessions.Shutdown
		s.watchdog.Stop()
	}
	s.session.enter(phaseEnded)
	s.leave(e)
	s.stdio.AwaitHangup()
	s.writeFailed(errHangup, 0)
}

// shutdown begins the end: what runs goes on, nothing new starts, and exit is
// expected in time (P-900, P-901).
func (s *Server) shutdown() {
	if s.session.at(phaseClosing) {
		return
	}
	s.session.enter(phaseClosing)
	s.debugf(logLifecycle, "Shutdown requested")
	limit := s.project.Sessions.Shutdown
	s.watchdog = time.AfterFunc(limit, func() {
		s.leave(exit{kill: true, silent: true, say: "mcp-bash: shutdown timeout (" + seconds(limit) +
			"s) elapsed; terminating."})
	})
}

// exitAsked ends the server when shutdown came before; without it, exit is refused
// (P-902, P-702).
func (s *Server) exitAsked(m *jsonrpc.Message, isRequest bool) {
	switch {
	case s.session.at(phaseClosing):
		if isRequest {
			s.reply(m.ID, nil)
		}
		s.outgoing.end()
		s.stateless.calls.close()
		s.session.enter(phaseEnded)
		s.watchdog.Stop()
		s.leave(exit{within: s.project.Sessions.Shutdown})
	case isRequest:
		s.refuse(m.ID, mcp.Errorf(mcp.CodeExitTooEarly, "Shutdown not requested"))
	}
}

// statelessDrain is how long what runs may take after end of input where there was no
// handshake: such clients send SIGTERM soon (M-73).
const statelessDrain = 1500 * time.Millisecond

// killGrace is how long scripts get to end on SIGTERM and die on SIGKILL before
// we leave anyway; the system then kills what is left (pkg/run/script).
const killGrace = 3 * time.Second

// serveUntilExit reads until something ends the server, and returns its exit
// code when everything is in order.
func (s *Server) serveUntilExit(signals <-chan os.Signal, caught func()) int {
	go s.read()
	go s.watchIdle()
	go s.watchParent()
	caught()
	var e exit
	select {
	case e = <-s.exits:
	case sig := <-signals:
		e = signalExit(sig)
	}
	if !e.kill {
		e = s.drain(e, signals)
	}
	if e.say != "" {
		s.complain("%s", e.say)
	}
	if e.kill {
		s.kill(signals, e.silent)
	}
	return e.code
}

// drain waits for what runs and until the client has all answers, unless
// something more urgent comes (P-902, P-903).
func (s *Server) drain(e exit, signals <-chan os.Signal) exit {
	done := make(chan struct{})
	go func() {
		s.requests.wait()
		s.stateless.calls.wait()
		s.client.writer.Flush()
		s.tellMissed()
		s.streams.end()
		s.client.writer.Flush()
		close(done)
	}()
	var late <-chan time.Time
	if e.within > 0 {
		late = time.After(e.within)
	}
	select {
	case <-done:
		if lost := s.lost.Load(); lost != nil {
			return *lost
		}
		return e
	case <-late:
		e.kill = true
		return e
	case more := <-s.exits:
		return more
	case sig := <-signals:
		return signalExit(sig)
	}
}

// kill ends everything that runs. A second signal does it without grace
// (P-905).
func (s *Server) kill(signals <-chan os.Signal, silent bool) {
	if silent {
		s.client.writer.Close()
	}
	s.session.enter(phaseEnded)
	s.requests.cancelAll(errStopping)
	s.stopAll(errStopping)
	answered, ended := make(chan struct{}), make(chan struct{})
	go func() {
		s.requests.waitAnswered()
		close(answered)
		s.requests.wait()
		s.stateless.calls.wait()
		close(ended)
	}()
	select {
	case <-answered:
	case <-signals:
		s.runner.KillAll()
	case <-time.After(killGrace):
		s.runner.KillAll()
	}
	if !silent {
		written := make(chan struct{})
		go func() {
			<-ended
			s.streams.end()
			s.client.writer.Flush()
			close(written)
		}()
		select {
		case <-written:
		case <-time.After(lastGrace):
		}
		s.client.writer.Close()
	}
	// Nothing waits for the client any more, so what was under way comes to its end.
	// Only then can all that it made be removed.
	select {
	case <-ended:
	case <-time.After(killGrace):
	}
}

// lastGrace is how long a client may take to read what is still sent.
const lastGrace = time.Second

// cleanUp leaves nothing behind but what was asked for (P-302, P-907, P-908).
func (s *Server) cleanUp(signals <-chan os.Signal) {
	s.stopAll(errStopping)
	s.endScripts(signals)
	s.changes.end(killGrace)
	s.removeBootstrap()
	if s.project.Preserve || s.project.KeepLogs {
		s.complain("mcp-bash: state preserved at %s", s.state.Dir)
		s.state.Preserve()
		s.state.Release()
		return
	}
	s.state.Remove()
}

// endScripts terminates what scripts have left running. A signal kills it without grace (P-905).
func (s *Server) endScripts(signals <-chan os.Signal) {
	ended := make(chan struct{})
	go func() {
		s.state.EndScripts(s.runner, func(line string) { s.complain("%s", line) })
		close(ended)
	}()
	select {
	case <-ended:
	case <-signals:
		s.runner.KillAll()
		<-ended
	}
}

func (s *Server) removeBootstrap() {
	if s.bootstrap != nil {
		s.bootstrap.Remove()
	}
}
