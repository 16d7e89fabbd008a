//go:build unix

package handoff

import "syscall"

// nonblock prevents an open from waiting for the other end of a pipe or for the owner of a
// lease.
const nonblock = syscall.O_NONBLOCK
