// Package capacity reads how much of a machine this process may use. The bounds of the server are shares of it.
package capacity

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// A Capacity is the amount of each resource that a process may use. 0 means that there is no limit, or that it is
// unknown.
type Capacity struct {
	Files     int   // open at once, with sockets
	Memory    int64 // bytes, of the process and its scripts
	Processes int   // and threads, with those of scripts
	Temp      Space // for temporary files
}

// A Space is a file system.
type Space struct {
	Dir    string
	Free   int64 // bytes that this process can use; 0: unknown
	Memory bool  // files take memory
}

// Read returns the capacity of this process, with the file system of a directory.
func Read(dir string) Capacity {
	c := Capacity{Files: Files(), Temp: spaceOf(dir)}
	c.Memory, c.Processes = limits()
	groups := readGroups(os.DirFS("/"))
	c.Memory = least(c.Memory, groups.memory)
	c.Processes = least(c.Processes, groups.processes)
	return c
}

// least returns the smaller one of two limits.
func least[N int | int64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Parts are the shares of the open files of a process. Together they are all of its files, so no part can use up the
// files of another one.
type Parts struct {
	Running int // files of scripts that run, and of idle hand-off directories
	Waiting int // files of scripts that wait for their clients, and as many of long-running calls
	Left    int // lifelines of processes that ended scripts have left running
	Results int // stored results
	Sockets int // connections of HTTP
}

// PartsOf divides a number of files. 0 means that there is no limit.
func PartsOf(files int) Parts {
	const many, own = 1 << 20, 64 // own files: the project, the catalog, logs, resources that are read
	if files <= 0 {
		files = many
	}
	p := Parts{Running: files / 4, Waiting: files / 8, Left: files / 32, Results: files / 32}
	p.Sockets = files - p.Running - 2*p.Waiting - p.Left - p.Results - min(own, files/8)
	return p
}

// groupLimits are the limits of the control groups of a process. 0: none.
type groupLimits struct {
	memory    int64
	processes int
}

// A hierarchy is a mounted tree of control groups.
type hierarchy struct{ mount, memory, processes string }

// The hierarchies: version 2, and the controllers of version 1.
var (
	version2 = hierarchy{mount: "sys/fs/cgroup", memory: "memory.max", processes: "pids.max"}
	version1 = map[string]hierarchy{
		"memory": {mount: "sys/fs/cgroup/memory", memory: "memory.limit_in_bytes"},
		"pids":   {mount: "sys/fs/cgroup/pids", processes: "pids.max"},
	}
)

// readGroups returns the limits of this process's control groups, and of those above them.
func readGroups(root fs.FS) (l groupLimits) {
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
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

// add applies the limits of a group and of each group above it. In a container, the mount can show only a part of the
// path. It skips groups that are not visible.
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
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 || n >= 1<<60 {
		return 0
	}
	return n
}
