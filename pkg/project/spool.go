package project

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Spool copies a stream to a file in a private directory, and returns its path. remove removes both. More than limit
// bytes are an error.
func Spool(env Env, in io.Reader, name string, limit int64) (path string, remove func(), err error) {
	dir, err := MakeWorkDir(env)
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir.Path, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		n, copied := io.Copy(f, io.LimitReader(in, limit+1))
		if err = errors.Join(copied, f.Close()); err == nil && n > limit {
			err = fmt.Errorf("more than %d MB", limit>>20)
		}
	}
	if err != nil {
		dir.Remove()
		return "", nil, fmt.Errorf("standard input: %w", err)
	}
	return path, func() { dir.Remove() }, nil
}
