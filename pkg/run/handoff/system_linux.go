package handoff

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"sync"
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

// A Watcher reports changes of hand-off directories. Its zero value is ready. It uses one
// descriptor, and only while it watches a directory.
type Watcher struct {
	mu      sync.Mutex
	file    *os.File // the inotify instance
	changed map[int32]func()
}

// Watch calls changed after each change of a directory's files, or of those for questions, until
// stop. It returns nil if the system cannot do that. changed must not wait.
func (w *Watcher) Watch(d *Dir, changed func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			return nil
		}
		w.file, w.changed = os.NewFile(uintptr(fd), "inotify"), map[int32]func(){}
		go w.read(w.file)
	}
	file := w.file
	var added []int32
	for _, folder := range []*Folder{&d.Folder, &d.Input} {
		if wd, err := add(file, folder.list); err == nil {
			w.changed[wd] = changed
			added = append(added, wd)
		}
	}
	stop = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.remove(file, added)
	}
	if len(added) < 2 {
		w.remove(file, added)
		return nil
	}
	return stop
}

// add watches an open directory, wherever the script has moved it.
func add(inotify, dir *os.File) (wd int32, err error) {
	control(dir, func(dir uintptr) {
		control(inotify, func(fd uintptr) {
			var n int
			n, err = unix.InotifyAddWatch(int(fd), fmt.Sprintf("/proc/self/fd/%d", dir),
				unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR)
			wd = int32(n)
		})
	})
	return wd, err
}

func control(file *os.File, f func(fd uintptr)) {
	if conn, err := file.SyscallConn(); err == nil {
		conn.Control(f)
	}
}

// remove ends watches. The lock is held.
func (w *Watcher) remove(file *os.File, watches []int32) {
	control(file, func(fd uintptr) {
		for _, wd := range watches {
			unix.InotifyRmWatch(int(fd), uint32(wd))
			delete(w.changed, wd)
		}
	})
	if len(w.changed) == 0 {
		file.Close() // read ends
		w.file = nil
	}
}

// read calls the functions of changed directories until the file is closed.
func (w *Watcher) read(file *os.File) {
	events := make([]byte, 4<<10)
	for {
		n, err := file.Read(events)
		if err != nil {
			return
		}
		w.mu.Lock()
		for rest := events[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(rest))
			if changed := w.changed[wd]; changed != nil {
				changed()
			} else if wd < 0 { // too many changes to report each
				for _, changed := range w.changed {
					changed()
				}
			}
			rest = rest[unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(rest[12:])):]
		}
		w.mu.Unlock()
	}
}
