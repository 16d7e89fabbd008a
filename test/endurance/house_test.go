//go:build linux

package endurance

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A house is the project that is served, and all that its servers leave traces
// in.
type house struct {
	t       *testing.T
	binary  string
	project string
	tmp     string // TMPDIR of the servers
	cache   string // where they unpack the SDK
	tag     string // in the environment of everything that is started

	sent, answered, injected atomic.Int64
}

// stage copies the project.
func (h *house) stage(t *testing.T) {
	h.project = t.TempDir()
	if err := os.CopyFS(h.project, os.DirFS("testdata/project")); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"attack", "calm"} {
		os.Chmod(filepath.Join(h.project, "tools", script, "tool.sh"), 0o755)
	}
	big := filepath.Join(h.project, "resources", "big.bin")
	if err := os.WriteFile(big, bytes.Repeat([]byte("0123456789abcde\n"), 1<<16), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(h.project, "resources", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (h *house) command() *exec.Cmd {
	cmd := exec.Command(h.binary)
	cmd.Dir = h.tmp
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.tmp, "TMPDIR=" + h.tmp, "XDG_CACHE_HOME=" + h.cache, "LANG=C",
		"MCPBASH_PROJECT_ROOT=" + h.project, "MCPBASH_TOOL_ALLOWLIST=*", "MCPBASH_MAX_CONCURRENT_REQUESTS=4",
		"MCPBASH_TOOL_ENV_MODE=allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST=GORACE ENDURANCE",
		"GORACE=atexit_sleep_ms=0", "ENDURANCE=" + h.tag,
	}
	return cmd
}

// round runs one server for a while.
func (h *house) round(random *rand.Rand, length time.Duration) {
	t := h.t
	c, err := start(h.command())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		c.cmd.Process.Kill()
		<-c.ended
		h.settle(c)
	}()
	c.ask("initialize", `{"protocolVersion":"2025-03-26","capabilities":{"roots":{},"elicitation":{}},`+
		`"clientInfo":{"name":"endurance","version":"1"}}`)
	c.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)

	over := make(chan struct{})
	time.AfterFunc(length, func() { close(over) })
	var busy sync.WaitGroup
	for range 6 {
		own := rand.New(rand.NewPCG(random.Uint64(), 1))
		busy.Go(func() {
			for !isClosed(over) && !c.isOver() {
				choose(own).do(c, own)
			}
		})
	}
	own := rand.New(rand.NewPCG(random.Uint64(), 2))
	busy.Go(func() {
		for !isClosed(over) {
			choice := faults[own.IntN(len(faults))]
			choice(h, own)
			h.injected.Add(1)
			wait(over, time.Duration(50+own.IntN(200))*time.Millisecond)
		}
	})

	switch ending := random.IntN(4); ending {
	case 0: // in the middle of everything
		<-over
		c.cmd.Process.Kill()
		<-c.ended
		busy.Wait()
	case 1:
		<-over
		c.cmd.Process.Signal(syscall.SIGTERM)
		h.ends(c, 128+int(syscall.SIGTERM))
		busy.Wait()
		h.isClean(c)
	default:
		busy.Wait()
		if err := c.quiet(); err != nil {
			t.Errorf("%v", err)
			return
		}
		h.isSlim(c)
		c.stdin.Close()
		h.ends(c, 0)
		h.isClean(c)
	}
	h.isAlone()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// wait returns after a time, or when the channel is closed.
func wait(c <-chan struct{}, d time.Duration) {
	select {
	case <-c:
	case <-time.After(d):
	}
}

// settle checks the answers of a server that has ended.
func (h *house) settle(c *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.requests {
		h.sent.Add(1)
		h.answered.Add(int64(r.answers))
	}
	for _, fault := range c.faults {
		h.t.Error(fault)
	}
	log := c.stderr.String()
	if strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic:") ||
		strings.Contains(log, "internal error") {
		h.t.Errorf("the server said:\n%s", log)
	}
	if h.t.Failed() {
		h.t.Logf("standard error of the server, its end:\n%s", log[max(0, len(log)-20000):])
	}
}

// ends waits for the server, which ends by itself.
func (h *house) ends(c *client, code int) {
	select {
	case <-c.ended:
	case <-time.After(patience):
		h.t.Errorf("the server does not end")
		c.cmd.Process.Signal(syscall.SIGQUIT) // for its goroutines
		<-c.ended
		return
	}
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		h.t.Errorf("exit code %d, want %d", got, code)
	}
}

// The bounds on a server at rest.
const (
	restingFiles  = 60
	restingMemory = 800 << 10 // kB, under the race detector, which multiplies what answers of 9 MiB took
)

// isSlim reports what a server that has nothing to do still holds on to.
func (h *house) isSlim(c *client) {
	proc := "/proc/" + strconv.Itoa(c.cmd.Process.Pid)
	files, memory := 0, 0
	held := func() bool {
		list, _ := os.ReadDir(proc + "/fd")
		files = len(list)
		status, _ := os.ReadFile(proc + "/status")
		_, after, _ := strings.Cut(string(status), "VmRSS:")
		fmt.Sscan(after, &memory)
		return files > restingFiles || memory > restingMemory
	}
	if h.lasts(held) {
		h.t.Errorf("at rest the server holds %d files and %d kB", files, memory)
	}
}

// isClean reports what a server that ended in good order has left behind.
func (h *house) isClean(c *client) {
	left, _ := filepath.Glob(filepath.Join(h.tmp, fmt.Sprintf("mcpbash.*.%d.*", c.cmd.Process.Pid)))
	for _, dir := range left {
		var files []string
		filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			files = append(files, path)
			return nil
		})
		h.t.Errorf("left behind: %d files, %q", len(files), files[:min(len(files), 20)])
	}
}

// clearUp has a last server remove what those that were killed have left
// behind.
func (h *house) clearUp() {
	c, err := start(h.command())
	if err != nil {
		h.t.Fatal(err)
	}
	var left []string
	if h.lasts(func() bool { left = h.orphaned(); return len(left) > 0 }) {
		h.t.Errorf("the next start leaves what a killed one left: %q", left)
	}
	c.stdin.Close()
	h.ends(c, 0)
	h.isClean(c)
}

// orphaned returns the private directories of ended servers. It leaves out directories that a server had no
// time to mark, which a start keeps for a while.
func (h *house) orphaned() (list []string) {
	for _, dir := range h.privateDirectories() {
		if _, err := os.Stat(filepath.Join(dir, "owner")); err == nil {
			list = append(list, dir)
		}
	}
	return list
}

// isAlone reports processes that outlive the server.
func (h *house) isAlone() {
	var left []string
	if h.lasts(func() bool { left = h.processes(); return len(left) > 0 }) {
		for _, pid := range left {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			h.t.Errorf("process %s outlives the server: %q", pid, line)
			n, _ := strconv.Atoi(pid)
			syscall.Kill(n, syscall.SIGKILL)
		}
	}
}

// lasts reports whether a condition still holds after all patience.
func (h *house) lasts(holds func() bool) bool {
	for end := time.Now().Add(patience); holds(); {
		if time.Now().After(end) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// processes are those that scripts of our servers run in.
func (h *house) processes() (pids []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range list {
		environ, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environ, []byte("ENDURANCE="+h.tag)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}
