//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// effectiveUser returns the user that scripts run as. The value is kept, because each query is a system call.
var effectiveUser = sync.OnceValue(os.Geteuid)

// otherWriters reports which of a file's owner, group and others can write to it and are neither our user, root nor the
// user friend.
func otherWriters(mode, uid, gid uint32, friend int) (owner, group, others bool) {
	owner = uid != 0 && int(uid) != effectiveUser() && int(uid) != friend
	group = mode&0o020 != 0 && !knownAccounts().isPrivate(int(gid), friend)
	return owner, group, mode&0o002 != 0
}

// Exposed reports whether the mode, owner and group of a file allow another user to change it. [CheckPath] checks the
// directories and access control lists as well.
func Exposed(mode, uid, gid uint32) bool {
	owner, group, others := otherWriters(mode, uid, gid, nobody)
	return owner || group || others
}

// distrust returns the reason why other users can change a file, or the content of a directory. It returns "" if they
// cannot. Only the owner matters for a link and for a shared directory. The user friend may change it.
func distrust(path string, info fs.FileInfo, shared bool, friend int) *InsecureError {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &InsecureError{Path: path, Reason: "its owner is unknown"}
	}
	mode := uint32(sys.Mode) & 0o7777
	owner, group, others := otherWriters(mode, sys.Uid, sys.Gid, friend)
	if owner {
		reason := "owned by uid " + knownAccounts().user(int(sys.Uid)) + ", not by "
		for _, uid := range []int{effectiveUser(), friend} {
			if uid != 0 {
				reason += "uid " + knownAccounts().user(uid) + " or "
			}
		}
		return &InsecureError{Path: path, Reason: reason + "root", WrongOwner: true}
	}
	if shared || isLink(info) {
		return nil
	}
	fault, remedy := "", "chmod go-w"
	switch {
	case group:
		fault = "group " + knownAccounts().group(int(sys.Gid)) + " can write to it"
	case mode&0o020 != 0 && hasACL(path):
		fault = "its access control list lets others write to it"
	case others:
		fault, remedy = "others can write to it", "chmod o-w"
	default:
		return nil
	}
	reason := fmt.Sprintf("mode %04o, %s", mode, fault)
	return &InsecureError{Path: path, Reason: reason, remedy: remedy, flaw: flawWritable}
}
