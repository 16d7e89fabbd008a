package filecache

import (
	"golang.org/x/sys/unix"

	"mcp-bash/pkg/files/folder"
)

// mostRead is the maximum size of a file that Read reads, in bytes. For larger files, opening is a small part of the
// time.
const mostRead = 1 << 20

// Read reads a regular file of at most max bytes, if no part of its absolute path is a symbolic link. So the path alone
// determines the file. ok is false in all other cases, and if the file cannot be read at once. The caller must then
// open the file in another way. The caller must not change the text.
//
// Read makes five system calls, half as many as [boundedfile.OpenBelow], unless a filter refuses openat2. For a kept
// text, it makes one, which checks that the path leads to the same unchanged file. The check for links is then less
// than a second old.
func (c *Cache) Read(path string, max int) (text []byte, ok bool) {
	if k, ok := c.find(path); ok && len(k.text) <= max && folder.StampOfPath(path) == k.stamp {
		return k.text, true
	}
	var st unix.Stat_t
	if !fits(&st, max, unix.Lstat(path, &st)) { // opening other files can have effects
		return nil, false
	}
	fd, err := folder.OpenStraight(path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	if !fits(&st, max, unix.Fstat(fd, &st)) {
		return nil, false
	}
	text = make([]byte, st.Size+1) // one more byte, for a file that grows
	n, err := unix.Read(fd, text)
	if err != nil || int64(n) != st.Size {
		return nil, false
	}
	text = text[:n:n]
	if stamp := folder.StampOf(&st); c != nil && n <= mostKept && stamp.Settled(c.now()) && isLocal(fd) {
		c.keep(path, text, stamp)
	}
	return text, true
}

// fits reports whether a file can be read. Files of /proc have size 0.
func fits(st *unix.Stat_t, max int, err error) bool {
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size > 0 && st.Size <= int64(min(max, mostRead))
}

// isLocal reports whether an open file is on a file system whose change times come from this kernel. Other file
// systems, such as network file systems, can report old times, or times of another clock.
func isLocal(fd int) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return false
	}
	switch int64(fs.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}
