//go:build unix

package userfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"mcp-bash/pkg/files/fsys"
)

func stat(info fs.FileInfo) *syscall.Stat_t { return info.Sys().(*syscall.Stat_t) }

func names(info fs.FileInfo) uint64 { return uint64(stat(info).Nlink) }

// sameOwner reports whether two files have the same owner and group. If b is nil, it reports
// whether a is our user's file.
func sameOwner(a, b fs.FileInfo) bool {
	if b == nil {
		return int(stat(a).Uid) == os.Geteuid()
	}
	return stat(a).Uid == stat(b).Uid && stat(a).Gid == stat(b).Gid
}

// begun sets the owner, group and mode of a file that does not replace another one.
func (e *edit) begun(f *os.File) error {
	if e.o.FolderOwner {
		folder, err := e.list.Stat()
		if err == nil {
			err = give(f, folder)
		}
		if err != nil {
			return err
		}
	}
	return f.Chmod(e.o.Mode)
}

// own sets the owner, group and mode of a new file to those of another one.
func own(f *os.File, like fs.FileInfo) error {
	if err := give(f, like); err != nil {
		return err
	}
	return f.Chmod(like.Mode())
}

// give sets the owner and group of a new file to those of another one.
func give(f *os.File, like fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if want := stat(like); !sameOwner(info, like) {
		if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil {
			return fmt.Errorf("its owner %d and group %d cannot be kept (%w); do this as that user", want.Uid, want.Gid,
				fsys.Cause(err))
		}
	}
	return nil
}

// check returns an error unless a new file has the same owner, group and mode as another
// one.
func check(f *os.File, like fs.FileInfo) error {
	info, err := f.Stat()
	if err == nil && (info.Mode() != like.Mode() || !sameOwner(info, like)) {
		err = fmt.Errorf("its mode %v, owner and group cannot be kept", like.Mode())
	}
	return err
}
