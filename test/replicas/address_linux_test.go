package replicas

import (
	"bufio"
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

	"mcp-bash/pkg/auth/tokenfile"
	"mcp-bash/test/checkout"
	"mcp-bash/test/freeport"
)

// H-215, H-218: behind nginx and HAProxy as DEPLOY configures them, failures count for the client that makes them. The
// client cannot choose another address.
func TestAddressesOfClients(t *testing.T) {
	t.Parallel()
	nginx, haproxy := proxies[0], proxies[1]
	nginx.front = "listen %s;"
	for name, p := range map[string]struct {
		proxy
		replace [2]string
	}{
		"nginx": {proxy: nginx}, "haproxy": {proxy: haproxy},
		"PROXY": {haproxy, [2]string{"default-server check", "default-server send-proxy-v2 check"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testAddresses(t, p.proxy, p.replace)
		})
	}
}

func testAddresses(t *testing.T, p proxy, replace [2]string) {
	path, err := exec.LookPath(p.program)
	if err != nil {
		t.Skipf("left out: %s is not installed", p.program)
	}
	root := checkout.Directory(t)
	tokens := filepath.Join(root, "tokens.json")
	os.Mkdir(filepath.Join(root, "server.d"), 0o755)
	os.WriteFile(filepath.Join(root, "server.d", "server.meta.json"), []byte("{}"), 0o644)
	valid, err := tokenfile.Create(t.Context(), tokens, tokenfile.Token{Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	server, log := startTrusting(t, tokens)
	front, err := freeport.Address()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	config := p.configure(t, &cluster{addrs: []string{server, server, server}}, dir, front)
	if replace[0] != "" {
		config = strings.Replace(config, replace[0], replace[1], 1)
	}
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command(path, append(p.args, file)...))
	for deadline := time.Now().Add(patience); statusFrom("127.0.0.1", front, "/readyz", "", "") != 200; {
		if time.Now().After(deadline) {
			t.Fatal("the proxy is not ready")
		}
		time.Sleep(20 * time.Millisecond)
	}
	for i, c := range []struct {
		from, token, header string
		want                int
	}{
		{"127.0.0.2", "bad", "", 401}, {"127.0.0.2", "bad", "", 429},
		{"127.0.0.2", "bad", "X-Forwarded-For: 203.0.113.1", 429}, {"127.0.0.2", "bad", "Forwarded: for=203.0.113.1", 429},
		{"127.0.0.3", "bad", "", 401}, {"127.0.0.2", valid, "", 400},
	} {
		if got := statusFrom(c.from, front, "/mcp", c.token, c.header); got != c.want {
			t.Errorf("request %d: %d, not %d", i, got, c.want)
		}
	}
	for _, want := range []string{"127.0.0.2", "127.0.0.3"} {
		for line := range log {
			if strings.Contains(line, "rejected a request from 127.0.0.1") {
				t.Error(line)
			}
			if strings.Contains(line, "rejected a request from "+want) {
				break
			}
		}
	}
}

// run starts a program, which ends with the test.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
}

// startTrusting starts a server with tokens that trusts a proxy at 127.0.0.1, and returns its address and its log. An
// address has one failure a minute.
func startTrusting(t *testing.T, tokens string) (address string, log <-chan string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "mcp-bash"), "serve", "--http", "127.0.0.1:0", "--token-file", tokens,
		"--trusted-proxy", "127.0.0.1")
	cmd.Env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+filepath.Dir(tokens), "MCPBASH_HTTP_AUTH_FAILURES=1")
	cmd.Dir = filepath.Dir(tokens)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	run(t, cmd)
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			lines <- s.Text()
		}
	}()
	var seen []string
	for line := range lines {
		seen = append(seen, line)
		if url, ok := strings.CutPrefix(line, "mcp-bash: serving http://"); ok {
			return strings.TrimSuffix(url, "/mcp"), lines
		}
	}
	t.Fatalf("no server: %q", seen)
	return "", nil
}

// statusFrom sends a request from an address of this machine, and returns the status, or 0.
func statusFrom(from, to, path, token, header string) int {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := dialer.DialContext(ctx, "tcp", to)
	if err != nil {
		return 0
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if header != "" {
		header += "\r\n"
	}
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\n%s\r\n",
		path, token, header)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	return r.StatusCode
}
