//go:build unix

package project

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"mcp-bash/pkg/run/script"
)

// us is the user that scripts run as. Each question to the system takes a call.
var us = sync.OnceValue(os.Geteuid)

// strangers reports which of those who can write to a file are neither us nor
// root: its owner, its group, everybody.
func strangers(mode, uid, gid uint32) (owner, group, others bool) {
	owner = uid != 0 && int(uid) != us()
	group = mode&0o020 != 0 && int(gid) != knownAccounts().private
	return owner, group, mode&0o002 != 0
}

// Exposed reports whether somebody else may be able to change a file, as far as
// its mode, owner and group tell. Where it may be so, [Project.CheckPath] says
// whether it is.
func Exposed(mode, uid, gid uint32) bool {
	owner, group, others := strangers(mode, uid, gid)
	return owner || group || others
}

// distrust says why others could change a file, or what lies in a directory, ""
// when they cannot: it must belong to us or root, and neither others nor a group
// that is not ours alone may write to it (T-41). Of a link only the owner
// counts, of a shared directory as well.
func distrust(path string, info fs.FileInfo, shared bool) (reason string, flaw flaw) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "its owner is unknown", flawOther
	}
	mode := uint32(sys.Mode) & 0o7777
	owner, group, others := strangers(mode, sys.Uid, sys.Gid)
	if owner {
		reason = "owned by uid " + knownAccounts().user(int(sys.Uid)) + ", not by "
		if us() != 0 {
			reason += "uid " + knownAccounts().user(us()) + " or "
		}
		return reason + "root", flawOther
	}
	if shared || isLink(info) {
		return "", flawOther
	}
	fault, remedy := "", "go-w"
	switch {
	case group:
		fault = "group " + knownAccounts().group(int(sys.Gid)) + " can write to it"
	case mode&0o020 != 0 && hasACL(path):
		fault = "its access control list lets others write to it"
	case others:
		fault, remedy = "others can write to it", "o-w"
	default:
		return "", flawOther
	}
	return fmt.Sprintf("mode %04o, %s; run chmod %s %s", mode, fault, remedy, script.Quote(path)), flawWritable
}
