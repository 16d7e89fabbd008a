//go:build unix

package folder

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/trust"
)

// A Dir is an open directory. It opens files by name relative to its descriptor, so nobody can replace the directory
// meanwhile. It never follows symbolic links.
type Dir struct{ fd int }

// Open opens a directory by its path, which may be a symbolic link.
func Open(path string) (Dir, error) { return openDir(unix.AT_FDCWD, path, 0) }

// Open opens a directory in this one.
func (d Dir) Open(name string) (Dir, error) { return openDir(d.fd, name, unix.O_NOFOLLOW) }

func openDir(at int, name string, flags int) (Dir, error) {
	fd, err := openat(at, name, flags|unix.O_DIRECTORY)
	return Dir{fd}, err
}

// Close closes the directory.
func (d Dir) Close() { unix.Close(d.fd) }

// Stamp returns the stamp of a path below the directory. It follows symbolic links in all names but the last. So
// callers go at most one level down, into a directory that they have seen.
func (d Dir) Stamp(name string) Stamp { return d.stamp(name, unix.AT_SYMLINK_NOFOLLOW) }

func (d Dir) stamp(name string, flags int) Stamp {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(d.fd, name, &st, flags)
		if err == nil {
			return StampOf(&st)
		}
		if err != unix.EINTR {
			return Stamp{}
		}
	}
}

// A File is an open regular file.
type File struct {
	fd      int
	Stamp   Stamp
	Exposed bool // other users may have written it
}

// OpenFile opens a regular file in the directory. It follows no link and never blocks.
func (d Dir) OpenFile(name string) (File, error) {
	fd, err := openat(d.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return File{}, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		unix.Close(fd)
		return File{}, err
	}
	return File{fd, StampOf(&st), trust.Exposed(uint32(st.Mode), st.Uid, st.Gid)}, nil
}

// Close closes the file.
func (f File) Close() { unix.Close(f.fd) }

// Read reads until the buffer is full or the file is at its end.
func (f File) Read(buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		m, err := unix.Read(f.fd, buf[n:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return n, err
		case m == 0:
			return n, nil
		}
		// At the size of the file, a second call would only confirm its end.
		if n += m; n >= int(f.Stamp.Size) {
			return n, nil
		}
	}
	return n, nil
}

func openat(at int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(at, name, flags|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// StampOf returns the stamp of the metadata of a file.
func StampOf(st *unix.Stat_t) Stamp {
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	default:
		mode |= fs.ModeIrregular
	}
	return Stamp{
		Dev: uint64(st.Dev), Ino: st.Ino, Size: uint64(st.Size), Mode: mode,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
	}
}

// StampOfFile returns the stamp of a file that package os opened.
func StampOfFile(f *os.File) Stamp {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return Stamp{}
	}
	return StampOf(&st)
}

// StampIn returns the stamp of a name in a directory that package os opened. It does not follow a link.
func StampIn(dir *os.File, name string) Stamp { return Dir{int(dir.Fd())}.Stamp(name) }

// StampOfPath returns the stamp of a path, without following its last link.
func StampOfPath(path string) Stamp { return Dir{unix.AT_FDCWD}.Stamp(path) }

// StampOfTarget returns the stamp of a path, with all links followed.
func StampOfTarget(path string) Stamp { return Dir{unix.AT_FDCWD}.stamp(path, 0) }

// Missing reports whether an error means that the name does not exist, or is a symbolic link.
func Missing(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// IsShortage reports whether an error means that this process lacks memory or descriptors. A file that cannot be
// opened for that reason does not count as missing.
func IsShortage(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}
