package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A replica is a server that can be started again at its address.
type replica struct {
	t       *testing.T
	project string
	env     []string
	port    int
	cmd     *exec.Cmd
	stderr  bytes.Buffer
}

func (r *replica) address() string { return fmt.Sprintf("http://127.0.0.1:%d", r.port) }

func (r *replica) start() {
	r.t.Helper()
	r.cmd = exec.Command(filepath.Join(bin, "mcp-bash"), "serve", "--http", fmt.Sprintf("127.0.0.1:%d", r.port))
	r.cmd.Env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+r.project, "MCPBASH_TOOL_ALLOWLIST=*")
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

// A balancer distributes requests to replicas.
type balancer struct {
	program string
	config  string // with %[1]d for its port and %[2]s for the lines of its replicas
	replica string // such a line, with %d for the port
	args    []string
}

// nginx and HAProxy try another replica only if no connection could be made: a call must not run twice.
var balancers = []balancer{{
	program: "nginx", replica: "server 127.0.0.1:%d max_fails=1 fail_timeout=1s;\n",
	args: []string{"-e", "stderr", "-c"},
	config: `daemon off; pid nginx.pid; error_log stderr error;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  upstream replicas { zone replicas 64k; %[2]s }
  server {
    listen 127.0.0.1:%[1]d;
    location / {
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "close";
      proxy_buffering off;
      proxy_read_timeout 1h;
      proxy_next_upstream error;
    }
  }
}
`,
}, {
	program: "haproxy", replica: "  server r%[1]d 127.0.0.1:%[1]d check\n", args: []string{"-db", "-f"},
	config: `global
  maxconn 256
defaults
  mode http
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  retries 3
  option redispatch 1
  retry-on conn-failure
  http-reuse never
frontend f
  bind 127.0.0.1:%[1]d
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /readyz
  default-server inter 100ms fall 1 rise 1
%[2]s`,
}}

// H-60, H-61: three replicas behind a balancer are restarted one after the other under load. Each request
// is answered once, and runs once.
func TestBalancers(t *testing.T) {
	for _, b := range balancers {
		t.Run(b.program, func(t *testing.T) {
			needs(t, b.program)
			testBalancer(t, b)
		})
	}
}

func testBalancer(t *testing.T, b balancer) {
	project, dir := makeProject(t), t.TempDir()
	calls := filepath.Join(dir, "calls")
	var replicas []*replica
	var lines strings.Builder
	for range 3 {
		r := &replica{t: t, project: project, port: freePort(t),
			env: []string{"CALLS=" + calls, "MCPBASH_HTTP_DRAIN_DELAY=1"}}
		replicas = append(replicas, r)
		fmt.Fprintf(&lines, b.replica, r.port)
		r.start()
		defer func() { r.cmd.Process.Kill(); r.cmd.Wait() }()
	}
	port := freePort(t)
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, fmt.Appendf(nil, b.config, port, &lines), 0o644); err != nil {
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
	defer func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() }()
	c := newClient(fmt.Sprintf("http://127.0.0.1:%d", port), "")
	eventually(t, b.program+" is ready", 30*time.Second, func() bool { return isReady(c.address) })
	l := startLoad(t, c)
	for _, r := range replicas {
		l.more(t, 20)
		r.restart()
	}
	l.more(t, 20)
	answered, failed := l.end()
	for _, err := range failed {
		t.Error(err)
	}
	if t.Failed() {
		t.Logf("%s", &messages)
	}
	text, err := os.ReadFile(calls)
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
	t.Logf("%d calls", len(answered))
}
