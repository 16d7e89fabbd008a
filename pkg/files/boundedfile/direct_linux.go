package boundedfile

import "golang.org/x/sys/unix"

// mostDirect is the size, in bytes, of the largest file that ReadDirect reads. Reads of larger ones take
// longer than opening them.
const mostDirect = 1 << 20

// ReadDirect reads a regular file of at most max bytes, if no part of its absolute path is a symbolic link.
// Then the path alone determines the file. ok is false in all other cases, and if the file cannot be read at
// once. Then [OpenBelow] decides. ReadDirect takes half of the system calls of OpenBelow.
func ReadDirect(path string, max int) (text []byte, ok bool) {
	var st unix.Stat_t
	if !stat(&st, max, unix.Lstat(path, &st)) { // opening anything else may have effects
		return nil, false
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil { // also of kernels before 5.6, and of filters that do not know openat2
		return nil, false
	}
	defer unix.Close(fd)
	if !stat(&st, max, unix.Fstat(fd, &st)) {
		return nil, false
	}
	text = make([]byte, st.Size+1) // one more byte, for a file that grows
	n, err := unix.Read(fd, text)
	if err != nil || int64(n) != st.Size {
		return nil, false
	}
	return text[:n], true
}

// stat reports whether a file can be read directly. Files of /proc have size 0.
func stat(st *unix.Stat_t, max int, err error) bool {
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size > 0 && st.Size <= int64(min(max, mostDirect))
}
