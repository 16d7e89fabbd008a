//go:build linux

package lasting

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/files/atomicfile"
)

// Peaks are the largest values that one server had.
type peaks struct {
	Memory, Descriptors, Processes int
}

// The bounds for one server at work. It may have 16 scripts at a time.
const (
	maxDescriptors = 600
	maxScripts     = 16 + 8 // and some that have just ended
)

// watch samples the servers until the returned function is called.
func (r *run) watch() (stop func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(250 * time.Millisecond); ; {
			select {
			case <-over:
				tick.Stop()
				return
			case <-tick.C:
				r.sample()
			}
		}
	}()
	return func() {
		close(over)
		<-done
	}
}

func (r *run) sample() {
	for _, s := range r.slots {
		srv := s.current.Load()
		if srv == nil {
			continue
		}
		pid := srv.cmd.Process.Pid
		memory, descriptors, scripts := memoryOf(pid), descriptorsOf(pid), len(children(pid))
		r.peaks.Memory, r.peaks.Descriptors = max(r.peaks.Memory, memory), max(r.peaks.Descriptors, descriptors)
		r.peaks.Processes = max(r.peaks.Processes, scripts)
		if descriptors > maxDescriptors || scripts > maxScripts || r.Memory == 0 && memory > maxMemory {
			r.violate("server %d has %d descriptors, %d scripts and %d kB", s.n, descriptors, scripts, memory)
		}
	}
}

// maxMemory is the bound for the memory of one server at work, in kB.
const maxMemory = 200 << 10

// memoryOf returns the resident memory in kB.
func memoryOf(pid int) (kb int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	fmt.Sscan(after, &kb)
	return kb
}

func descriptorsOf(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(list)
}

// The bounds for one server at rest.
const (
	restDescriptors = 64
	restMemory      = 96 << 10 // kB
)

// checkRest checks after a quiet phase that nothing is left of the work.
func (r *run) checkRest(round int) {
	var left string
	r.within(func() bool {
		left = r.leftAtRest()
		return left == ""
	})
	if left != "" && r.ctx.Err() == nil {
		r.violate("at rest after round %d: %s", round, left)
	}
}

// within waits until a condition is true.
func (r *run) within(holds func() bool) {
	for end := time.Now().Add(patience); !holds() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

// leftAtRest describes the first thing that is left.
func (r *run) leftAtRest() string {
	owners := map[string]bool{}
	for _, s := range r.slots {
		srv := s.current.Load()
		if srv == nil {
			return fmt.Sprintf("server %d is missing", s.n)
		}
		pid := srv.cmd.Process.Pid
		owners[strconv.Itoa(pid)] = true
		if scripts := children(pid); len(scripts) > 0 {
			return fmt.Sprintf("server %d has %d scripts", s.n, len(scripts))
		}
		files := descriptorsOf(pid)
		if files > restDescriptors {
			return fmt.Sprintf("server %d has %d descriptors", s.n, files)
		}
		bound := restMemory
		if r.Memory > 0 {
			bound = r.Memory
		}
		if kb := memoryOf(pid); kb > bound {
			return fmt.Sprintf("server %d has %d kB", s.n, kb)
		}
	}
	for _, dir := range r.abandoned(owners) {
		if info, err := os.Stat(filepath.Join(dir, claimFile)); err == nil && info.Size() > 0 {
			return describe(dir)
		}
	}
	if n := len(r.processes()); n != len(r.slots) {
		return fmt.Sprintf("%d processes, %d of them servers", n, len(r.slots))
	}
	return ""
}

// processes returns the processes of all servers and scripts.
func (r *run) processes() (pids []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range list {
		environ, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environ, []byte(r.tag())) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// claimFile is locked by the owner of a directory, who then writes to it. A start keeps a directory for a minute in
// which it is missing or empty, because its owner may be about to do that.
const claimFile = "owner"

// abandoned returns the directories of other processes than the owners.
func (r *run) abandoned(owners map[string]bool) (list []string) {
	entries, _ := os.ReadDir(r.stage.tmp)
	for _, e := range entries {
		if parts := strings.Split(e.Name(), "."); len(parts) < 4 || !owners[parts[3]] {
			list = append(list, filepath.Join(r.stage.tmp, e.Name()))
		}
	}
	return list
}

// describe describes a directory that is left.
func describe(dir string) string {
	var names []string
	filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		names = append(names, path)
		return nil
	})
	locked := "unknown"
	if f, err := os.Open(filepath.Join(dir, claimFile)); err == nil {
		free, err := atomicfile.TryLock(f)
		locked = fmt.Sprint(!free, err)
		f.Close()
	}
	return fmt.Sprintf("%s is left, locked: %s: %q", dir, locked, names[:min(len(names), 50)])
}

// clearUp lets a last server remove what killed ones left, and a refresh the partial files of lists. It makes
// the directories look old that a start keeps for a minute.
func (r *run) clearUp() {
	if partial, _ := filepath.Glob(filepath.Join(r.stage.project, ".registry", "*.tmp-*")); len(partial) > 0 {
		r.Log("a refresh has to remove %q", partial)
		refresh := r.slots[0].command("registry", "refresh")
		if out, err := refresh.CombinedOutput(); err != nil {
			r.violate("refresh: %v: %s", err, out)
		}
	}
	list := r.abandoned(nil)
	if len(list) == 0 {
		return
	}
	old := time.Now().Add(-2 * time.Minute)
	for _, dir := range list {
		r.Log("a last start has to remove %s", describe(dir))
		os.Chtimes(dir, old, old)
	}
	s := r.slots[0]
	r.again(s)
	if srv := s.current.Load(); srv != nil {
		r.within(func() bool { return len(r.abandoned(map[string]bool{strconv.Itoa(srv.cmd.Process.Pid): true})) == 0 })
		srv.end()
	}
}

// checkLeft checks what all servers have left at their end.
func (r *run) checkLeft() {
	var pids, files []string
	r.within(func() bool { pids = r.processes(); return len(pids) == 0 })
	for _, pid := range pids {
		line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		r.violate("process %s is left: %q", pid, line)
	}
	if r.ctx.Err() != nil {
		return // killed servers leave files for the next start
	}
	for _, dir := range []string{r.stage.tmp, filepath.Join(r.stage.project, ".registry"), r.stage.home} {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
			rel, _ := filepath.Rel(dir, path)
			if rel != "." && !expected(filepath.Base(dir), rel) {
				files = append(files, path)
			}
			return nil
		})
	}
	if len(files) > 0 {
		r.violate("%d files are left: %.2000q", len(files), files)
	}
}

// expected reports whether a file stays: the lists of the registry and the unpacked SDK.
func expected(dir, name string) bool {
	switch dir {
	case ".registry":
		return !strings.Contains(name, "tmp")
	case "home":
		return name == ".cache" || strings.HasPrefix(name, ".cache/mcp-bash")
	}
	return false
}
