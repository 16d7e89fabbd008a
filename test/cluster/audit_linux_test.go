//go:build cluster

package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/test/load"
	"mcp-bash/test/monitoring"
	"mcp-bash/test/page"
)

// A deed is what the operator wants to know of a request.
type deed struct{ Caller, Tool, Outcome string }

// A crowd calls tools of replicas, and remembers what each request is in the record, by its id.
type crowd struct {
	*testing.T
	target load.Target
	tokens map[string]string
	deeds  map[string]deed
}

// send sends a request over a new connection, which leads to the next replica, and returns the header of the response.
func (c *crowd) send(caller, body string, headers map[string]string) http.Header {
	c.Helper()
	request, err := http.NewRequestWithContext(c.Context(), "POST", c.target.Address+"/mcp", strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	request.Host = c.target.Host
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Authorization", "Bearer "+c.tokens[caller])
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Do(request)
	if err != nil {
		c.Fatal(err)
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		c.Fatal(err)
	}
	return r.Header
}

// call calls a tool, in a session or without one.
func (c *crowd) call(d deed, session string) {
	c.Helper()
	meta := `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	headers := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": d.Tool}
	if session != "" {
		meta, headers = "", map[string]string{"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session}
	}
	header := c.send(d.Caller, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+d.Tool+
		`","arguments":{"id":"x"}`+meta+`}}`, headers)
	id := header.Get("X-Request-Id")
	if _, twice := c.deeds[id]; id == "" || twice {
		c.Fatalf("%+v: the id %q", d, id)
	}
	if d.Caller == "mallory" { // does not get as far as the tool
		d = deed{"anonymous", "/mcp", d.Outcome}
	}
	c.deeds[id] = d
}

// work makes the calls of all users.
func (c *crowd) work() {
	c.Helper()
	c.deeds = map[string]deed{}
	for range 9 {
		c.call(deed{"ada", "record", "success"}, "")
		c.call(deed{"bob", "record", "success"}, "")
	}
	c.call(deed{"ada", "confined", "success"}, "")
	c.call(deed{"ada", "missing", "failure"}, "")
	c.call(deed{"bob", "confined", "denied"}, "")
	c.call(deed{"mallory", "record", "denied"}, "")
	session := c.send("bob", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil).Get("Mcp-Session-Id")
	c.send("bob", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, map[string]string{
		"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session,
	})
	for range 6 { // two thirds of them reach a replica that passes them on
		c.call(deed{"bob", "record", "success"}, session)
	}
}

// check compares what the operator's command printed with what the users did. Each request is there once.
func (c *crowd) check(printed string) {
	c.Helper()
	replicas, times := map[string]int{}, map[string]int{}
	for line := range strings.Lines(printed) {
		var e struct {
			ID       string `json:"audit_id"`
			Time     string
			Outcome  string
			Subjects struct{ User string }
			Target   struct{ Name string }
			Metadata struct{ Extra struct{ Replica string } }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Time == "" {
			c.Fatalf("%v: %s", err, line)
		}
		if got := (deed{e.Subjects.User, e.Target.Name, e.Outcome}); got != c.deeds[e.ID] {
			c.Errorf("%s: %+v, want %+v", e.ID, got, c.deeds[e.ID])
		}
		times[e.ID]++
		replicas[e.Metadata.Extra.Replica]++
	}
	for id, d := range c.deeds {
		if times[id] != 1 {
			c.Errorf("%s, %+v: %d times", id, d, times[id])
		}
	}
	if len(replicas) != 3 || replicas[""] > 0 {
		c.Errorf("replicas: %v", replicas)
	}
	c.Logf("%d requests of %d replicas: %v", len(c.deeds), len(replicas), replicas)
}

// testDashboard lets a Prometheus scrape the pods. It has the values of the dashboard, and the number of calls.
func testDashboard(t *testing.T, n *node, c *crowd, calls int) {
	targets := strings.Join(n.ready(), ":9464, ") + ":9464"
	d := monitoring.StartPrometheus(t,
		"scrape_configs: [{job_name: mcp-bash, static_configs: [{targets: ["+targets+"]}]}]\n")
	is := func(query string, want int) {
		monitoring.Eventually(t, fmt.Sprintf("%s is %d", query, want), func() bool {
			return slices.Equal(d.Values(query), []float64{float64(want)})
		})
	}
	is(`sum(up{job="mcp-bash"})`, 3)
	is(`sum(mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call"})`, calls)
	d.AnswersDashboard(func() { c.call(deed{"ada", "record", "success"}, "") })
}

// auditVolume is a volume for the record, as an administrator makes one.
const auditVolume = `apiVersion: v1
kind: PersistentVolume
metadata: {name: greeter-audit}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  storageClassName: ""
  hostPath: {path: %s}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: greeter-audit}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: greeter-audit
  resources: {requests: {storage: 1Gi}}
`

// The commands of docs/OPERATIONS.md show which of two users called what, at all replicas.
func testAudit(t *testing.T, n *node, o *operator, target load.Target) {
	o = o.in(t)
	bob := aToken.FindString(o.types("mcp-bash token create bob --tools record --file tokens.json"))
	o.types("kubectl create secret generic greeter-http --from-file=tokens.json --from-file=state-key " +
		"--dry-run=client -o yaml | kubectl apply -f - && kubectl rollout restart deployment/greeter")
	n.only(3)
	c := &crowd{T: t, target: target, tokens: map[string]string{"ada": target.Token, "bob": bob, "mallory": "guess"}}
	volume := filepath.Join(n.dir, "audit")
	for _, b := range page.ForTest(n.T, "OPERATIONS.md") {
		switch commands := b.Commands(); {
		case b.Argument != "":
			if err := os.WriteFile(filepath.Join(o.dir, b.Argument), []byte(b.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		case strings.Contains(commands, "kubectl logs"):
			c.work()
			c.check(o.types(commands))
			calls := 0
			for _, d := range c.deeds {
				if d.Caller != "anonymous" {
					calls++
				}
			}
			t.Run("dashboard", func(t *testing.T) { testDashboard(t, n, c, calls) })
		case strings.Contains(commands, "kubectl patch"):
			newVolume(t, n, volume)
			o.types(commands)
			n.only(3)
			c.work()
		default:
			c.check(o.types(strings.ReplaceAll(commands, "/mnt/audit", volume)))
			verified := o.types("mcp-bash audit --verify " + volume)
			if got := strings.Count(verified, `"ok":true`); got != 3 || strings.Count(verified, "\n") != 3 {
				t.Errorf("the records:\n%s", verified)
			}
		}
	}
}

// newVolume makes an empty volume that belongs to the user of the pods.
func newVolume(t *testing.T, n *node, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65532, 65532); err != nil {
		t.Fatal(err)
	}
	cmd := n.command("apply", "-f", "-")
	cmd.Stdin = bytes.NewReader(fmt.Appendf(nil, auditVolume, dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
