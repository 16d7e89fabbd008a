package folder

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// List returns the entries of the directory, sorted. It reads into the buffer.
//
// The system reports the type of most entries, so List needs no call for each of them.
func (d Dir) List(buf []byte) ([]Entry, error) {
	var list []Entry
	for {
		n, err := unix.Getdents(d.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			sortEntries(list)
			return list, nil
		}
		list = d.parseDirents(list, string(buf[:n]))
	}
}

// parseDirents reads records of type linux_dirent64. A record begins with an inode and an offset of eight bytes
// each. Its length in two bytes, the type, and the name with a final NUL follow.
func (d Dir) parseDirents(list []Entry, records string) []Entry {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for len(records) > nameAt {
		size := int(binary.NativeEndian.Uint16([]byte(records[lengthAt:typeAt])))
		if size <= nameAt || size > len(records) {
			break
		}
		name, _, _ := strings.Cut(records[nameAt:size], "\x00")
		typ := records[typeAt]
		records = records[size:]
		if hidden(name) {
			continue
		}
		switch typ {
		case unix.DT_REG:
			list = append(list, Entry{Name: name})
		case unix.DT_DIR:
			list = append(list, Entry{Name: name, IsDir: true})
		case unix.DT_UNKNOWN:
			if s := d.Stamp(name); s.IsFile() || s.Mode.IsDir() {
				list = append(list, Entry{Name: name, IsDir: s.Mode.IsDir()})
			} else if s.Exists() && isOdd(name) {
				list = append(list, Entry{Name: name, Odd: true})
			}
		default:
			if isOdd(name) {
				list = append(list, Entry{Name: name, Odd: true})
			}
		}
	}
	return list
}

// OpenStraight opens an existing file if no part of its path is a symbolic link. So the path alone determines the file.
// It takes the flags of open(2). For a link, the error is ELOOP or ENOTDIR.
//
// The kernel checks the path in one call, openat2. Some filters refuse this call, because they cannot see its flags,
// such as the filter of systemd for RestrictSUIDSGID=yes. Then OpenStraight opens one directory after the other.
func OpenStraight(path string, flags int) (fd int, err error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		switch fd, err = unix.Openat2(unix.AT_FDCWD, path, &how); err {
		case unix.EINTR:
		case unix.ENOSYS, unix.EPERM, unix.EACCES: // filters return different errors
			return openStepwise(path, flags)
		default:
			return fd, err
		}
	}
}

// openStepwise is [OpenStraight] without openat2. Each name is opened in the open directory before it, so nobody can
// exchange a directory meanwhile.
func openStepwise(path string, flags int) (fd int, err error) {
	if path == "" {
		return -1, unix.ENOENT
	}
	start := "."
	if path[0] == '/' {
		start = "/"
	}
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") {
		flags |= unix.O_DIRECTORY
	}
	names := strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
	if len(names) == 0 {
		return openNoLink(unix.AT_FDCWD, start, flags)
	}
	const above = unix.O_PATH | unix.O_DIRECTORY
	fd, err = openNoLink(unix.AT_FDCWD, start, above)
	for i := 0; i < len(names) && err == nil; i++ {
		dir, how := fd, above
		if i == len(names)-1 {
			how = flags
		}
		fd, err = openNoLink(dir, names[i], how)
		unix.Close(dir)
	}
	return fd, err
}

// openNoLink opens a name that is not a link. It checks the result, because with O_PATH the system opens the link
// itself.
func openNoLink(dir int, name string, flags int) (int, error) {
	fd, err := openat(dir, name, flags|unix.O_NOFOLLOW)
	if err != nil || flags&unix.O_PATH == 0 {
		return fd, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = unix.ELOOP
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
