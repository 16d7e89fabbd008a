package secretfile

import (
	"io/fs"

	"mcp-bash/pkg/text/shell"
)

// Windows has neither mode bits nor numeric owners.

func (r Rule) actsForOthers() bool { return false }

func (r Rule) owner(fs.FileInfo) int { return 0 }

func (r Rule) checkReaders(string, fs.FileInfo) error { return nil }

func remedy(path string, _ fs.FileInfo) string {
	return "icacls " + shell.Quote(path) + " to see who may"
}

func remedied(err error) error { return err }
