// Package capacity reads how much of a machine this process may use. Bounds of the server are parts of it.
package capacity

import "os"

// A Capacity is how much a process may use. 0 means that there is no limit, or that it is unknown.
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
