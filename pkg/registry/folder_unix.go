//go:build unix

package registry

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/project"
)

// A folder is an open directory. What lies in it is reached by name relative
// to the descriptor, so that nobody can put another directory in its place
// meanwhile, and symbolic links are never followed.
type folder struct{ fd int }

// openFolder opens a directory by its path, which may be a symbolic link: a
// content directory may.
func openFolder(path string) (folder, error) { return openDir(unix.AT_FDCWD, path, 0) }

// open opens a directory in the folder.
func (f folder) open(name string) (folder, error) { return openDir(f.fd, name, unix.O_NOFOLLOW) }

func openDir(at int, name string, flags int) (folder, error) {
	fd, err := openat(at, name, flags|unix.O_DIRECTORY)
	return folder{fd}, err
}

func (f folder) close() { unix.Close(f.fd) }

// stamp looks at a path below the folder; only the last name may not be a
// symbolic link, so callers go down one directory they have seen at most.
func (f folder) stamp(name string) stamp {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return stampOf(&st)
		}
		if err != unix.EINTR {
			return stamp{}
		}
	}
}

// A content is an open file.
type content struct {
	fd      int
	stamp   stamp
	exposed bool // others may have written it
}

// openFile opens a regular file in the folder. It neither follows a link nor
// waits, whatever stands there.
func (f folder) openFile(name string) (content, error) {
	fd, err := openat(f.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return content{}, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		unix.Close(fd)
		return content{}, err
	}
	return content{fd, stampOf(&st), project.Exposed(uint32(st.Mode), st.Uid, st.Gid)}, nil
}

func (c content) close() { unix.Close(c.fd) }

// read reads on until the buffer is full or the file at its end.
func (c content) read(buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		m, err := unix.Read(c.fd, buf[n:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return n, err
		case m == 0:
			return n, nil
		}
		// A file no longer than its size needs no second call to show its end.
		if n += m; n >= int(c.stamp.size) {
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

func stampOf(st *unix.Stat_t) stamp {
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	default:
		mode |= fs.ModeIrregular
	}
	return stamp{
		dev: uint64(st.Dev), ino: st.Ino, size: uint64(st.Size), mode: mode,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
}

// stampOfFile is the stamp of a file the os package opened.
func stampOfFile(f *os.File) stamp {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return stamp{}
	}
	return stampOf(&st)
}

// stampOfPath looks at a path without following its last link.
func stampOfPath(path string) stamp { return folder{unix.AT_FDCWD}.stamp(path) }

// gone: there is nothing of that name, or a link that is not followed.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// isShortage: we lack something, not the project. What is not seen for that
// reason must not count as not there.
func isShortage(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}
