//go:build unix

package activation

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Started again with this variable, the test binary takes over the socket and answers one connection.
const asService = "MCPBASH_TEST_SERVICE"

func TestMain(m *testing.M) {
	if os.Getenv(asService) == "" {
		os.Exit(m.Run())
	}
	env := map[string]string{"LISTEN_PID": os.Getenv("LISTEN_PID"), "LISTEN_FDS": os.Getenv("LISTEN_FDS")}
	l, err := Listener(env)
	if err != nil || l == nil {
		os.Stdout.WriteString(errorText(err))
		os.Exit(1)
	}
	if len(env) > 0 {
		os.Exit(3)
	}
	conn, err := l.Accept()
	if err != nil {
		os.Exit(2)
	}
	io.WriteString(conn, "served by "+l.Addr().Network())
	conn.Close()
	os.Exit(0)
}

func errorText(err error) string {
	if err == nil {
		return "none"
	}
	return err.Error()
}

// listening returns the file of a socket, and its address.
func listening(t *testing.T, network, address string) (*os.File, net.Addr) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	f, err := l.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, l.Addr()
}

// start starts the service with a descriptor 3, as a service manager does: the shell keeps its process when it executes
// the service.
func start(t *testing.T, f *os.File, count string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `LISTEN_PID=$$ exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), asService+"=1", "LISTEN_FDS="+count)
	cmd.ExtraFiles = []*os.File{f}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, os.Stderr, 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &out
}

// H-720: a process takes over the socket of a service manager, TCP or Unix.
func TestInherited(t *testing.T) {
	for network, address := range map[string]string{
		"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s"),
	} {
		f, at := listening(t, network, address)
		cmd, _ := start(t, f, "1")
		conn, err := net.Dial(network, at.String())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if err != nil || string(got) != "served by "+network {
			t.Errorf("%s: %q, %v", network, got, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// H-720: a socket that does not listen, and more than one, are errors with the reason.
func TestNotASocket(t *testing.T) {
	socket, _ := listening(t, "tcp", "127.0.0.1:0")
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pair[1])
	connected := os.NewFile(uintptr(pair[0]), "connected")
	defer connected.Close()
	for _, tc := range []struct {
		file        *os.File
		count, want string
	}{
		{socket, "2", "has passed 2 sockets"},
		{socket, "x", `LISTEN_FDS is "x"`},
		{socket, "-1", `LISTEN_FDS is "-1"`},
		{socket, "", `LISTEN_FDS is ""`},
		{socket, "0", "none"},
		{file, "1", "not a stream socket"},
		{connected, "1", "does not listen"},
	} {
		cmd, out := start(t, tc.file, tc.count)
		if err := cmd.Wait(); err == nil || !strings.Contains(out.String(), tc.want) {
			t.Errorf("%s: %q, %v, want %q", tc.count, out, err, tc.want)
		}
	}
}

// H-720: variables that are for another process, such as the parent, are not followed.
func TestOfAnotherProcess(t *testing.T) {
	for _, pid := range []string{"", "1", strconv.Itoa(os.Getppid()), "x"} {
		env := map[string]string{"LISTEN_PID": pid, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "x", "HOME": "/h"}
		if l, err := Listener(env); l != nil || err != nil {
			t.Errorf("%q: %v, %v", pid, l, err)
		}
		if len(env) != 1 || env["HOME"] != "/h" {
			t.Errorf("%q: left for children: %v", pid, env)
		}
	}
}
