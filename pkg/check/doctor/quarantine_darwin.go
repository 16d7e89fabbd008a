package doctor

import (
	"errors"

	"golang.org/x/sys/unix"
)

// quarantined reports whether macOS has marked a file as downloaded, and so does not run it. known is false if the mark
// cannot be read.
func quarantined(file string) (is, known bool) {
	_, err := unix.Getxattr(file, "com.apple.quarantine", nil)
	return err == nil, err == nil || errors.Is(err, unix.ENOATTR)
}
