//go:build unix

package boundedfile

import "syscall"

// NonBlock is a flag with which opening a FIFO does not wait for the other end.
const NonBlock = syscall.O_NONBLOCK
