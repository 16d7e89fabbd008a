//go:build unix

package boundedfile

import "syscall"

// NonBlock keeps an open of a FIFO from waiting for the other end.
const NonBlock = syscall.O_NONBLOCK
