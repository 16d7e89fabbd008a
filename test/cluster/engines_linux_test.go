//go:build cluster

package cluster

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/load"
)

// tag is the name of the image in engines.
const tag = "localhost/mcp-bash-test:1.0.0"

// output runs a program, which must succeed, and returns its standard output.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// madeImage is the archive of the image, which all tests share.
var madeImage struct {
	sync.Once
	file string
}

// image makes an image of the project from Debian's packages, and returns its archive.
func image(t *testing.T) string {
	t.Helper()
	madeImage.Do(func() {
		file := filepath.Join(bin, "mcp-bash-test-image.tar")
		t.Log(output(t, filepath.Join(bin, "mcp-bundle"), "image", makeProject(t), "-o", file, "--tag", tag,
			"--platform", "linux/"+runtime.GOARCH, "--runtime-dir", programs(t)))
		madeImage.file = file
	})
	if madeImage.file == "" {
		t.Skip("left out: no image was made")
	}
	return madeImage.file
}

func podmanArgs(args ...string) []string {
	return append([]string{"--runtime", filepath.Join(checkout.Root(), "test", "cluster", "oci-runtime.sh")}, args...)
}

// loadImage loads the image into podman.
func loadImage(t *testing.T) {
	t.Helper()
	needs(t, "podman", "runc", "jq")
	output(t, "podman", podmanArgs("load", "-i", image(t))...)
}

// confined are the options of a container without network, rights and a writable root directory.
var confined = []string{"run", "--rm", "-i", "--network=none", "--read-only", "--cap-drop=all",
	"--security-opt=no-new-privileges"}

// stdioCalls are the messages of a client that calls the tool over standard input.
var stdioCalls = map[string]string{
	"handshake": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"record","arguments":{"id":"x-1"}}}` + "\n",
	"stateless": `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"record","arguments":{"id":"x-1"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n",
}

// H-606: the image works in both protocols over standard input and output, without a network.
func TestPodmanStdio(t *testing.T) {
	loadImage(t)
	for name, input := range stdioCalls {
		cmd := exec.Command("podman", podmanArgs(append(confined, tag)...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"text":"x-1`) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if out := output(t, "podman", podmanArgs(append(confined, tag, "health")...)...); !strings.Contains(out, `"ok"`) {
		t.Error(out)
	}
}

// P-300: without a writable /tmp the server names that.
func TestPodmanWithoutTmp(t *testing.T) {
	loadImage(t)
	cmd := exec.Command("podman", podmanArgs(append(confined, "--read-only-tmpfs=false", tag)...)...)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the file system of /tmp is read-only") {
		t.Errorf("%v\n%s", err, out)
	}
}

// H-606: the same over HTTP, at a socket in a directory of the host.
func TestPodmanHTTP(t *testing.T) {
	loadImage(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("podman", podmanArgs(append(confined, "-v", dir+":/run/mcp", tag, "serve", "--http",
		"unix:/run/mcp/s")...)...)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() }()
	target := load.Target{Address: "http://localhost", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "s"))
	}}
	eventually(t, "the container serves", 30*time.Second, func() bool {
		return answers(t.Context(), target, load.Stateless) == nil
	})
	if allAnswer(t, target); t.Failed() {
		t.Logf("%s", &messages)
	}
}

// user is the user and group of the server in containers (H-606).
const user = 65532

// secrets makes a directory with a token file and a state key. It returns the token, too.
func secrets(t *testing.T) (dir, token string) {
	t.Helper()
	dir = checkout.Directory(t)
	file := filepath.Join(dir, "tokens.json")
	for line := range strings.Lines(output(t, filepath.Join(bin, "mcp-bash"), "token", "create", "test", "--file", file)) {
		token = strings.TrimSpace(line)
	}
	key := filepath.Join(dir, "state-key")
	if err := os.WriteFile(key, []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, key} {
		if err := os.Chown(path, user, user); err != nil {
			t.Fatal(err)
		}
	}
	return dir, token
}

// deployment makes the manifest of the project.
func deployment(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, filepath.Join(bin, "mcp-bundle"), append([]string{"manifest", makeProject(t), "--name", "demo",
		"--image", tag}, args...)...)
}

// Podman runs the manifest for Kubernetes.
func TestKubePlay(t *testing.T) {
	needs(t, "catatonit")
	loadImage(t)
	dir, token := secrets(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := deployment(t, "--replicas", "1")
	// Podman 4.3 ends for a Secret without "optional", and writes its files in base64.
	text = regexp.MustCompile(`secret:\n +secretName: .*\n( +optional: .*\n)? +defaultMode: .*\n`).ReplaceAllString(text,
		"hostPath:\n            path: "+dir+"\n")
	port := strconv.Itoa(freePort(t))
	text = strings.Replace(text, "containerPort: 8000\n", "containerPort: 8000\n              hostPort: "+port+"\n", 1)
	file := filepath.Join(t.TempDir(), "demo.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	defer exec.Command("podman", podmanArgs("kube", "down", file)...).Run()
	output(t, "podman", podmanArgs("kube", "play", file)...)
	target := load.Target{Address: "http://127.0.0.1:" + port, Token: token}
	eventually(t, "the pod is ready", 30*time.Second, func() bool { return isReady(target.Address) })
	allAnswer(t, target)
	if answers(t.Context(), load.Target{Address: target.Address}, load.Stateless) == nil {
		t.Error("a call without a token was answered")
	}
}

// ToolHive runs the image, and bridges it to HTTP in both protocols.
func TestToolHive(t *testing.T) {
	needs(t, "thv")
	loadImage(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "containers.conf"), []byte("[engine]\nruntime = \"here\"\n"+
		"[engine.runtimes]\nhere = [\""+filepath.Join(checkout.Root(), "test", "cluster", "oci-runtime.sh")+"\"]\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "podman", "podman.sock")
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	service := exec.Command("podman", "system", "service", "--time=0", "unix://"+socket)
	service.Env = append(os.Environ(), "CONTAINERS_CONF="+filepath.Join(dir, "containers.conf"))
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { service.Process.Kill(); service.Wait() }()
	eventually(t, "podman's service", 30*time.Second, func() bool { _, err := os.Stat(socket); return err == nil })
	port := freePort(t)
	thv := func(args ...string) *exec.Cmd {
		cmd := exec.Command("thv", args...)
		cmd.Env = append(os.Environ(), "DOCKER_HOST=unix://"+socket,
			"TOOLHIVE_PODMAN_SOCKET="+socket, "XDG_RUNTIME_DIR="+dir, "HOME="+dir, "XDG_CONFIG_HOME="+dir,
			"XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir)
		return cmd
	}
	run := thv("run", "--transport", "stdio", "--isolate-network=false", "--proxy-port",
		strconv.Itoa(port), "--name", "mcp-bash-test", "--foreground", tag)
	var messages bytes.Buffer
	var last error
	run.Stdout, run.Stderr = &messages, &messages
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		thv("rm", "mcp-bash-test").Run()
		run.Process.Signal(os.Interrupt)
		run.Wait()
		if t.Failed() {
			t.Logf("%v\n%s", last, &messages)
		}
	}()
	target := load.Target{Address: "http://127.0.0.1:" + strconv.Itoa(port)}
	eventually(t, "ToolHive answers", time.Minute, func() bool {
		last = answers(t.Context(), target, load.Session)
		return last == nil
	})
	allAnswer(t, target)
}

// allAnswer makes a call of each kind, in both protocols, and calls a confined tool.
func allAnswer(t *testing.T, target load.Target) {
	t.Helper()
	for _, k := range load.Kinds {
		if err := answers(t.Context(), target, k); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	target.Tool = "confined"
	if err := answers(t.Context(), target, load.Stateless); err != nil {
		t.Errorf("a confined tool: %v", err)
	}
}

// answers calls the tool once.
func answers(ctx context.Context, target load.Target, k load.Kind) error {
	c := load.NewClient(target, k)
	defer c.Close()
	return c.Call(ctx, "x-1")
}
