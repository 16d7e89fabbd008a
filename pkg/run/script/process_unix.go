//go:build unix

package script

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A process is one running script. The goroutine of Run does all work, in one wait for output, the
// end, or the next tick.
type process struct {
	runner   *Runner
	spec     *Spec
	pid      int
	exit     *exitWatch
	waits    *waitSet
	stdout   stream
	stderr   stream
	lifeline *lifeline
	began    time.Time

	over      bool // the main process has ended and was collected
	status    unix.WaitStatus
	usage     unix.Rusage
	cause     error
	waste     []byte    // buffer for output after a cause
	termed    time.Time // time of SIGTERM
	killed    bool
	groupGone bool
}

// A stream is the reading end of a pipe from the script.
type stream struct {
	capture
	source source
	fd     int // -1 if it is closed
}

func (p *process) run(ctx context.Context) Result {
	interval := cmp.Or(p.spec.Interval, defaultInterval)
	tick, pace := p.began.Add(interval), firstPace
	var waker *Waker
	var earliest time.Time // of a tick after a wake
	if p.spec.Started != nil {
		p.spec.Started()
	}
	for !p.done() {
		ready, err := p.waits.wait(tick)
		if err != nil && !errors.Is(err, unix.EINTR) { // out of memory: poll without waiting for events
			p.end(err)
			time.Sleep(pace)
		}
		if ready[stdoutSource] {
			p.read(&p.stdout)
		}
		if ready[stderrSource] {
			p.read(&p.stderr)
		}
		if ready[exitSource] {
			p.waits.forget(exitSource)
			p.reap(0)
		}
		if ready[wakeSource] {
			p.waits.forget(wakeSource)
			waker.drain()
			tick = earliest
		}
		if now := time.Now(); !now.Before(tick) || p.cause != nil {
			p.tick(ctx, now)
			tick = now.Add(interval)
			p.waits.forget(wakeSource)
			earliest = tick
			if p.spec.Pace != nil && p.cause == nil {
				var wait time.Duration
				if wait, waker = p.spec.Pace(); wait > interval {
					tick = now.Add(wait)
				}
				if waker != nil && p.waits.watch(wakeSource, waker.r) != nil {
					tick = earliest
				}
			}
			if p.cause != nil {
				tick = now.Add(pace)
				pace = min(2*pace, interval)
			}
		}
	}
	p.waits.forget(exitSource)
	p.exit.close()
	return p.finish()
}

// done reports whether the script has ended. If this process ended it, its group must have ended or
// been killed as well.
func (p *process) done() bool {
	return p.over && (p.cause == nil || p.killed || p.groupGone)
}

func (p *process) tick(ctx context.Context, now time.Time) {
	switch {
	case p.cause != nil:
		if !p.gone() && !p.killed && now.Sub(p.termed) >= cmp.Or(p.spec.Grace, defaultGrace) {
			p.killed = true
			unix.Kill(-p.pid, unix.SIGKILL)
			waitUntil(p.gone, killMoment)
		}
		return
	case p.spec.Timeout > 0 && now.Sub(p.began) >= p.spec.Timeout:
		p.end(ErrTimedOut)
		return
	}
	// Watch must see the end of the context before the script gets a signal.
	ended := ctx.Err() != nil
	if p.spec.Watch != nil {
		if err := p.spec.Watch(now); err != nil {
			p.end(err)
			return
		}
	}
	if ended {
		p.end(context.Cause(ctx))
	}
}

// gone reports whether the script and its group have ended.
func (p *process) gone() bool {
	p.reap(unix.WNOHANG) // exitSource may be missing
	p.groupGone = p.over && !groupAlive(p.pid)
	return p.groupGone
}

func (p *process) end(cause error) {
	if p.cause != nil {
		return
	}
	p.cause = cause
	p.waste = make([]byte, captureNext)
	p.termed = time.Now()
	unix.Kill(-p.pid, unix.SIGTERM)
}

// read reads the available bytes of a stream. It closes the stream after its last writer.
func (p *process) read(s *stream) {
	for first := true; s.fd >= 0; first = false {
		space := p.waste
		if p.cause == nil {
			space = s.space()
		}
		n, err := unix.Read(s.fd, space)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return
		case err != nil || n == 0:
			p.waits.forget(s.source)
			unix.Close(s.fd)
			s.fd = -1
			return
		case p.cause != nil:
			return
		}
		if !s.add(n) {
			p.end(s.tooMuch())
			return
		}
		if n < len(space) && !p.over {
			return // probably empty; poll reports more data
		}
		if first && n >= captureNext-captureFirst {
			widen(s.fd)
		}
	}
}

// reap collects the status of the main process once. With WNOHANG, it does so only if the process has ended.
func (p *process) reap(options int) {
	if p.over { // another script may have the number
		return
	}
	p.runner.mu.Lock() // KillAll must not signal a number that was released
	defer p.runner.mu.Unlock()
	for {
		pid, err := unix.Wait4(p.pid, &p.status, options, &p.usage)
		switch {
		case err == unix.EINTR:
			continue
		case err == nil && pid == 0:
			return
		}
		p.over = true
		delete(p.runner.groups, p.pid)
		return
	}
}

// finish collects the rest of the output. The drain takes pipes that other processes still hold open.
func (p *process) finish() Result {
	if p.cause == nil {
		p.read(&p.stdout)
		p.read(&p.stderr)
	}
	res := Result{Cause: p.cause, Stdout: p.stdout.buf, Stderr: p.stderr.buf}
	there := groupExists(p.pid)
	if there && p.cause == nil {
		there = outlives(p.pid, time.Since(p.began))
	}
	res.Alone = p.stdout.fd < 0 && p.stderr.fd < 0 && !there
	p.runner.returnWaitSet(p.waits)
	p.runner.drain.take(p.stdout.fd)
	p.runner.drain.take(p.stderr.fd)
	if there && p.cause == nil {
		res.Left = p.pid
		p.runner.keep(leftGroup{p.pid, p.lifeline})
	} else {
		p.runner.returnLifeline(p.lifeline)
	}
	res.Processor = time.Duration(p.usage.Utime.Nano() + p.usage.Stime.Nano())
	res.Peak = int64(p.usage.Maxrss) * rssUnit
	if p.status.Signaled() {
		res.Signal = int(p.status.Signal())
		res.Status = signalBase + res.Signal
	} else {
		res.Status = p.status.ExitStatus()
	}
	return res
}

// An exitWatch reports the end of a process to poll: fd becomes readable, or is hung up. It is made
// before the start, so that a lack of descriptors prevents the start.
//
// If the kernel has process descriptors, fork sets fd. Otherwise a goroutine waits for the process
// and closes the other end of a pipe.
type exitWatch struct {
	fd   int
	end  int // other end of the pipe, or -1
	wait func(pid int)
}

// refusesPidfd is true after fork refused a process descriptor that the kernel seems to have. Emulators such as QEMU do
// that.
var refusesPidfd atomic.Bool

// pidfd returns where fork sets the descriptor, or nil.
func (w *exitWatch) pidfd() *int {
	if w.end >= 0 {
		return nil
	}
	return &w.fd
}

// newExitWatch returns a watch for a process that is about to start. pidfd means that fork sets the descriptor.
func newExitWatch(pidfd bool) (*exitWatch, error) {
	if pidfd {
		return &exitWatch{fd: -1, end: -1}, nil
	}
	r, w, err := newPipe()
	if err != nil {
		return nil, err
	}
	watch := &exitWatch{fd: r, end: w}
	if watch.wait, err = newWaiter(); err != nil {
		watch.close()
		return nil, err
	}
	return watch, nil
}

func (w *exitWatch) begin(pid int) {
	if w.end < 0 {
		return
	}
	end := w.end
	w.end = -1 // now owned by the goroutine
	go func() {
		w.wait(pid)
		unix.Close(end)
	}()
}

// close closes the descriptors. The caller waits for the end of the process first.
func (w *exitWatch) close() { closeAll(w.fd, w.end) }

// A source is an event that the wait for a script can report.
type source int

const (
	stdoutSource source = iota
	stderrSource
	exitSource
	wakeSource
	sources
)

// A readySet has the sources that are readable.
type readySet [sources]bool

var noDescriptors = [sources]int{-1, -1, -1, -1}

func (r *Runner) takeWaitSet() (*waitSet, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.waits); n > 0 {
		w := r.waits[n-1]
		r.waits = r.waits[:n-1]
		return w, nil
	}
	return newWaitSet()
}

// returnWaitSet keeps a wait set for the next script. A runner keeps one for each running script, and at least one.
func (r *Runner) returnWaitSet(w *waitSet) {
	for s := range sources {
		w.forget(s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = append(r.waits, w)
	for n := len(r.waits); n > max(1, len(r.groups)); n-- {
		r.waits[n-1].close()
		r.waits = r.waits[:n-1]
	}
}

// A Waker ends the wait for the next call of Watch, see [Spec].Pace. Wake is safe for concurrent
// use, also with Close.
type Waker struct {
	mu     sync.Mutex
	r, w   int  // readable after Wake
	set    bool // Wake was called since the last drain
	closed bool
}

// NewWaker returns a Waker. It uses a descriptor until Close.
func NewWaker() (*Waker, error) {
	r, w, err := newSignal()
	if err != nil {
		return nil, err
	}
	return &Waker{r: r, w: w}, nil
}

// Wake ends the wait.
func (k *Waker) Wake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed && !k.set {
		k.set = true
		unix.Write(k.w, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// drain makes the next wait possible.
func (k *Waker) drain() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set = false
	unix.Read(k.r, make([]byte, 8))
}

// Close releases the descriptor, after the end of the script.
func (k *Waker) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	unix.Close(k.r)
	if k.w != k.r {
		unix.Close(k.w)
	}
}
