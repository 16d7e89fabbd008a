package userfile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/project"
)

// rights are nothing that is looked at: a clone has those of its original.
type rights struct{}

func (rights) equal(rights) bool { return true }

func rightsOf(*os.File) (rights, error) { return rights{}, nil }

// begin clones the file that is to be replaced, with its access control list and extended attributes, which
// no other call copies without the C library. File systems other than APFS cannot.
func (e *edit) begin(name string, like *version) (*os.File, error) {
	if !like.there() {
		return e.newFile(name)
	}
	fd := int(e.list.Fd())
	if err := unix.Clonefileat(fd, e.name, fd, name, unix.CLONE_NOFOLLOW); err != nil {
		return nil, fmt.Errorf("its access rights cannot be copied on this file system (%w); edit it yourself",
			project.PlainError(err))
	}
	f, err := e.dir.OpenFile(name, os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		e.dir.Remove(name)
	}
	return f, err
}

// dress makes sure that a clone has the owner, group and mode of its original.
func (e *edit) dress(f *os.File, like *version) error {
	if !like.there() {
		return f.Chmod(e.o.Mode)
	}
	if err := own(f, like.info); err != nil {
		return err
	}
	return check(f, like.info)
}
