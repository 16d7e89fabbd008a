//go:build unix

package main

import "syscall"

// replace replaces this process by another program, which gets its signals and streams, and sets its exit code.
func replace(path string, argv, env []string) (int, error) {
	return 0, syscall.Exec(path, argv, env)
}
