package stream

import (
	"cmp"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// syncData waits until the content of a file is on the disk. The file may be closed meanwhile.
func syncData(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return cmp.Or(c.Control(func(fd uintptr) { err = unix.Fdatasync(int(fd)) }), err)
}

// sendFile sends journald an entry that is too long for a datagram: as a file in memory that nobody can change.
func sendFile(conn *net.UnixConn, entry []byte) error {
	fd, err := unix.MemfdCreate("mcp-bash-audit", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "entry")
	defer f.Close()
	if _, err := f.Write(entry); err != nil {
		return err
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return err
	}
	socket, err := conn.SyscallConn() // net.UnixConn sends files only to other addresses
	if err != nil {
		return err
	}
	rights := unix.UnixRights(int(f.Fd()))
	late := socket.Write(func(socket uintptr) bool {
		err = unix.Sendmsg(int(socket), nil, rights, nil, 0)
		return err != unix.EAGAIN
	})
	return cmp.Or(late, err)
}
