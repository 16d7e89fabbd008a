//go:build unix

package script

import "syscall"

// Replace replaces this process by a program, which gets its signals and streams. It returns
// only after an error.
func Replace(path string, argv, env []string) (int, error) {
	return 0, syscall.Exec(path, argv, env)
}
