//go:build cluster

package cluster

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/load"
	"mcp-bash/test/page"
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

// ctr runs the client of containerd.
func (n *node) ctr(args ...string) {
	n.Helper()
	output(n.T, "ctr", append([]string{"-a", filepath.Join(n.dir, "containerd.sock"), "-n", "k8s.io"}, args...)...)
}

// ready returns the addresses of the pods that the Service would send requests to.
func (n *node) ready() (list []string) {
	out, err := n.command("get", "endpointslices", "-l", "kubernetes.io/service-name=greeter", "-o", "json").Output()
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

// pods returns the names of the pods that go on, and of those that end.
func (n *node) pods() (running, ending []string) {
	out, err := n.command("get", "pods", "-l", "app.kubernetes.io/name=greeter", "-o", "json").Output()
	var pods struct {
		Items []struct {
			Metadata struct {
				Name              string
				DeletionTimestamp string
			}
		}
	}
	if err != nil || json.Unmarshal(out, &pods) != nil {
		n.Errorf("kubectl get pods: %v", err)
	}
	for _, pod := range pods.Items {
		if pod.Metadata.DeletionTimestamp == "" {
			running = append(running, pod.Metadata.Name)
		} else {
			ending = append(ending, pod.Metadata.Name)
		}
	}
	return running, ending
}

// watch keeps a history of the pods, and the list of those that are ready.
func (n *node) watch(past *history, ready *atomic.Pointer[[]string]) {
	known := map[string]bool{}
	update := func() {
		list := n.ready()
		ready.Store(&list)
		running, ending := n.pods()
		for _, name := range ending {
			past.ends(name)
		}
		for name := range known {
			if !slices.Contains(running, name) && !slices.Contains(ending, name) {
				past.ends(name)
				past.gone(name)
				delete(known, name)
			}
		}
		for _, name := range append(running, ending...) {
			known[name] = true
		}
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
	n.Cleanup(func() {
		close(done)
		<-ended
	})
}

// service stands for kube-proxy: it connects each client with the next ready pod. Like kube-proxy, it learns of changes
// a little later, and leaves connections as they are. If no connection can be made, it tries the next pod.
func (n *node) service(past *history) (address string) {
	n.Helper()
	var ready atomic.Pointer[[]string]
	n.watch(past, &ready)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		n.Fatal(err)
	}
	n.Cleanup(func() { l.Close() })
	var next atomic.Int64
	dial := func() net.Conn {
		for range 50 {
			if list := *ready.Load(); len(list) > 0 {
				conn, err := net.DialTimeout("tcp", list[int(next.Add(1))%len(list)]+":8000", 2*time.Second)
				if err == nil {
					return conn
				}
			}
			time.Sleep(100 * time.Millisecond) // as a client waits for its connection
		}
		return nil
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				pod := dial()
				if pod == nil {
					return
				}
				defer pod.Close()
				go func() {
					io.Copy(pod, conn)
					pod.(*net.TCPConn).CloseWrite()
				}()
				io.Copy(conn, pod)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// rolled waits until a rolling update has ended.
func (n *node) rolled() {
	n.Helper()
	n.kubectl("rollout", "status", "deployment/greeter", "--timeout=300s")
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

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

// only waits until a rolling update has ended, and until the replaced pods have, which still accept requests.
func (n *node) only(pods int) {
	n.Helper()
	n.rolled()
	eventually(n.T, "the old pods are gone", 2*time.Minute, func() bool {
		running, ending := n.pods()
		return len(running) == pods && len(ending) == 0
	})
	n.settled(pods)
}

// deploy types the commands of docs/DEPLOY.md that make an image, the manifest and its Secret. It returns the operator
// and a token.
func (n *node) deploy() (o *operator, token string) {
	n.Helper()
	o = newOperator(n.T, "greeter")
	o.dir = filepath.Join(o.home, "greeter")
	o.program("kubectl", "exec "+strings.Join(n.command().Args, " ")+` "$@"`)
	imported := false
	for _, b := range page.ForTest(n.T, "DEPLOY.md") {
		out := o.types(b.Commands())
		if archive := filepath.Join(o.dir, "greeter.tar"); !imported && exists(archive) {
			n.ctr("images", "import", archive) // stands for the registry
			imported = true
		}
		if found := aToken.FindString(out); found != "" {
			token = found
		}
	}
	n.kubectl("set", "env", "deployment/greeter", "MCPBASH_HTTP_RATE=0") // all clients of the load have one token
	n.rolled()
	n.settled(3)
	return o, token
}

// The manifest for Kubernetes on a real node, with the commands of docs/DEPLOY.md.
func TestKubernetes(t *testing.T) {
	n := startNode(t)
	var past history
	o, token := n.deploy()
	target := load.Target{Host: "mcp.example.com", Token: token, Ended: past.since} // as an ingress passes it on
	target.Address = n.service(&past)
	allAnswer(t, target)
	if answers(t.Context(), load.Target{Address: target.Address, Host: target.Host}, load.Stateless) == nil {
		t.Error("a call without a token was answered")
	}
	for _, host := range []string{ // of clients in the cluster
		"greeter", "greeter.default", "greeter.default.svc", "greeter.default.svc.cluster.local", "greeter.default.svc:80",
	} {
		inside := load.Target{Address: target.Address, Host: host, Token: target.Token}
		if err := answers(t.Context(), inside, load.Stateless); err != nil {
			t.Errorf("the host %s: %v", host, err)
		}
	}
	t.Run("audit", func(t *testing.T) { testAudit(t, n, o, target) })
	t.Run("rolling updates", func(t *testing.T) {
		restart := func(int) string {
			n.kubectl("rollout", "restart", "deployment/greeter")
			n.rolled()
			return ""
		}
		measure(t, setup{"kubernetes", target, restart, *lossRestarts, *lossCalls})
	})
	t.Run("a pod is killed", func(t *testing.T) { testKilledPod(t, n, target, &past) })
	t.Run("node drain", func(t *testing.T) { testNodeDrain(t, n, target) })
	t.Run("metrics", func(t *testing.T) { testMetrics(t, n) })
}

func testKilledPod(t *testing.T, n *node, target load.Target, past *history) {
	n.settled(3)
	pod, _ := n.pods()
	id := n.kubectl("get", "pod", pod[0], "-o", "jsonpath={.status.containerStatuses[0].containerID}")
	l := startLoad(t, target)
	l.more(20)
	past.ends(pod[0])
	n.ctr("task", "kill", "-s", "9", strings.TrimPrefix(id, "containerd://"))
	l.more(40)
	n.settled(3)
	past.gone(pod[0])
	l.more(20)
	// The calls that ran in the pod are lost, as many as there are connections. Others are answered.
	lost := 0
	for _, f := range l.End() {
		lost += len(f.Lost)
	}
	if lost > load.Connections {
		t.Errorf("%d calls failed", lost)
	}
	t.Logf("%d calls were lost with the pod", lost)
}

// The only node is drained, so a new pod has no place. The budget keeps the others.
func testNodeDrain(t *testing.T, n *node, target load.Target) {
	n.settled(3)
	l := startLoad(t, target)
	l.more(20)
	out, err := n.command("drain", "node1", "--delete-emptydir-data", "--ignore-daemonsets", "--force",
		"--timeout=20s").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "disruption budget") {
		t.Errorf("the budget did not stop the drain: %v\n%s", err, out)
	}
	if ready := len(n.ready()); ready != 2 {
		t.Errorf("%d pods are ready", ready)
	}
	l.more(20)
	n.kubectl("uncordon", "node1")
	n.settled(3)
	l.none("node drain", 1)
}

// A server of metrics would read these figures for the autoscaler.
func testMetrics(t *testing.T, n *node) {
	text := n.kubectl("get", "--raw", "/api/v1/nodes/node1/proxy/metrics/resource")
	for _, want := range []string{
		"pod_cpu_usage_seconds_total{", "container_memory_working_set_bytes{container=\"server\"",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in the node's metrics", want)
		}
	}
	out := n.kubectl("get", "hpa", "greeter", "-o", "jsonpath={.spec.minReplicas} {.status.currentReplicas}")
	if out != "3 3" {
		t.Errorf("autoscaler: %s", out)
	}
}
