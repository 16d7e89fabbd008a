package observe

import "cmp"

// A Kind is what is done.
type Kind string

// The kinds.
const (
	Read    Kind = "read"    // a file, or list a directory
	Write   Kind = "write"   // to a file that is there
	Change  Kind = "change"  // make, remove or move the entry of a directory
	Modes   Kind = "modes"   // mode, owner or attributes of a file, by its path
	Start   Kind = "start"   // a program
	Connect Kind = "connect" // to a port, or a Unix socket
	Send    Kind = "send"    // to a port or Unix socket without a connection
	Listen  Kind = "listen"  // on a port or Unix socket
	Socket  Kind = "socket"  // make one, of which nothing more is known
	Signal  Kind = "signal"  // a process that is not the script's
	Call    Kind = "call"    // a system call
)

// An Access is something that a script did, or was refused.
type Access struct {
	Kind Kind
	// Path is of a file, program or Unix socket: absolute, without links. "@name" is an abstract socket.
	Path string
	// Name is the protocol of a socket ("tcp", "udp", "unix", "netlink", …), the name of a system call, or
	// the process that is signalled.
	Name    string
	Port    int
	Made    Made   // of Change: the entry that is made; "" for one that is removed or moved, and for links and devices
	Program string // that did it
}

// Made is an entry of a directory that can exist before the script runs.
type Made string

// What is made.
const (
	Directory Made = "directory"
	File      Made = "file"
)

// Compare orders accesses: the same kinds stand together.
func (a Access) Compare(b Access) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Port, b.Port), cmp.Compare(a.Made, b.Made), cmp.Compare(a.Program, b.Program))
}

// A Report is what was observed.
type Report struct {
	Accesses []Access // each once, in the order in which they were first made
	Dropped  int      // how many more there were
	Unread   int      // calls whose arguments could not be read
}

// mostAccesses are kept.
const mostAccesses = 10000
