//go:build amd64 || arm64

package observe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	longestPath = 4096
	mostLinks   = 40 // the kernel's limit
)

// read fills b from the memory of the process, and reports whether it succeeded.
func (c *call) read(b []byte, pointer uint64) bool {
	return c.readSome(b, pointer) == len(b)
}

func (c *call) readSome(b []byte, pointer uint64) int {
	mem, err := unix.Open(fmt.Sprintf("/proc/%d/mem", c.Thread), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(mem)
	n, err := unix.Pread(mem, b, int64(pointer))
	if err != nil {
		return 0
	}
	return n
}

// text returns the string at an address. ok is false if it cannot be read.
func (c *call) text(pointer uint64) (text string, ok bool) {
	var b [longestPath]byte
	n := c.readSome(b[:], pointer)
	end := bytes.IndexByte(b[:n], 0)
	if end < 0 {
		return "", false
	}
	return string(b[:end]), true
}

func (c *call) program() string {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.Thread)); err == nil {
		return strings.TrimSuffix(filepath.Base(exe), " (deleted)")
	}
	return ""
}

type target struct {
	path   string // absolute, without links
	exists bool   // false if only its directory exists
	mode   uint32
}

// find resolves the path at an address. ok is false if the path does not exist or has no name, such as a pipe.
func (c *call) find(dir int32, pointer uint64, follow bool) (target, bool) {
	return c.findAt(dir, pointer, follow, 0)
}

// findAt is find for calls that accept the descriptor itself.
func (c *call) findAt(dir int32, pointer uint64, follow bool, flags uint64) (t target, ok bool) {
	path, ok := c.text(pointer)
	if !ok {
		c.unread()
		return t, false
	}
	if path == "" {
		if flags&unix.AT_EMPTY_PATH == 0 {
			return t, false
		}
		path = "."
	}
	return c.walk(dir, path, follow)
}

// walk resolves a path from the view of the process, with its own /proc/self and working directory.
func (c *call) walk(dir int32, path string, follow bool) (t target, ok bool) {
	at := "/"
	if !strings.HasPrefix(path, "/") {
		link := fmt.Sprintf("/proc/%d/cwd", c.Thread)
		if dir != atCWD {
			link = fmt.Sprintf("/proc/%d/fd/%d", c.Thread, dir)
		}
		var err error
		if at, err = os.Readlink(link); err != nil || !strings.HasPrefix(at, "/") {
			return t, false
		}
	}
	var st unix.Stat_t
	links, rest := 0, strings.Split(path, "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		last := strings.Trim(strings.Join(rest, ""), "/") == ""
		err := unix.Lstat(next, &st)
		switch {
		case errors.Is(err, unix.ENOENT) && last:
			return target{path: next}, true
		case err != nil:
			return t, false
		case st.Mode&unix.S_IFMT != unix.S_IFLNK, last && !follow && len(rest) == 0:
			at = next
			continue
		}
		if links++; links > mostLinks {
			return t, false
		}
		to, err := c.readlink(next)
		if err != nil {
			return t, false
		}
		inProc := strings.HasPrefix(next, "/proc/")
		switch {
		case strings.HasPrefix(to, "/"):
			at = "/"
		case inProc && strings.Contains(to, ":"): // a pipe or socket
			return t, false
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	if unix.Lstat(at, &st) != nil {
		return t, false
	}
	return target{at, true, st.Mode}, true
}

// readlink reads a link from the view of the process.
func (c *call) readlink(path string) (string, error) {
	switch path {
	case "/proc/self":
		return fmt.Sprintf("/proc/%d", c.Thread), nil
	case "/proc/thread-self":
		return fmt.Sprintf("/proc/%d/task/%d", c.Thread, c.Thread), nil
	}
	return os.Readlink(path)
}
