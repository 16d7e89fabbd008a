//go:build unix

package tool

import "syscall"

const nonblock = syscall.O_NONBLOCK
