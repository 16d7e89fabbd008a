//go:build unix

package registry

import (
	"testing"

	"golang.org/x/sys/unix"
)

// If a process has too few descriptors, files that it cannot open do not count as removed.
func TestShortage(t *testing.T) {
	b := newBed(t, noTTL, files{"tools/a/b/c/tool.sh": "# mcp: {}", "tools/d/tool.sh": ""})
	want(t, b.names(), "c d")
	b.Put(files{"tools/e/tool.sh": ""})
	var held []int
	for {
		fd, err := unix.Dup(1)
		if err != nil {
			break
		}
		if held = append(held, fd); len(held) == 1 {
			var limit unix.Rlimit
			unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
			old := limit
			limit.Cur = uint64(fd) + 20
			if unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
				t.Skip("no limit to be set")
			}
			defer unix.Setrlimit(unix.RLIMIT_NOFILE, &old)
		}
	}
	free := func(n int) {
		for range n {
			unix.Close(held[len(held)-1])
			held = held[:len(held)-1]
		}
	}
	free(2) // enough for two directories, not for their files
	reason := b.reason()
	free(len(held))
	want(t, reason, "unable to read tools/: too many open files")
	want(t, b.names(), "c d e")
}
