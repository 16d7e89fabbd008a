//go:build unix

package handoff

import "syscall"

// nonblock keeps an open from waiting for the other end of a pipe, or for the
// holder of a lease.
const nonblock = syscall.O_NONBLOCK
