package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A program is how a server is started.
type program struct {
	name string // its column
	argv []string
	env  []string
}

// A server is one that runs.
type server struct {
	*client
	name    string
	process *os.Process
	alarm   *time.Timer
}

// longest is how long anything we start may live: a benchmark that hangs is
// worse than one that fails.
const longest = 30 * time.Minute

// running are the processes that must not outlive us.
var running struct {
	sync.Mutex
	list []*os.Process
}

// launch starts a process, with standard error in a file.
func launch(p program, in, out *os.File) (*os.Process, error) {
	noise, err := os.OpenFile(noiseFile(p.name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer noise.Close()
	return launchWith(p, in, out, noise)
}

// launchWith starts a process with these streams.
func launchWith(p program, in, out, noise *os.File) (*os.Process, error) {
	process, err := os.StartProcess(p.argv[0], p.argv, &os.ProcAttr{
		Dir: scratch, Env: p.env, Files: []*os.File{in, out, noise},
	})
	if err != nil {
		return nil, err
	}
	running.Lock()
	running.list = append(running.list, process)
	running.Unlock()
	return process, nil
}

func noiseFile(name string) string { return scratch + "/" + name + ".stderr" }

// wait returns when a process has ended.
func wait(process *os.Process, name string) error {
	state, err := process.Wait()
	running.Lock()
	running.list = slices.DeleteFunc(running.list, func(p *os.Process) bool { return p == process })
	running.Unlock()
	if err == nil && !state.Success() {
		noise, _ := os.ReadFile(noiseFile(name))
		err = fmt.Errorf("%s: %s\n%s", name, state, noise[max(0, len(noise)-2000):])
	}
	return err
}

// killAll ends what still runs.
func killAll() {
	running.Lock()
	defer running.Unlock()
	for _, p := range running.list {
		p.Kill()
	}
}

// start starts a server and sends nothing yet.
func start(p program) (*server, error) {
	theirIn, ourIn, err := pipe()
	if err != nil {
		return nil, err
	}
	ourOut, theirOut, err := pipe()
	if err != nil {
		return nil, err
	}
	process, err := launch(p, theirIn, theirOut)
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return nil, err
	}
	s := &server{newClient(ourIn, ourOut), p.name, process, nil}
	s.alarm = time.AfterFunc(longest, func() { process.Kill() })
	return s, nil
}

// pipe returns a pipe whose ends block, unlike those of os.Pipe.
func pipe() (r, w *os.File, err error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(fds[:]); err != nil {
		return nil, nil, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe"), nil
}

// opened starts a server and opens the session.
func opened(p program) (*server, error) {
	s, err := start(p)
	if err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		s.kill()
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return s, nil
}

// end closes the server's input and waits for its end.
func (s *server) end() error {
	s.in.Close()
	err := wait(s.process, s.name)
	s.out.Close()
	s.alarm.Stop()
	return err
}

func (s *server) kill() {
	s.process.Kill()
	s.end()
}

// A serverList contains servers that run at the same time.
type serverList []*server

// gather starts several servers.
func gather(programs []program) (serverList, error) {
	var all serverList
	for _, p := range programs {
		s, err := opened(p)
		if err != nil {
			all.end()
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (all serverList) end() error {
	var first error
	for _, s := range all {
		if err := s.end(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
