//go:build unix

package userfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"mcp-bash/pkg/project"
)

func stat(info fs.FileInfo) *syscall.Stat_t { return info.Sys().(*syscall.Stat_t) }

// names is how many names a file has.
func names(info fs.FileInfo) uint64 { return uint64(stat(info).Nlink) }

// sameOwner reports whether two files have the same owner and group, or, for nil, whether one is ours.
func sameOwner(a, b fs.FileInfo) bool {
	if b == nil {
		return int(stat(a).Uid) == os.Geteuid()
	}
	return stat(a).Uid == stat(b).Uid && stat(a).Gid == stat(b).Gid
}

// own gives a new file the owner, group and mode of another.
func own(f *os.File, like fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if want := stat(like); !sameOwner(info, like) {
		if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil {
			return fmt.Errorf("its owner %d and group %d cannot be kept (%w); do this as that user", want.Uid, want.Gid,
				project.PlainError(err))
		}
	}
	return f.Chmod(like.Mode())
}

// check returns an error unless a new file has the owner, group and mode of another.
func check(f *os.File, like fs.FileInfo) error {
	info, err := f.Stat()
	if err == nil && (info.Mode() != like.Mode() || !sameOwner(info, like)) {
		err = fmt.Errorf("its mode %v, owner and group cannot be kept", like.Mode())
	}
	return err
}
