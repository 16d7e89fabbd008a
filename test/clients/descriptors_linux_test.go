package clients

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// A server without free descriptors reports it, answers every request, and works again when
// descriptors are free (T-53).
func TestWithoutDescriptors(t *testing.T) {
	t.Parallel()
	s := open(t, checkout.Copy(t, "testdata/hostile"), opening{})
	s.calm(nil)
	// The server has derived its limits from more descriptors (P-1807), so it lacks some now.
	if err := unix.Prlimit(s.tap.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 44, Max: 44}, nil); err != nil {
		t.Fatal(err)
	}
	dir := checkout.Directory(t)
	proceed := filepath.Join(dir, "go")
	if err := syscall.Mkfifo(proceed, 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := os.OpenFile(proceed, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	const calls = 16
	var all sync.WaitGroup
	for range calls {
		all.Go(func() { s.request(s.deadline(), "attack", arguments{"what": "blocked", "where": dir}) })
	}
	eventually(t, "an error for want of descriptors", func() bool {
		return strings.Contains(compact(t, s.tap.messages("")), "too many files open: raise the limit (ulimit -n)")
	})
	io.WriteString(lines, strings.Repeat("\n", calls)) // a line for each
	all.Wait()
	if got := compact(t, s.tap.messages("")); strings.Contains(got, "rejected by policy") {
		t.Errorf("%s", got)
	}
	// A call frees its descriptors after it has sent its result.
	eventually(t, "a call succeeds", func() bool {
		result, err := s.request(s.deadline(), "calm", nil)
		return err == nil && text(t, result) == "clean\n"
	})
}
