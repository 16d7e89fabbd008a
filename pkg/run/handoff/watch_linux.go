package handoff

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

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
