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
