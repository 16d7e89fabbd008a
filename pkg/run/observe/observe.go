// Package observe records the operations of a script without another program. A seccomp filter
// reports system calls that open files, start programs and contact hosts to a listener in this
// process. The package knows nothing about tools.
//
// The filter belongs to a thread, and forked processes inherit it. Each reported call waits until
// the listener has read its arguments, and then continues. The result is a report and not a
// barrier: the text behind a pointer may change before the kernel reads it.
package observe

import "cmp"

// A Kind is a kind of access.
type Kind string

// Kinds of access.
const (
	Read    Kind = "read"    // read a file, or list a directory
	Write   Kind = "write"   // write to an existing file
	Change  Kind = "change"  // create, remove or move a directory entry
	Modes   Kind = "modes"   // change mode, owner or attributes of a file by its path
	Start   Kind = "start"   // start a program
	Connect Kind = "connect" // connect to a port or Unix socket
	Send    Kind = "send"    // send to a port or Unix socket without a connection
	Listen  Kind = "listen"  // listen on a port or Unix socket
	Socket  Kind = "socket"  // create a socket without a known address
	Signal  Kind = "signal"  // signal a process that is not the script's
	Call    Kind = "call"    // make a system call
)

// An Access is an operation of a script, permitted or refused.
type Access struct {
	Kind Kind
	// Path is an absolute path without links: of a file, a program or a Unix socket. "@name" is an abstract socket.
	Path string
	// Name is the protocol of a socket ("tcp", "udp", "unix", "netlink", …), the name of a system
	// call, or a signalled process.
	Name    string
	Port    int
	Made    Made   // for Change: the created entry; "" for removals, moves, links and devices
	Program string // the program that made the access
}

// Made is the type of a directory entry that can be created before the script runs.
type Made string

// Types of entries.
const (
	Directory Made = "directory"
	File      Made = "file"
)

// Compare orders accesses, first by kind.
func (a Access) Compare(b Access) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Port, b.Port), cmp.Compare(a.Made, b.Made), cmp.Compare(a.Program, b.Program))
}

// A Report has the observed accesses.
type Report struct {
	Accesses []Access // without duplicates, in the order of their first occurrence
	Dropped  int      // number of further accesses
	Unread   int      // calls whose arguments could not be read
}

const mostAccesses = 10000
