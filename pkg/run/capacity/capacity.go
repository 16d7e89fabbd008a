// Package capacity reads how much of a machine this process may use. Bounds of the server are parts of it.
package capacity

import (
	"os"
)

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
