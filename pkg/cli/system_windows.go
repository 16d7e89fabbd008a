package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// IsClosed reports whether the process was started without a handle for a standard stream.
func IsClosed(f *os.File) bool {
	_, err := f.Stat()
	return err != nil
}

// IsBrokenPipe reports whether the reader of a pipe has gone.
func IsBrokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// Width returns otherwise, because this system does not report the width.
func Width(_ any, otherwise int) int { return otherwise }
