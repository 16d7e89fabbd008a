package published

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
)

// A registry is a world with a registry of npm packages.
type registry struct {
	*world
	server *exec.Cmd
}

func startRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{world: newWorld(t)}
	installed, err := exec.Command(filepath.Join(checkout.Root(), "test/npm/install.sh"), ".").Output()
	if err != nil {
		t.Fatalf("test/npm/install.sh: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	listener.Close()
	r.write("config.yaml", "storage: ./storage\nauth: {htpasswd: {file: ./htpasswd, max_users: -1}}\nuplinks: {}\n"+
		"packages: {'**': {access: $all, publish: $all, unpublish: $all}}\nmax_body_size: 100mb\n")
	r.write("home/.npmrc", "//"+host+"/:_authToken=x\nregistry=http://"+host+"/\nupdate-notifier=false\n")
	programs := filepath.Join(strings.TrimSpace(string(installed)), "node_modules", ".bin")
	r.server = exec.Command(filepath.Join(programs, "node"), filepath.Join(programs, "verdaccio"),
		"--config", filepath.Join(r.dir, "config.yaml"), "--listen", host)
	r.server.Env, r.server.Dir = r.env, r.dir
	if err := r.server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get("http://" + host + "/-/ping")
		if err == nil {
			answer.Body.Close()
			return r
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// stop ends the registry.
func (r *registry) stop() {
	r.server.Process.Kill()
	r.server.Wait()
}

func (r *registry) write(name, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// PKG-101 to PKG-103, PKG-106: others start an example with one line, also a new version and without the registry.
func TestPublishToRegistry(t *testing.T) {
	w := startRegistry(t)
	lines := w.commands(3)
	hello := func(command, want string) {
		t.Helper()
		if got := w.call(command, "hello", map[string]any{"name": "Ada"}); got != want {
			t.Errorf("%s: %q", command, got)
		}
	}
	for i, example := range []string{"00-hello", "01-arguments", "08-any-language"} {
		w.example(example, "example"+fmt.Sprint(i))
	}
	w.must("example0", lines[0])
	w.must("example0", lines[1])
	hello(lines[2], "Hello, Ada!")
	for i, name := range []string{"example1", "example2"} {
		other := fmt.Sprint("other", i)
		w.must(name, strings.Replace(lines[0], "my-tools", other, 1))
		w.must(name, strings.ReplaceAll(lines[1], "my-tools", other))
		if out := w.must("home", "npx -y @you/"+other+" request tools/list"); !strings.Contains(out, `"inputSchema"`) {
			t.Errorf("%s: %s", name, out)
		}
	}

	// The file is stored unchanged, and exit statuses arrive.
	w.must("example0", `curl -sf "$(npm view @you/my-tools dist.tarball)" | cmp - dist/you-my-tools-1.0.0.tgz`)
	if out, status := w.shell("home", "npx -y @you/my-tools nonsense"); status != 2 {
		t.Errorf("exit %d: %s", status, out)
	}

	// A new version is taken, and removal leaves nothing.
	w.must("example0", strings.Replace(lines[0], "npm ", "npm --version 1.1.0 ", 1))
	w.must("example0", strings.ReplaceAll(lines[1], "1.0.0", "1.1.0"))
	installed := w.must("home", "npx -y @you/my-tools --version >/dev/null; "+
		"cat .npm/_npx/*/node_modules/@you/my-tools/package.json")
	if !strings.Contains(installed, `"version": "1.1.0"`) {
		t.Error(installed)
	}
	w.must("home", "npm install -g --prefix global @you/my-tools && npm uninstall -g --prefix global @you/my-tools && "+
		"! find global -name '*my-tools*' | grep .")

	// Without the package of the system, the launcher names the remedy.
	out, status := w.shell("home", "mkdir app; cd app; npm init -y >/dev/null; "+
		"npm install --omit=optional @you/my-tools >/dev/null; npx my-tools")
	want := "@you/my-tools: the package @you/my-tools-" + runtimes.Host.Node() +
		" is missing; run npm install without --omit=optional\n"
	if status != 1 || out != want {
		t.Errorf("exit %d: %s", status, out)
	}

	// Signals reach the server.
	w.must("home", "rm -rf app; mkdir app; cd app; npm init -y >/dev/null; npm install @you/my-tools >/dev/null")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		cmd := exec.Command("node", filepath.Join(w.dir, "home/app/node_modules/@you/my-tools/start.js"))
		cmd.Env = w.env
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if _, err := out.Read(make([]byte, 1)); err != nil { // the server runs
			t.Fatal(err)
		}
		cmd.Process.Signal(signal)
		killed := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		cmd.Wait() // standard input is open, so the signal ends it
		killed.Stop()
		// A server that begins may be ended by the signal itself. The launcher then ends in the same way.
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if status.ExitStatus() != 128+int(signal) && status.Signal() != signal {
			t.Errorf("%v: %v", signal, cmd.ProcessState)
		}
	}

	// The printed line starts without the registry.
	w.stop()
	start := time.Now()
	hello(lines[2], "Hello, Ada!")
	if took := time.Since(start); took > 30*time.Second { // 70 s without --fetch-retries=0
		t.Errorf("%v", took)
	}
}
