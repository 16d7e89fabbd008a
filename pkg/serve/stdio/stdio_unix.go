//go:build unix

package stdio

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/cli"
)

// A descriptorPair is a pair of descriptors. One call waits for input and watches the output, so
// that it notices at once if a client closes the output only.
type descriptorPair struct{ in, out int }

// Open returns the standard streams of the process. The error means that standard output is not writable.
func Open() (Streams, error) {
	flags, err := unix.FcntlInt(1, unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY || cli.IsClosed(os.Stdout) {
		return nil, errNoOutput
	}
	return &descriptorPair{0, 1}, nil
}

const hungUp = unix.POLLERR | unix.POLLHUP | unix.POLLNVAL

func (d *descriptorPair) Read(p []byte) (int, error) {
	fds := []unix.PollFd{{Fd: int32(d.in), Events: unix.POLLIN}, {Fd: int32(d.out)}}
	for {
		if _, err := unix.Poll(fds, -1); err != nil {
			if err == unix.EINTR {
				continue
			}
			return 0, os.NewSyscallError("poll", err)
		}
		if fds[1].Revents&hungUp != 0 {
			return 0, ErrHangup
		}
		n, err := unix.Read(d.in, p)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
			continue
		case err != nil || n <= 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (d *descriptorPair) AwaitHangup() {
	fds := []unix.PollFd{{Fd: int32(d.out)}}
	for {
		if _, err := unix.Poll(fds, -1); err != unix.EINTR {
			return
		}
	}
}

func (d *descriptorPair) Ready() bool {
	fds := []unix.PollFd{{Fd: int32(d.out), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1
}

func (d *descriptorPair) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n, err := unix.Write(d.out, p[written:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN: // another process set the stream to non-blocking
			unix.Poll([]unix.PollFd{{Fd: int32(d.out), Events: unix.POLLOUT}}, -1)
		case err == unix.EPIPE || err == unix.ECONNRESET || err == unix.EBADF:
			return written, ErrHangup
		case err != nil:
			return written, err
		default:
			written += n
		}
	}
	return written, nil
}
