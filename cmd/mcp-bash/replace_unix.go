//go:build unix

package main

import "syscall"

// replace runs a program in our place, so that signals, streams and the exit
// code are its own.
func replace(path string, argv, env []string) (int, error) {
	return 0, syscall.Exec(path, argv, env)
}
