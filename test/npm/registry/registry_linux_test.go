// Package registry publishes npm packages to a registry on this machine, and starts them with npx.
package registry

import (
	"bytes"
	"context"
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

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
	"mcp-bash/test/page"
)

// A world is an empty home, a registry, and the commands.
type world struct {
	*testing.T
	dir, modules string
	env          []string
	registry     *exec.Cmd
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Getenv("MCPBASH_TEST_LONG") == "" {
		t.Skip("left out: it publishes and installs packages for a minute; set MCPBASH_TEST_LONG=1")
	}
	installed, err := exec.Command(filepath.Join(checkout.Root(), "test/npm/install.sh"), ".").Output()
	if err != nil {
		t.Fatalf("test/npm/install.sh: %v", err)
	}
	dir := t.TempDir()
	w := &world{T: t, dir: dir, modules: filepath.Join(strings.TrimSpace(string(installed)), "node_modules")}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := checkout.Build(filepath.Join(dir, "bin"), checkout.Commands); err != nil {
		t.Fatal(err)
	}
	if err := checkout.Build(filepath.Join(dir, "runtime", filepath.Dir(runtimes.Host.Path())),
		"mcp-bash/cmd/mcp-bash"); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	listener.Close()
	w.write("config.yaml", "storage: ./storage\nauth: {htpasswd: {file: ./htpasswd, max_users: -1}}\nuplinks: {}\n"+
		"packages: {'**': {access: $all, publish: $all, unpublish: $all}}\nmax_body_size: 100mb\n", 0o644)
	w.write("home/.npmrc", "//"+host+"/:_authToken=x\nregistry=http://"+host+"/\nupdate-notifier=false\n", 0o644)
	w.env = []string{"HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"),
		"MCPBASH_RUNTIME_DIR=" + filepath.Join(dir, "runtime")}
	w.registry = exec.Command(filepath.Join(w.modules, ".bin", "node"), filepath.Join(w.modules, ".bin", "verdaccio"),
		"--config", filepath.Join(dir, "config.yaml"), "--listen", host)
	w.registry.Env, w.registry.Dir = w.env, dir
	if err := w.registry.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.stop)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get("http://" + host + "/-/ping")
		if err == nil {
			answer.Body.Close()
			return w
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// stop ends the registry.
func (w *world) stop() {
	w.registry.Process.Kill()
	w.registry.Wait()
}

func (w *world) write(name, text string, mode os.FileMode) {
	w.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		w.Fatal(err)
	}
}

// shell runs a script in a folder of the world, and returns its output and exit status.
func (w *world) shell(dir, script string) (out string, status int) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-ec", script)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, dir), w.env
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		w.Fatalf("%s: %v\n%s", script, err, text)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (w *world) must(dir, script string) string {
	w.Helper()
	out, status := w.shell(dir, script)
	if status != 0 {
		w.Fatalf("%s: exit %d\n%s", script, status, out)
	}
	return out
}

// call starts a server with a command, calls a tool and returns the text of its result.
func (w *world) call(command, tool string, arguments map[string]any) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.Command("bash", "-c", "exec "+command)
	cmd.Dir, cmd.Env, cmd.Stderr = filepath.Join(w.dir, "home"), w.env, &stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		w.Fatalf("%s: %v\n%s", command, err, &stderr)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || result.IsError || len(result.Content) == 0 {
		w.Fatalf("%s: %+v, %v\n%s", command, result, err, &stderr)
	}
	return fmt.Sprint(result.Content[0].(*mcp.TextContent).Text)
}

// commands returns the blocks of docs/PUBLISH.md that this test runs.
func commands(t *testing.T) (list []string) {
	t.Helper()
	blocks, err := page.Read(filepath.Join(checkout.Root(), "docs", "PUBLISH.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.RunBy == "TestPublishToRegistry" {
			list = append(list, strings.TrimSpace(b.Text))
		}
	}
	if len(list) != 3 {
		t.Fatalf("%d blocks", len(list))
	}
	return list
}

// PKG-101 to PKG-103, PKG-106: others start an example with one line, also a new version and without the registry.
func TestPublishToRegistry(t *testing.T) {
	w, lines := newWorld(t), commands(t)
	hello := func(command, want string) {
		t.Helper()
		if got := w.call(command, "hello", map[string]any{"name": "Ada"}); got != want {
			t.Errorf("%s: %q", command, got)
		}
	}
	for i, example := range []string{"00-hello", "01-arguments", "08-any-language"} {
		name := "example" + fmt.Sprint(i)
		from := os.DirFS(filepath.Join(checkout.Root(), "examples", example))
		if err := os.CopyFS(filepath.Join(w.dir, name), from); err != nil {
			t.Fatal(err)
		}
		w.must(name, "chmod -R go-w .; find . -name '*.sh' -exec chmod +x {} +")
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
