//go:build unix

package secretfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/text/shell"
)

func stat(info fs.FileInfo) *syscall.Stat_t { return info.Sys().(*syscall.Stat_t) }

func (r Rule) actsForOthers() bool { return r.AnyOwner && os.Geteuid() == 0 }

// owner returns the user who may change a file in addition to our user and root. 0 means nobody.
func (r Rule) owner(info fs.FileInfo) int {
	if r.actsForOthers() {
		return int(stat(info).Uid)
	}
	return 0
}

func (r Rule) checkReaders(path string, info fs.FileInfo) error {
	if !r.Secret || info.Mode()&0o004 == 0 {
		return nil
	}
	reason := fmt.Sprintf("mode %04o, others can read it", info.Mode().Perm())
	return &Fault{Reason: reason, Remedy: remedy(path, info)}
}

// remedy returns a command after which only our user can read a file.
func remedy(path string, info fs.FileInfo) string {
	us, owner, group := os.Geteuid(), int(stat(info).Uid), int(stat(info).Gid)
	quoted := shell.Quote(path)
	if us == 0 || us == owner {
		return "chmod 600 " + quoted
	}
	command := "chmod 640 " + quoted
	groups, _ := os.Getgroups()
	if group != os.Getegid() && !slices.Contains(groups, group) {
		command = "chgrp " + strconv.Itoa(os.Getegid()) + " " + quoted + " && " + command
	}
	return command
}

// remedied adds the command that corrects the owner to an error about the owner.
func remedied(err error) error {
	insecure, ok := errors.AsType[*trust.InsecureError](err)
	if !ok || !insecure.WrongOwner {
		return err
	}
	return &Fault{Reason: insecure.Error(), Remedy: fmt.Sprintf("chown -h %d %s", os.Geteuid(),
		shell.Quote(insecure.Path)), err: err}
}
