//go:build unix

package cli

import "golang.org/x/sys/unix"

// Width returns the width of a terminal in columns, or otherwise if it is unknown.
func Width(stream any, otherwise int) int {
	if f, ok := stream.(interface{ Fd() uintptr }); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
			return int(size.Col)
		}
	}
	return otherwise
}
