//go:build linux

package lasting

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// injectAll lets the faults of a phase happen, each when its call begins.
func (r *run) injectAll(faults []fault, offset int, workers []*worker) {
	var busy sync.WaitGroup
	defer busy.Wait()
	for _, f := range faults {
		if !r.await(f.At + offset) {
			return
		}
		busy.Go(func() {
			ok := r.inject(&f, workers)
			r.mu.Lock()
			defer r.mu.Unlock()
			if ok {
				r.faults[f.Kind]++
			} else {
				r.skipped++
			}
		})
	}
}

// inject lets one fault happen. It reports false if it could not, such as while another fault has the server.
func (r *run) inject(f *fault, workers []*worker) bool {
	random := rand.New(rand.NewPCG(r.Seed, f.Pick))
	s := r.slots[f.Slot%len(r.slots)]
	switch f.Kind {
	case killScript:
		return r.killScript(f)
	case replaceFile:
		return r.replaceFile(random)
	case vanish:
		if r.Over == "http" {
			workers[f.Slot%len(workers)].leaves.Store(f.Pick | 1)
			return true
		}
	}
	if !s.fault.TryLock() {
		return false
	}
	defer s.fault.Unlock()
	srv := s.current.Load()
	if srv == nil {
		return false
	}
	lasts := time.Duration(20+random.IntN(300)) * time.Millisecond
	switch f.Kind {
	case fillDisk:
		return srv.fill(lasts, int64(random.IntN(2000)))
	case stopClock:
		srv.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(lasts) // the fault lasts that long
		srv.cmd.Process.Signal(syscall.SIGCONT)
	case killServer:
		srv.doom(killServer)
		srv.cmd.Process.Kill()
		srv.awaitEnd(-1)
		r.again(s)
	case endServer:
		srv.doom(endServer)
		srv.cmd.Process.Signal(syscall.SIGTERM)
		srv.awaitEnd(128 + int(syscall.SIGTERM))
		r.again(s)
	case vanish:
		srv.doom(vanish)
		srv.pipe.in.Close()
		srv.pipe.out.Close()
		srv.awaitEnd(0, 1) // 1 if it had something to write
		r.again(s)
	}
	return true
}

func (r *run) again(s *slot) {
	if err := s.start(); err != nil {
		r.violate("%v", err)
	}
}

var replacing sync.Mutex // one version of a file at a time

func (r *run) replaceFile(random *rand.Rand) bool {
	replacing.Lock()
	defer replacing.Unlock()
	if err := r.stage.replace(random); err != nil {
		r.violate("replace a file: %v", err)
	}
	return true
}

// killScript kills a script, and notes first whose it is.
func (r *run) killScript(f *fault) bool {
	for i := range r.slots {
		srv := r.slots[(f.Slot+i)%len(r.slots)].current.Load()
		if srv == nil {
			continue
		}
		scripts := children(srv.cmd.Process.Pid)
		for j := range scripts {
			if r.kill(scripts[(int(f.Pick>>1)%len(scripts)+j)%len(scripts)]) {
				return true
			}
		}
	}
	return false
}

// kill kills a process if it is the script of a call.
func (r *run) kill(pid int) bool {
	p, err := os.FindProcess(pid) // keeps the process, not the number
	if err != nil {
		return false
	}
	defer p.Release()
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	_, after, ok := bytes.Cut(environ, []byte("\x00MCP_TOOL_ARGS_JSON={\"n\":"))
	digits, _, ok2 := bytes.Cut(after, []byte(","))
	n, err := strconv.Atoi(string(digits))
	if !ok || !ok2 || err != nil {
		return false
	}
	r.mu.Lock()
	if n > 0 && n < len(r.calls) {
		r.calls[n].Killed = true
	}
	r.mu.Unlock()
	return p.Kill() == nil
}

// children returns the children of a process.
func children(pid int) (list []int) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// leastRecord is the size of a record that can be full. The limit is for all files of a server, and others are smaller.
const leastRecord = 64 << 10

// fill leaves no room for the record of a server, for a time.
func (srv *server) fill(lasts time.Duration, room int64) bool {
	s, pid := srv.slot, srv.cmd.Process.Pid
	info, err := os.Stat(s.record())
	if err != nil || info.Size() < leastRecord {
		return false
	}
	var was unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &was); err != nil {
		return false
	}
	s.mu.Lock()
	s.windows = append(s.windows, window{from: time.Now()})
	s.mu.Unlock()
	full := unix.Rlimit{Cur: uint64(info.Size() + room), Max: was.Max}
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &full, nil); err == nil {
		time.Sleep(lasts) // the fault lasts that long
		err = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &was, nil)
		if err != nil {
			s.run.violate("%v", err)
		}
	}
	// Scripts that were started meanwhile have the limit, too, but write only to pipes and small files.
	s.mu.Lock()
	s.windows[len(s.windows)-1].to = time.Now()
	s.mu.Unlock()
	s.probe()
	return true
}

// probe makes a call that must be recorded, and with it the number of those that were not.
func (s *slot) probe() {
	srv := s.current.Load()
	c := s.run.extra()
	if s.address == "" {
		srv.callOverPipe(c, s.stateless)
		return
	}
	w := &worker{r: s.run, slot: s, stateless: true, web: newVisitor(), random: rand.New(rand.NewPCG(0, 0))}
	defer w.web.client.CloseIdleConnections()
	w.ask(c)
}
