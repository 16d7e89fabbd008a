//go:build unix

package handoff

import (
	"os"

	"golang.org/x/sys/unix"
)

// plants are types of files that a script can put under a name.
func plants(outside string) map[string]func(path string) error {
	return map[string]func(path string) error{
		"pipe":    func(path string) error { return unix.Mkfifo(path, 0o600) },
		"link":    func(path string) error { return os.Symlink(outside, path) },
		"loop":    func(path string) error { return os.Symlink(path, path) },
		"device":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"nowhere": func(path string) error { return os.Symlink(outside+".absent", path) },
		"socket": func(path string) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			defer os.Chdir(dir) // a socket's address is limited in length
			if err := os.Chdir(os.TempDir()); err != nil {
				return err
			}
			os.Remove("hostile.socket")
			if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "hostile.socket"}); err != nil {
				return err
			}
			return os.Rename("hostile.socket", path)
		},
		"directory": func(path string) error { return os.MkdirAll(path+"/sub", 0o700) },
		"huge": func(path string) error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Truncate(4 << 40)
		},
	}
}
