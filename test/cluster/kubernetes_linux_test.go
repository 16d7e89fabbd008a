//go:build cluster

package cluster

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// A node is a Kubernetes of one node.
type node struct {
	*testing.T
	dir string
}

func startNode(t *testing.T) *node {
	t.Helper()
	needs(t, "etcd", "containerd", "ctr", "runc", "podman", "jq", "openssl", "conntrack")
	if _, err := os.Stat("/usr/lib/cni/bridge"); err != nil {
		t.Skip("left out: containernetworking-plugins is not installed")
	}
	dir := os.Getenv("MCPBASH_TEST_NODE")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "mcp-bash-test-cluster")
	}
	script := filepath.Join(checkout.Root(), "test", "cluster", "node.sh")
	t.Cleanup(func() { exec.Command(script, "stop", dir).Run() })
	if out, err := exec.Command(script, "start", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return &node{t, dir}
}

func (n *node) command(args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(n.dir, "bin", "kubectl"),
		append([]string{"--kubeconfig", filepath.Join(n.dir, "kubeconfig")}, args...)...)
}

func (n *node) kubectl(args ...string) string {
	n.Helper()
	out, err := n.command(args...).CombinedOutput()
	if err != nil {
		n.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (n *node) apply(manifest string) {
	n.Helper()
	cmd := n.command("apply", "-f", "-")
	cmd.Stdin = strings.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.Fatalf("%v\n%s", err, out)
	}
}

// ready returns the addresses of the pods that the Service would send requests to.
func (n *node) ready() (list []string) {
	out, err := n.command("get", "endpointslices", "-l", "kubernetes.io/service-name=demo", "-o", "json").Output()
	var slices struct {
		Items []struct {
			Endpoints []struct {
				Addresses  []string
				Conditions struct{ Ready bool }
			}
		}
	}
	if err != nil || json.Unmarshal(out, &slices) != nil {
		return nil
	}
	for _, slice := range slices.Items {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready {
				list = append(list, e.Addresses...)
			}
		}
	}
	return list
}

// service stands for kube-proxy: it sends each request to the next ready pod. Like kube-proxy, it learns of changes
// a little later. If no connection can be made, it tries the next pod.
func (n *node) service() *client {
	n.Helper()
	var ready atomic.Pointer[[]string]
	update := func() {
		list := n.ready()
		ready.Store(&list)
	}
	update()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(250 * time.Millisecond):
				update()
			}
		}
	}()
	var next atomic.Int64
	transport := &http.Transport{DisableKeepAlives: true}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme = "http" },
		Transport: roundTripper(func(r *http.Request) (response *http.Response, err error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			for range 10 {
				r.Body = io.NopCloser(bytes.NewReader(body)) // each attempt closes it
				list := *ready.Load()
				if len(list) == 0 {
					time.Sleep(100 * time.Millisecond) // as a client waits for its connection
					continue
				}
				r.URL.Host = list[int(next.Add(1))%len(list)] + ":8000"
				if response, err = transport.RoundTrip(r); err == nil || !isNotConnected(err) {
					return response, err
				}
			}
			return nil, err
		}),
	})
	n.Cleanup(func() {
		proxy.Close()
		close(done)
		<-ended
	})
	return newClient(proxy.URL, "")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// settled waits until a number of pods is ready.
func (n *node) settled(pods int) {
	n.Helper()
	failed := true
	defer func() {
		if failed {
			out, _ := n.command("get", "pods,events").CombinedOutput()
			n.Logf("%s", out)
		}
	}()
	eventually(n.T, "the pods are ready", 2*time.Minute, func() bool { return len(n.ready()) == pods })
	failed = false
}

// The manifest for Kubernetes on a real node.
func TestKubernetes(t *testing.T) {
	needs(t, "podman", "runc", "jq")
	archive := image(t)
	n := startNode(t)
	output(t, "ctr", "-a", filepath.Join(n.dir, "containerd.sock"), "-n", "k8s.io", "images", "import", archive)
	dir, token := secrets(t)
	n.kubectl("create", "secret", "generic", "demo-http", "--from-file="+dir)
	n.apply(deployment(t, "--replicas", "3"))
	n.settled(3)
	c := n.service()
	c.token = token
	for name, call := range map[string]func() error{
		"stateless": func() error { return c.record(t.Context(), "x-1") },
	} {
		if err := call(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := newClient(c.address, "").record(t.Context(), "x-2"); err == nil {
		t.Error("a call without a token was answered")
	}

	t.Run("rolling update", func(t *testing.T) {
		l := startLoad(t, c)
		l.more(t, 20)
		n.kubectl("rollout", "restart", "deployment/demo")
		n.kubectl("rollout", "status", "deployment/demo", "--timeout=300s")
		l.more(t, 20)
		answered, failed := l.end()
		for _, err := range failed {
			t.Error(err)
		}
		t.Logf("%d calls", len(answered))
	})

	t.Run("a pod is killed", func(t *testing.T) {
		n.settled(3)
		l := startLoad(t, c)
		l.more(t, 20)
		id := strings.Fields(n.kubectl("get", "pods", "-l", "app.kubernetes.io/name=demo", "-o",
			"jsonpath={.items[*].status.containerStatuses[0].containerID}"))[0]
		output(t, "ctr", "-a", filepath.Join(n.dir, "containerd.sock"), "-n", "k8s.io", "task", "kill", "-s", "9",
			strings.TrimPrefix(id, "containerd://"))
		l.more(t, 40)
		n.settled(3)
		l.more(t, 20)
		answered, failed := l.end()
		// The calls that ran in the pod are lost, as many as there are connections. Others are answered.
		if len(failed) > 4 {
			t.Errorf("%d calls failed: %v", len(failed), failed)
		}
		t.Logf("%d calls, %d lost with the pod", len(answered), len(failed))
	})

	// The only node is drained, so a new pod has no place. The budget keeps the others.
	t.Run("node drain", func(t *testing.T) {
		n.settled(3)
		l := startLoad(t, c)
		l.more(t, 20)
		out, err := n.command("drain", "node1", "--delete-emptydir-data", "--ignore-daemonsets", "--force",
			"--timeout=20s").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "disruption budget") {
			t.Errorf("the budget did not stop the drain: %v\n%s", err, out)
		}
		if ready := len(n.ready()); ready != 2 {
			t.Errorf("%d pods are ready", ready)
		}
		l.more(t, 20)
		n.kubectl("uncordon", "node1")
		n.settled(3)
		answered, failed := l.end()
		for _, err := range failed {
			t.Error(err)
		}
		t.Logf("%d calls", len(answered))
	})

	// A server of metrics would read these figures for the autoscaler.
	t.Run("metrics", func(t *testing.T) {
		text := n.kubectl("get", "--raw", "/api/v1/nodes/node1/proxy/metrics/resource")
		for _, want := range []string{
			"pod_cpu_usage_seconds_total{", "container_memory_working_set_bytes{container=\"server\"",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in the node's metrics", want)
			}
		}
		out := n.kubectl("get", "hpa", "demo", "-o", "jsonpath={.spec.minReplicas} {.status.currentReplicas}")
		if out != "3 3" {
			t.Errorf("autoscaler: %s", out)
		}
	})
}
