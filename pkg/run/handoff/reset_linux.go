package handoff

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/folder"
)

// initial identifies the files of a new directory, which a script may replace.
type initial struct {
	self fs.FileInfo
	own  map[string]folder.Stamp // by the names in ownNames
	// The stamps of the directories for questions and temporary files when they were empty. A directory whose stamp is
	// different must be read. The zero stamp is always different.
	input, temp folder.Stamp
}

// remember identifies the files of a new directory.
func (d *Dir) remember() (err error) {
	d.initial.own = make(map[string]folder.Stamp, len(ownNames))
	for _, name := range ownNames {
		d.initial.own[name] = folder.StampIn(d.list, name)
	}
	d.initial.self, err = d.list.Stat()
	return err
}

// isThere reports whether the directory still has its name.
func (d *Dir) isThere() bool {
	there, err := d.parent.Lstat(d.name)
	return err == nil && os.SameFile(there, d.initial.self)
}

// ownAt returns the stamp of a name, or the zero stamp if it is not the file that we created.
func (d *Dir) ownAt(name string) folder.Stamp {
	there, own := folder.StampIn(d.list, name), d.initial.own[name]
	if there.Ino != own.Ino || there.Dev != own.Dev {
		return folder.Stamp{}
	}
	return there
}

// reset restores the initial state of a directory, and reports whether that was possible.
func (d *Dir) reset() bool {
	now := time.Now()
	if !d.isThere() || !d.clear(ownNames...) || !d.empty(inputName, &d.initial.input, now, &d.Input) ||
		!d.empty(tempName, &d.initial.temp, now, nil) {
		return false
	}
	for name, file := range d.files() {
		there := d.ownAt(name)
		if there.Mode != 0o600 || !isSoleHolder(*file) {
			return false
		}
		if there.Size > 0 && (*file).Truncate(0) != nil {
			return false
		}
	}
	return true
}

// empty removes the files that a call has left in one of our directories. known is the stamp of the directory when it
// was empty: if that is still its stamp, one system call is enough. open is the open directory, or nil.
func (d *Dir) empty(name string, known *folder.Stamp, now time.Time, open *Folder) bool {
	stamp := d.ownAt(name)
	if stamp.Mode != fs.ModeDir|0o700 {
		return false
	}
	if stamp == *known {
		return true
	}
	*known = folder.Stamp{}
	if open == nil {
		f, err := openFolder(d.root, name)
		defer f.close()
		if err != nil {
			return false
		}
		open = &f
	}
	if !open.clear() {
		return false
	}
	if stamp.Settled(now) { // so each later change gives the directory another stamp
		*known = stamp
	}
	return true
}

// isSoleHolder reports whether no other descriptor of a file is open. Only then does the
// kernel grant a write lease. On a file system without leases, the result is false.
func isSoleHolder(f *os.File) bool {
	fd := f.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}
