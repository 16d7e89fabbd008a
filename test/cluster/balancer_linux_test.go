package cluster

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/load"
)

// A replica is a server that can be started again at its address.
type replica struct {
	t       *testing.T
	project string
	env     []string
	name    string
	port    int
	socket  *os.File // of a service manager, or nil
	cmd     *exec.Cmd
	stderr  bytes.Buffer
}

func (r *replica) address() string { return fmt.Sprintf("http://127.0.0.1:%d", r.port) }

func (r *replica) start() {
	r.t.Helper()
	if r.socket == nil {
		r.cmd = exec.Command(filepath.Join(bin, "mcp-bash"), "serve", "--http", fmt.Sprintf("127.0.0.1:%d", r.port),
			"--advertise", r.address())
	} else {
		r.cmd = exec.Command("bash", "-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve --http`,
			filepath.Join(bin, "mcp-bash"))
		r.cmd.ExtraFiles = []*os.File{r.socket}
	}
	r.cmd.Env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+r.project, "MCPBASH_TOOL_ALLOWLIST=*", "REPLICA="+r.name,
		"MCPBASH_HTTP_RATE=0") // all clients of the load have the address of the balancer
	r.cmd.Env = append(r.cmd.Env, r.env...)
	r.stderr.Reset()
	r.cmd.Stderr = &r.stderr
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	eventually(r.t, "a replica is ready", 30*time.Second, func() bool { return isReady(r.address()) })
}

// restart ends a replica as a rolling update does, and starts it again.
func (r *replica) restart() {
	r.t.Helper()
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		r.t.Errorf("a replica ended with %d\n%s", code, &r.stderr)
	}
	r.start()
}

// A balancer distributes requests to replicas. Its configuration is for three replicas at 10.0.0.1 to 10.0.0.3.
type balancer struct {
	name    string
	program string
	config  string
	args    []string
}

// nginx and HAProxy try another replica only if no connection could be made: a call must not run twice. Both keep
// their connections to replicas.
var balancers = []balancer{{
	name: "nginx", program: "nginx", args: []string{"-e", "stderr", "-c"},
	config: `daemon off; pid nginx.pid; error_log stderr error;
events { worker_connections 256; }
http {
access_log off;
client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
upstream mcp {
  zone mcp 64k;
  server 10.0.0.1:8000 max_fails=1 fail_timeout=1s;
  server 10.0.0.2:8000 max_fails=1 fail_timeout=1s;
  server 10.0.0.3:8000 max_fails=1 fail_timeout=1s;
  keepalive 64;
}
server {
  listen 8080;
  location / {
    proxy_pass http://mcp;
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header Connection "";
    proxy_buffering off;
    proxy_connect_timeout 3s;
    proxy_read_timeout 1h;
    proxy_send_timeout 1h;
    proxy_next_upstream error;
  }
}
}
`,
}, haproxy("safe"), haproxy("always")}

// haproxy is HAProxy with a value of http-reuse; safe is the default.
func haproxy(reuse string) balancer {
	return balancer{
		name: "haproxy-" + reuse, program: "haproxy", args: []string{"-db", "-f"},
		config: `defaults
  mode http
  timeout connect 3s
  timeout client 1h
  timeout server 1h
  retries 3
  option redispatch 1
  retry-on conn-failure
  http-reuse ` + reuse + `
frontend mcp
  bind :8080
  default_backend mcp
backend mcp
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 1s fall 1 rise 1
  server mcp1 10.0.0.1:8000
  server mcp2 10.0.0.2:8000
  server mcp3 10.0.0.3:8000
`,
	}
}

var (
	replicaLine   = regexp.MustCompile(`(?m)^.*\b10\.0\.0\.(\d):8000\b.*\n`)
	replicaPlace  = regexp.MustCompile(`\b10\.0\.0\.\d:8000\b`)
	listeningPort = regexp.MustCompile(`(bind :|listen )8080\b`)
)

// at returns the configuration for replicas at these ports, with the balancer at another port.
func (b balancer) at(port int, replicas []int) string {
	text := replicaLine.ReplaceAllStringFunc(b.config, func(line string) string {
		n, _ := strconv.Atoi(replicaLine.FindStringSubmatch(line)[1])
		if n > len(replicas) {
			return ""
		}
		return replicaPlace.ReplaceAllString(line, fmt.Sprintf("127.0.0.1:%d", replicas[n-1]))
	})
	return listeningPort.ReplaceAllStringFunc(text, func(place string) string {
		if strings.HasPrefix(place, "bind") {
			return fmt.Sprintf("bind 127.0.0.1:%d", port)
		}
		return fmt.Sprintf("listen 127.0.0.1:%d", port)
	})
}

// start starts a balancer of replicas at these ports, and returns its address.
func (b balancer) start(t *testing.T, replicas ...int) string {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte(b.at(port, replicas)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(b.program, append(b.args, config)...)
	if b.program == "nginx" {
		cmd.Args = append(cmd.Args, "-p", dir)
	}
	var messages bytes.Buffer
	cmd.Stderr, cmd.Stdout = &messages, &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s", &messages)
		}
	})
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	eventually(t, b.name+" is ready", 30*time.Second, func() bool { return isReady(address) })
	return address
}

// H-60, H-61: three replicas behind a balancer are restarted one after the other under load. Each request
// is answered once, and runs once.
func TestBalancers(t *testing.T) {
	for _, b := range balancers {
		t.Run(b.name, func(t *testing.T) { testBalancer(t, b, 60, 3) })
	}
}

// H-720: a service manager keeps the socket of a server that is restarted, so no connection is refused.
func TestSocketOfManager(t *testing.T) { testSocket(t, 60, 3) }

func testSocket(t *testing.T, calls, restarts int) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	r := &replica{t: t, project: makeProject(t), name: "r0", port: l.Addr().(*net.TCPAddr).Port, socket: socket}
	r.start()
	defer func() { r.cmd.Process.Kill(); r.cmd.Wait() }()
	var past history
	restart := func(int) string {
		past.ends(r.name)
		r.restart()
		past.gone(r.name)
		return r.name
	}
	measure(t, setup{"socket", load.Target{Address: r.address(), Ended: past.since}, restart, restarts, calls})
}

func testBalancer(t *testing.T, b balancer, calls, restarts int) {
	needs(t, b.program)
	project, dir := makeProject(t), checkout.Directory(t)
	file, key := filepath.Join(dir, "calls"), filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	var replicas []*replica
	var ports []int
	for n := range 3 {
		r := &replica{t: t, project: project, name: fmt.Sprintf("r%d", n), port: freePort(t),
			env: []string{"CALLS=" + file, "MCPBASH_HTTP_STATE_KEY_FILE=" + key}}
		replicas, ports = append(replicas, r), append(ports, r.port)
		r.start()
		defer func() { r.cmd.Process.Kill(); r.cmd.Wait() }()
	}
	var past history
	restart := func(n int) string {
		r := replicas[n%len(replicas)]
		past.ends(r.name)
		r.restart()
		past.gone(r.name)
		return r.name
	}
	target := load.Target{Address: b.start(t, ports...), Ended: past.since}
	answered := measure(t, setup{b.name, target, restart, restarts, calls})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, id := range strings.Fields(string(text)) {
		ran[id]++
	}
	for id := range answered {
		if ran[id] != 1 {
			t.Errorf("%s was answered and ran %d times", id, ran[id])
		}
	}
	if len(ran) != len(answered) {
		t.Errorf("%d calls ran, %d were answered", len(ran), len(answered))
	}
}
