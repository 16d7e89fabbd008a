//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// width is that of a terminal, else one that reads well.
func width(f *os.File) int {
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		return int(size.Col)
	}
	return 120
}
