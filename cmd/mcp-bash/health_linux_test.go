package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/first"
)

// CLI-1206: the command line of a server determines how to ask it, as H-1 defines.
func TestServerOf(t *testing.T) {
	t.Setenv("MCPBASH_HTTP_ADDR", "")
	for line, want := range map[string]string{ // "-": the server cannot be asked
		"": "-", "serve": "-", "serve -- --http": "-", "debug": "-", "serve --http 127.0.0.1:0": "-", "serve --http 0": "-",
		"serve --http": "", "serve --http 9000": "9000", "serve --http :9000 --token-file t": ":9000",
		"serve --http 10.1.2.3:80 -- x": "10.1.2.3:80", "serve --http unix:/run/s": "unix:/run/s",
		"serve --project-root d": "-", "--project-root d": "-", "--project-root d --http :9000": ":9000",
	} {
		ask, ok := serverOf(strings.Fields(line))
		if !ok || (ask == nil) != (want == "-") {
			t.Errorf("%q: %t, %t", line, ask != nil, ok)
		}
		if o, _ := servedBy(strings.Fields(line)); ask != nil && o.Addr != want {
			t.Errorf("%q: %q, want %q", line, o.Addr, want)
		}
	}
	for _, line := range []string{"health --server", "run-tool serve", "serve --unknown", "serve x", "serve --http a b",
		"serve --help", "request ping", "--version"} {
		if _, ok := serverOf(strings.Fields(line)); ok {
			t.Errorf("%q is a server", line)
		}
	}
	t.Setenv("MCPBASH_HTTP_ADDR", "0.0.0.0:8443")
	t.Setenv("MCPBASH_HTTP_TLS_CERT", "/c")
	if o, ok := servedBy([]string{"serve"}); !ok || o.Addr != "0.0.0.0:8443" || o.Access.Cert != "/c" {
		t.Errorf("%+v, %t", o, ok)
	}
}

// CLI-1206, H-606: in a container, the health check fails while the server is missing or stopped.
func TestHealthOfServer(t *testing.T) {
	if !first.Process(t) {
		return
	}
	root := t.TempDir()
	meta := filepath.Join(root, "server.d", "server.meta.json")
	err := errors.Join(os.Mkdir(filepath.Dir(meta), 0o755), os.WriteFile(meta, []byte(`{"name":"demo"}`), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("MCPBASH_PROJECT_ROOT", root)
	check := func(state, want string) {
		t.Helper()
		out, err := exec.Command("mcp-bash", "health", "--server", "--timeout", "2").Output()
		if ok := err == nil; ok != (want == "ok") || !strings.Contains(string(out), `"server":"`+want+`"`) {
			t.Errorf("%s: %v %s, want %s", state, err, out, want)
		}
	}
	check("no server", "failed")
	for _, args := range [][]string{{"serve", "--http", "unix:" + t.TempDir() + "/s"}, {"serve"}, {}} {
		server := exec.Command("mcp-bash", args...)
		in, err := server.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		ready, err := awaited(server, args)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		ready()
		check("running", "ok")
		server.Process.Signal(syscall.SIGSTOP)
		await(t, server, unix.WSTOPPED)
		check("stopped", "failed")
		server.Process.Signal(syscall.SIGCONT)
		check("continued", "ok")
		server.Process.Kill()
		await(t, server, unix.WEXITED)
		check("killed, and not collected", "failed")
		server.Wait()
		check("ended", "failed")
	}
}

// await waits until a process has stopped or ended. It does not reap the process.
func await(t *testing.T, server *exec.Cmd, event int) {
	t.Helper()
	if err := unix.Waitid(unix.P_PID, server.Process.Pid, nil, event|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

// awaited starts a server. ready waits until the server has written to one of its outputs.
func awaited(server *exec.Cmd, args []string) (ready func(), err error) {
	output := server.StdoutPipe // has the answer to a ping
	if len(args) > 1 {
		output = server.StderrPipe // has the line with the address
	}
	from, err := output()
	if err != nil {
		return nil, err
	}
	return func() { from.Read(make([]byte, 1)) }, server.Start()
}
