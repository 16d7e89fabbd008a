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

	"mcp-bash/pkg/project"
)

// rights are what a file has besides owner, group and mode: its extended attributes. Access control lists, security
// labels and capabilities are among them.
type rights map[string][]byte

func (r rights) equal(s rights) bool { return maps.EqualFunc(r, s, bytes.Equal) }

// ofContent are attributes that the kernel makes of the content of a file.
var ofContent = []string{"security.ima", "security.evm"}

// maxList and maxValue are the bounds of the kernel on the names, and on a value, of a file's attributes.
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
		if errors.Is(err, unix.ENODATA) { // gone since
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("its extended attribute %s cannot be read: %w", name, err)
		}
		r[name] = slices.Clone(value[:n])
	}
	return r, nil
}

// begin makes a file that is to replace another.
func (e *edit) begin(name string, _ *version) (*os.File, error) { return e.newFile(name) }

// dress gives a new file the rights of another, and not those that a directory gives to new files. It makes sure that
// the file has them.
func (e *edit) dress(f *os.File, like *version) error {
	if !like.there() {
		return f.Chmod(e.o.Mode)
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
	return fmt.Errorf("its %s cannot be kept: %w", what, project.PlainError(err))
}
