//go:build linux

package lasting

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"mcp-bash/test/freeport"
)

// A slot is the place of one server, of which there is another one after each that was killed.
type slot struct {
	run       *run
	n         int
	stateless bool // its client, if it has only one
	required  bool // calls without a record are refused
	fresh     bool // lists are not kept
	address   string

	fault   sync.Mutex // one fault at a time
	current atomic.Pointer[server]
	logs    []*journal // standard error of each server
	started *server

	mu      sync.Mutex
	last    *server  // that was ready
	windows []window // without room for the record
	kills   []time.Time
}

// A window is a time.
type window struct{ from, to time.Time }

// A server is one process.
type server struct {
	*slot
	cmd    *exec.Cmd
	log    *journal
	pipe   *pipe // stdio
	doomed atomic.Value
	ended  chan struct{}
}

// A journal is the beginning of the text that a server printed.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// maxLog limits the text that is kept of a server.
const maxLog = 1 << 20

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.b.Write(p[:min(len(p), max(maxLog-j.b.Len(), 0))])
	return len(p), nil
}

func (j *journal) Bytes() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	return bytes.Clone(j.b.Bytes())
}

// open starts all servers.
func (r *run) open() error {
	n := r.Servers
	if n == 0 {
		n = map[string]int{"stdio": 6, "http": 3}[r.Over]
	}
	for i := range n {
		s := &slot{run: r, n: i, stateless: i%2 == 1, required: i%3 == 1, fresh: i%3 == 0}
		if r.Over == "http" {
			var err error
			if s.address, err = freeport.Address(); err != nil {
				return err
			}
		}
		r.slots = append(r.slots, s)
	}
	return nil
}

// startAll starts a server in each slot.
func (r *run) startAll() error {
	for _, s := range r.slots {
		if err := s.start(); err != nil {
			return err
		}
	}
	return nil
}

func (s *slot) record() string {
	return filepath.Join(s.run.stage.records, fmt.Sprintf("%d.jsonl", s.n))
}

// tag is in the environment of each server and each script.
func (r *run) tag() string { return fmt.Sprintf("LASTING=%d-%d", os.Getpid(), r.began.UnixNano()) }

func (s *slot) command(args ...string) *exec.Cmd {
	st := s.run.stage
	cmd := exec.Command(s.run.Server, args...)
	cmd.Dir = st.home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + st.home, "TMPDIR=" + st.tmp, "LANG=C", "MCPBASH_PROJECT_ROOT=" + st.project,
		"MCPBASH_TOOL_ALLOWLIST=*", "MCPBASH_LOG_LEVEL=error", "MCPBASH_AUDIT=" + s.record(),
		"MCPBASH_AUDIT_FILES=100000", "MCPBASH_AUDIT_MAX_BYTES=4194304", "MCPBASH_TOOL_ENV_MODE=allowlist",
		"MCPBASH_TOOL_ENV_ALLOWLIST=LASTING GORACE", "GORACE=atexit_sleep_ms=0", s.run.tag(),
		"MCPBASH_LARGE_RESULT_TTL=5",
		// On a busy machine everything can take long.
		"MCPBASH_DEFAULT_TOOL_TIMEOUT=300", "MCPBASH_COMPLETION_TIMEOUT_SECS=300", "MCPBASH_HTTP_DRAIN=300",
	}
	if s.required {
		cmd.Env = append(cmd.Env, "MCPBASH_AUDIT_MODE=required")
	}
	if s.fresh {
		cmd.Env = append(cmd.Env, "MCP_TOOLS_TTL=0", "MCP_PROMPTS_TTL=0", "MCP_RESOURCES_TTL=0")
	}
	if s.address != "" && len(args) == 0 {
		cmd.Args = append(cmd.Args, "serve", "--http", s.address, "--advertise", "http://"+s.address)
		cmd.Env = append(cmd.Env, "MCPBASH_HTTP_STATE_KEY_FILE="+st.key, "MCPBASH_HTTP_RATE=0",
			"MCPBASH_HTTP_SESSION_IDLE=60")
	}
	return cmd
}

// start starts the server of a slot.
func (s *slot) start() error {
	srv := &server{slot: s, cmd: s.command(), log: &journal{}, ended: make(chan struct{})}
	s.logs = append(s.logs, srv.log)
	stderr, err := srv.cmd.StderrPipe()
	if err != nil {
		return err
	}
	var streams sync.WaitGroup
	if s.address == "" {
		if err := srv.connect(); err != nil {
			return err
		}
	}
	if err := srv.cmd.Start(); err != nil {
		return err
	}
	s.started = srv
	ready := make(chan struct{})
	streams.Go(func() {
		lines := bufio.NewReader(io.TeeReader(stderr, srv.log))
		for serving := false; ; {
			line, err := lines.ReadString('\n')
			if !serving && strings.Contains(line, "serving http") {
				serving = true
				close(ready)
			}
			if err != nil {
				return
			}
		}
	})
	go func() {
		streams.Wait()
		srv.cmd.Wait()
		close(srv.ended)
	}()
	if srv.pipe != nil {
		srv.pipe.listen(&streams)
		if ready, err = srv.pipe.greet(s.stateless); err != nil {
			return err
		}
	}
	select {
	case <-ready:
	case <-srv.ended:
		return fmt.Errorf("server %d does not start: %s", s.n, srv.log.Bytes())
	case <-time.After(patience):
		return fmt.Errorf("server %d is not ready: %s", s.n, srv.log.Bytes())
	}
	s.mu.Lock()
	s.last = srv
	s.mu.Unlock()
	s.current.Store(srv)
	return nil
}

// doom notes that the plan ends a server, and how.
func (srv *server) doom(kind string) {
	srv.doomed.Store(kind)
	srv.current.CompareAndSwap(srv, nil)
	if kind == killServer {
		srv.mu.Lock()
		srv.kills = append(srv.kills, time.Now())
		srv.mu.Unlock()
	}
}

// wasKilled reports whether a server of the slot was killed after a time.
func (s *slot) wasKilled(since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.kills, since.Before)
}

// fate is the kind of the fault that ends the server, or "".
func (srv *server) fate() string {
	kind, _ := srv.doomed.Load().(string)
	return kind
}

// awaitEnd waits for the end of a server, and compares its exit code. -1 means that a signal ended it.
func (srv *server) awaitEnd(codes ...int) {
	select {
	case <-srv.ended:
	case <-time.After(patience):
		srv.run.violate("server %d does not end", srv.n)
		srv.cmd.Process.Signal(syscall.SIGQUIT)
		<-srv.ended
		return
	}
	if got := srv.cmd.ProcessState.ExitCode(); !slices.Contains(codes, got) {
		srv.run.violate("server %d: exit code %d, not one of %d: %.2000s", srv.n, got, codes, srv.log.Bytes())
	}
	log := string(srv.log.Bytes())
	for _, bad := range []string{"DATA RACE", "panic:", "internal error", "fatal error"} {
		if strings.Contains(log, bad) {
			srv.run.violate("server %d said: %.5000s", srv.n, log)
		}
	}
}

// closeAll ends all servers in good order, and checks what they leave.
func (r *run) closeAll() {
	for _, s := range r.slots {
		srv := s.current.Load()
		if srv == nil {
			if s.started != nil { // the run was cut short
				s.started.cmd.Process.Kill()
				<-s.started.ended
			}
			continue
		}
		srv.end()
	}
	if r.ctx.Err() == nil {
		r.clearUp()
	}
	r.checkLeft()
}

// end ends a server in good order.
func (srv *server) end() {
	if srv.pipe != nil {
		srv.doom(vanish)
		srv.pipe.in.Close()
		srv.awaitEnd(0)
		return
	}
	srv.doom(endServer)
	srv.cmd.Process.Signal(syscall.SIGTERM)
	srv.awaitEnd(128 + int(syscall.SIGTERM))
}
