package project

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An InsecureError says why a file of the project that decides what runs, or
// is run itself, is not to be trusted (registry R-144, tools T-31).
type InsecureError struct {
	Path   string // the file, or one of the directories above it
	Reason string
}

func (e *InsecureError) Error() string { return fmt.Sprintf("%s (%s)", e.Path, e.Reason) }

// CheckTrusted reports whether a file in the server directory may be believed:
// it, its directory and the project root must each be no symbolic link, not
// writable by group or others, and owned by us or by root. The error is an
// [*InsecureError], or that of a file that is not there, in a place that can be
// trusted.
func (p *Project) CheckTrusted(file string) error {
	for _, path := range []string{p.Root, filepath.Dir(file), file} {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if reason := distrust(info); reason != "" {
			return &InsecureError{path, reason}
		}
	}
	return nil
}

func distrust(info fs.FileInfo) string {
	if info.Mode()&fs.ModeSymlink != 0 {
		return "symlink"
	}
	return DistrustMode(info)
}

// The reasons of R-144.
const (
	reasonWritable = "group- or world-writable; run chmod go-w"
	reasonOwner    = "not owned by the current user"
)
