//go:build unix

package project

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Accounts are the users and groups of this system, as far as /etc/passwd and
// /etc/group tell.
type accounts struct {
	users, groups []account
	private       int // our private group, -1 for none
}

// An account is one line of either file.
type account struct {
	name string
	id   int
	last string // of a user the primary group, of a group the members
}

// maxAccounts bounds each of the two files, in bytes.
const maxAccounts = 4 << 20

// knownAccounts reads them when they are first needed, which is not where modes
// are as strict as can be, and once in a process.
var knownAccounts = sync.OnceValue(func() *accounts {
	a := &accounts{private: -1}
	var complete [2]bool
	for i, list := range []*[]account{&a.users, &a.groups} {
		text, err := ReadRegular([]string{"/etc/passwd", "/etc/group"}[i], maxAccounts)
		*list, complete[i] = parseAccounts(string(text))
		complete[i] = complete[i] && err == nil
	}
	if complete == [2]bool{true, true} && runtime.GOOS != "darwin" { // where most users are in neither
		a.private = a.privateGroup(us())
	}
	return a
})

// parseAccounts reads the lines of either file; complete is false where one
// refers to accounts that are kept elsewhere, or is not understood.
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

// privateGroup returns the primary group of a user if it has no other member and
// is nobody else's primary one, else -1 (T-41).
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

// named is a number with its name: "1000 (alice)".
func named(list []account, id int) string {
	at := slices.IndexFunc(list, func(a account) bool { return a.id == id })
	if at < 0 {
		return strconv.Itoa(id)
	}
	return strconv.Itoa(id) + " (" + list[at].name + ")"
}
