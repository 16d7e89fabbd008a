package userfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/fsys"
)

// rights are the extended attributes of a file. They include access control lists, security
// labels and capabilities, but not owner, group and mode.
type rights map[string][]byte

func (r rights) equal(s rights) bool { return maps.EqualFunc(r, s, bytes.Equal) }

// ofContent are attributes that the kernel derives from the content of a file.
var ofContent = []string{"security.ima", "security.evm"}

// maxList and maxValue are the kernel's limits on the names of a file's attributes and on a
// value.
const (
	maxList  = 64 << 10
	maxValue = 64 << 10
)

func rightsOf(f *os.File) (rights, error) {
	fd := int(f.Fd())
	list := make([]byte, maxList)
	n, err := unix.Flistxattr(fd, list)
	if errors.Is(err, unix.ENOTSUP) {
		return rights{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("its extended attributes cannot be read: %w", err)
	}
	r := rights{}
	value := make([]byte, maxValue)
	for name := range strings.SplitSeq(string(list[:n]), "\x00") {
		if name == "" || slices.Contains(ofContent, name) {
			continue
		}
		n, err := unix.Fgetxattr(fd, name, value)
		if errors.Is(err, unix.ENODATA) { // removed in the meantime
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("its extended attribute %s cannot be read: %w", name, err)
		}
		r[name] = slices.Clone(value[:n])
	}
	return r, nil
}

func (e *edit) begin(name string, _ *version) (*os.File, error) { return e.newFile(name) }

// dress sets the access rights of a new file to those of another one, without a directory's
// defaults. It verifies the result.
func (e *edit) dress(f *os.File, like *version) error {
	if !like.there() {
		return e.begun(f)
	}
	if err := own(f, like.info); err != nil {
		return err
	}
	have, err := rightsOf(f)
	if err != nil {
		return err
	}
	fd := int(f.Fd())
	for name := range have {
		if like.rights[name] == nil {
			err = errors.Join(err, cannotKeep(name, unix.Fremovexattr(fd, name)))
		}
	}
	for name, value := range like.rights {
		if there, ok := have[name]; !ok || !bytes.Equal(there, value) {
			err = errors.Join(err, cannotKeep(name, unix.Fsetxattr(fd, name, value, 0)))
		}
	}
	if err != nil {
		return err
	}
	if have, err = rightsOf(f); err == nil && !have.equal(like.rights) {
		err = errors.New("its access control list and extended attributes cannot be kept")
	}
	return errors.Join(err, check(f, like.info))
}

func cannotKeep(name string, err error) error {
	if err == nil {
		return nil
	}
	what := "extended attribute " + name
	switch name {
	case "system.posix_acl_access":
		what = "access control list"
	case "security.selinux":
		what = "SELinux label"
	}
	return fmt.Errorf("its %s cannot be kept: %w", what, fsys.Cause(err))
}

// isWritten reports whether another program has the file open for writing. In that case, the
// kernel grants no read lease on it. The result is false if the file system has no leases,
// or if the file belongs to another user.
func isWritten(f *os.File) bool {
	fd := f.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return errors.Is(err, unix.EAGAIN)
	}
	unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
	return false
}
