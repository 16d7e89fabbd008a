//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"mcp-bash/pkg/files/boundedfile"
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

// distrust returns an [*InsecureError] if other users can change a file, or the content of a directory. For a link and
// for a shared directory, only the owner matters. The user friend may change them.
func distrust(path string, info fs.FileInfo, shared bool, friend int) error {
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

type accounts struct {
	users, groups []account
	complete      bool // both files list all accounts of the system
	private       int  // the group whose only member is our user; -1: none
}

type account struct {
	name string
	id   int
	last string // the primary group of a user, or the members of a group
}

// maxAccounts bounds each of the two files, in bytes.
const maxAccounts = 4 << 20

// knownAccounts reads both files once, when a file that a group or another user can write to is checked first.
var knownAccounts = sync.OnceValue(func() *accounts {
	a := &accounts{private: -1}
	var complete [2]bool
	for i, list := range []*[]account{&a.users, &a.groups} {
		text, err := boundedfile.Read([]string{"/etc/passwd", "/etc/group"}[i], maxAccounts)
		*list, complete[i] = parseAccounts(string(text))
		complete[i] = complete[i] && err == nil
	}
	a.complete = complete == [2]bool{true, true} && runtime.GOOS != "darwin" // macOS keeps most users in neither file
	if a.complete {
		a.private = a.privateGroup(effectiveUser())
	}
	return a
})

// isPrivate reports whether a group has only one member, which is our user or the user friend.
func (a *accounts) isPrivate(group, friend int) bool {
	return group == a.private || friend != nobody && a.complete && group == a.privateGroup(friend)
}

// parseAccounts parses the lines of either file. complete is false if a line is invalid, or refers to accounts in
// another database.
func parseAccounts(text string) (list []account, complete bool) {
	complete = true
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, ":")
		if len(fields) < 4 || strings.ContainsAny(line[:1], "+-") {
			complete = false
			continue
		}
		id, err := strconv.Atoi(fields[2])
		if err != nil {
			complete = false
			continue
		}
		list = append(list, account{fields[0], id, fields[3]})
	}
	return list, complete
}

// privateGroup returns the primary group of a user, or -1 if another user is a member of it.
func (a *accounts) privateGroup(uid int) int {
	var names []string
	group := ""
	for _, u := range a.users {
		if u.id == uid {
			names = append(names, u.name)
			if group == "" {
				group = u.last
			}
		}
	}
	id, err := strconv.Atoi(group)
	if err != nil {
		return -1
	}
	for _, u := range a.users {
		if gid, err := strconv.Atoi(u.last); u.id != uid && (err != nil || gid == id) {
			return -1
		}
	}
	exists := false
	for _, g := range a.groups {
		if g.id != id {
			continue
		}
		exists = true
		for member := range strings.SplitSeq(g.last, ",") {
			if member != "" && !slices.Contains(names, member) {
				return -1
			}
		}
	}
	if !exists {
		return -1
	}
	return id
}

func (a *accounts) user(id int) string  { return named(a.users, id) }
func (a *accounts) group(id int) string { return named(a.groups, id) }

// named returns an id with its name, such as "1000 (alice)".
func named(list []account, id int) string {
	at := slices.IndexFunc(list, func(a account) bool { return a.id == id })
	if at < 0 {
		return strconv.Itoa(id)
	}
	return strconv.Itoa(id) + " (" + list[at].name + ")"
}
