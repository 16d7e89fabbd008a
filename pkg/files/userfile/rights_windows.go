package userfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

func names(fs.FileInfo) uint64 { return 1 }

func sameOwner(fs.FileInfo, fs.FileInfo) bool { return true }

func (e *edit) begin(name string, _ *version) (*os.File, error) { return e.newFile(name) }

// dress copies the access control list of another file to a new file. The owner, the audit
// list and alternate streams are not copied.
func (e *edit) dress(f *os.File, like *version) error {
	if !like.there() {
		return nil // a new file has the rights of its directory
	}
	from := e.path(e.name)
	descriptor, err := windows.GetNamedSecurityInfo(from, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("its access control list cannot be read: %w", err)
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return fmt.Errorf("its access control list cannot be read: %w", err)
	}
	what := windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION | windows.UNPROTECTED_DACL_SECURITY_INFORMATION)
	if control, _, err := descriptor.Control(); err == nil && control&windows.SE_DACL_PROTECTED != 0 {
		what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	}
	to := filepath.Join(e.dir.Name(), filepath.Base(f.Name()))
	if err := windows.SetNamedSecurityInfo(to, windows.SE_FILE_OBJECT, what, nil, nil, list, nil); err != nil {
		return fmt.Errorf("its access control list cannot be kept: %w", err)
	}
	return nil
}
