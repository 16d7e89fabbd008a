// Package socket listens at sockets with a file. A server removes or replaces only its own file, or a file that no
// server uses.
package socket

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"mcp-bash/pkg/files/atomicfile"
)

// A Listener listens at a socket whose file only this user can use.
//
// The listener recognizes its file by device and inode, which no other file can get while the socket is open. So it
// never removes the file of another server at the same path.
type Listener struct {
	*net.UnixListener
	dir  *os.Root // of the file; closed once it was removed
	name string
	file fs.FileInfo
	once sync.Once
}

// Listen makes a socket file with mode 0600. It replaces the file of a server that has ended, and no other file.
//
// The folder is locked while Listen and [Listener.Remove] work. So servers that start or end at the same time do not
// remove the files of each other. A lock of the folder creates no file.
func Listen(path string) (*Listener, error) {
	if err := check(path); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l := &Listener{dir: dir, name: filepath.Base(path)}
	if err = l.listen(path); err != nil {
		dir.Close()
		return nil, err
	}
	return l, nil
}

// check returns an error if a socket cannot be made at a path.
func check(path string) error {
	switch {
	case path == "" || os.IsPathSeparator(path[len(path)-1]):
		return errors.New("the path names no file")
	case path[0] == '@':
		return fmt.Errorf("abstract sockets have no permissions; use ./%s for a file with that name", path)
	case len(path) > maxPath:
		return &TooLongError{len(path)}
	}
	return nil
}

// A TooLongError means that a path has more bytes than the system allows for sockets.
type TooLongError struct{ Length int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the path has %d bytes, and the path of a socket has at most %d; choose a shorter one, such as "+
		"/run/mcp.sock", e.Length, maxPath)
}

// An InUseError means that another process listens at the path.
type InUseError struct{ Process string } // "" if it is unknown

func (e *InUseError) Error() string {
	if e.Process == "" {
		return "another server uses the socket"
	}
	return "another server uses the socket: " + e.Process
}

// errChanged means that a program without the lock changed the path.
var errChanged = errors.New("another program has just changed the file")

// listen makes the file in a new private folder, so that nobody can connect before its mode is set. Then it moves the
// file to its path.
func (l *Listener) listen(path string) error {
	folder, err := l.dir.Open(".")
	if err != nil {
		return err
	}
	defer folder.Close() // ends the lock
	lock(folder)
	old, err := l.unused(path)
	if err != nil {
		return err
	}
	private := ".mcp-bash-" + rand.Text()[:10]
	if err := l.dir.Mkdir(private, 0o700); err != nil {
		return err
	}
	defer l.dir.RemoveAll(private)
	made := filepath.Join(private, "s")
	at := &net.UnixAddr{Net: "unix", Name: address(folder, filepath.Dir(path), made)}
	if l.UnixListener, err = net.ListenUnix("unix", at); err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	if err = l.place(made, old); err != nil {
		l.UnixListener.Close()
	}
	return err
}

// place moves the socket file to its name, if the file there is still old. nil: there is no file.
func (l *Listener) place(made string, old fs.FileInfo) error {
	if err := l.dir.Chmod(made, 0o600); err != nil {
		return err
	}
	var err error
	if l.file, err = l.dir.Lstat(made); err != nil {
		return err
	}
	now, err := l.dir.Lstat(l.name)
	if exists := err == nil; exists != (old != nil) || exists && !os.SameFile(now, old) {
		return errChanged
	}
	return l.dir.Rename(made, l.name)
}

// unused returns the file of a server that has ended, or nil without a file. Any other file is an error.
func (l *Listener) unused(path string) (fs.FileInfo, error) {
	info, err := l.dir.Lstat(l.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, errors.New("the file is not a socket")
	}
	conn, err := net.Dial("unix", path)
	switch {
	case err == nil:
		defer conn.Close()
		return nil, &InUseError{listening(conn)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return info, nil
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EPROTOTYPE): // a full queue, or another type of socket
		return nil, &InUseError{}
	}
	return nil, fmt.Errorf("the file may belong to another server: %w", err)
}

// Remove removes the file, unless another file has replaced it. Call it while the socket is open.
func (l *Listener) Remove() {
	l.once.Do(func() {
		defer l.dir.Close()
		if folder, err := l.dir.Open("."); err == nil {
			defer folder.Close()
			lock(folder)
		}
		if now, err := l.dir.Lstat(l.name); err == nil && os.SameFile(now, l.file) {
			l.dir.Remove(l.name)
		}
	})
}

// Close removes the file and closes the socket, in this order: later, another file could have the same inode.
func (l *Listener) Close() error {
	l.Remove()
	return l.UnixListener.Close()
}

// address returns an address for a file in a folder that fits into the system's limit for sockets, if there is one.
func address(folder *os.File, dir, file string) string {
	if direct := filepath.Join(dir, file); len(direct) <= maxPath || shortcut == "" {
		return direct
	}
	return strings.Join([]string{shortcut, fmt.Sprint(folder.Fd()), filepath.ToSlash(file)}, "/")
}

// patience is how long lock tries. Other servers keep the lock for a moment only. If a program keeps it longer, the
// server continues without it.
const patience = 2 * time.Second

// lock locks a folder until it is closed, if its file system has locks.
func lock(folder *os.File) {
	const pause = 5 * time.Millisecond
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pause) {
		if locked, err := atomicfile.TryLock(folder); locked || err != nil {
			return
		}
	}
}
