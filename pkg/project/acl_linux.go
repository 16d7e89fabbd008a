package project

import "golang.org/x/sys/unix"

// hasACL reports whether a file has an access control list: who may write to it
// is then more than its group, of which the mode shows nothing.
func hasACL(path string) bool {
	size, err := unix.Lgetxattr(path, "system.posix_acl_access", nil)
	return err == nil && size > 0
}
