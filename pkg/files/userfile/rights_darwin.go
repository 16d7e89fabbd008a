package userfile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/fsys"
)

// begin clones the file that will be replaced. The clone has the same access control list and extended attributes.
// Without the C library, no other call copies these. Only APFS supports clones.
func (e *edit) begin(name string, like *version) (*os.File, error) {
	if !like.there() {
		return e.newFile(name)
	}
	fd := int(e.list.Fd())
	if err := unix.Clonefileat(fd, e.name, fd, name, unix.CLONE_NOFOLLOW); err != nil {
		return nil, fmt.Errorf("its access rights cannot be copied on this file system (%w); edit it yourself",
			fsys.Cause(err))
	}
	f, err := e.dir.OpenFile(name, os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		e.dir.Remove(name)
	}
	return f, err
}

// dress ensures that a clone has the owner, group and mode of its original.
func (e *edit) dress(f *os.File, like *version) error {
	if !like.there() {
		return e.begun(f)
	}
	if err := own(f, like.info); err != nil {
		return err
	}
	return check(f, like.info)
}
