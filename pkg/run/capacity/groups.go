package capacity

import (
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// groupLimits are the limits of the control groups of a process. 0: none.
type groupLimits struct {
	memory    int64
	processes int
}

// A hierarchy is a mounted tree of control groups.
type hierarchy struct{ mount, memory, processes string }

// The places of control groups: version 2, and the controllers of version 1.
var (
	version2 = hierarchy{mount: "sys/fs/cgroup", memory: "memory.max", processes: "pids.max"}
	version1 = map[string]hierarchy{
		"memory": {mount: "sys/fs/cgroup/memory", memory: "memory.limit_in_bytes"},
		"pids":   {mount: "sys/fs/cgroup/pids", processes: "pids.max"},
	}
)

// readGroups returns the limits of this process's control groups, and of those above them.
func readGroups(root fs.FS) (l groupLimits) {
	text, _ := readSmall(root, "proc/self/cgroup")
	for line := range strings.Lines(text) {
		// A line is HIERARCHY:CONTROLLERS:PATH. The controllers of version 2 have no names.
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		if controllers == "" {
			l.add(root, version2, group)
		}
		for name := range strings.SplitSeq(controllers, ",") {
			if h, known := version1[name]; known {
				l.add(root, h, group)
			}
		}
	}
	return l
}

// add takes the limits of a group and of each group above it. In a container, the mount can show a part of the path
// only; then the groups that exist count.
func (l *groupLimits) add(root fs.FS, h hierarchy, group string) {
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dir := path.Join(h.mount, at)
		if h.memory != "" {
			l.memory = least(l.memory, readLimit(root, path.Join(dir, h.memory)))
		}
		if h.processes != "" {
			l.processes = least(l.processes, int(min(readLimit(root, path.Join(dir, h.processes)), unlimited)))
		}
		if at == "/" {
			return
		}
	}
}

// unlimited is the largest number of processes.
const unlimited = 1<<31 - 1

// readLimit returns a limit of a file. 0: none. Version 2 writes "max" for none, version 1 a very large number.
func readLimit(root fs.FS, name string) int64 {
	text, ok := readSmall(root, name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 || n >= 1<<60 {
		return 0
	}
	return n
}

// readSmall returns the text of a file of at most 64 KiB.
func readSmall(root fs.FS, name string) (string, bool) {
	f, err := root.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return string(text), err == nil
}
