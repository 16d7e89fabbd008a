//go:build unix

package clientconfig

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"mcp-bash/pkg/project"
)

// keepOwner gives a new file the owner and group of another.
func keepOwner(f *os.File, like fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	have, want := info.Sys().(*syscall.Stat_t), like.Sys().(*syscall.Stat_t)
	if have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return fmt.Errorf("its owner %d and group %d cannot be kept (%w); do this as that user", want.Uid, want.Gid,
			project.PlainError(err))
	}
	return nil
}
