//go:build unix

// Package replicas starts three servers of one project behind a load balancer, and restarts and kills
// them while clients call tools (http section 12).
package replicas

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/freeport"
)

// patience is how long a test waits for an event.
const patience = 60 * time.Second

var bin string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		bin = dir
		return checkout.Build(dir, "mcp-bash/cmd/mcp-bash")
	}))
}

// project are the files of the project. Each call of a tool adds its number to a file.
var project = map[string]string{
	"server.d/server.meta.json": `{"name":"replicas","largeResultBytes":4096,"largeResultSearch":true}`,
	"tools/lines/tool.sh":       "seq 1 20000\n",
	"tools/count/tool.sh": `source "$MCP_SDK/tool-sdk.sh"
n=$(mcp_args_int .n)
echo "$n" >>"$MCPBASH_PROJECT_ROOT/calls"
printf 'counted %s' "$n"
`,
	"tools/ask/tool.sh": `source "$MCP_SDK/tool-sdk.sh"
n=$(mcp_args_int .n)
echo "$n" >>"$MCPBASH_PROJECT_ROOT/calls"
mcp_elicit_string "A word?"
`,
	"tools/wait/tool.meta.json": `{"name":"wait","longRunning":{"after":1}}`,
	"tools/wait/tool.sh": `source "$MCP_SDK/tool-sdk.sh"
n=$(mcp_args_int .n)
until [ -e "$MCPBASH_PROJECT_ROOT/go.$n" ]; do sleep 0.05; done
printf 'waited %s' "$n"
`,
}

// A cluster is three replicas behind a balancer.
type cluster struct {
	t        *testing.T
	root     string
	env      []string
	balancer *balancer
	addrs    []string
	replicas []*exec.Cmd
	ended    []chan error
	client   *http.Client
}

const size = 3

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{
		t: t, root: checkout.Directory(t), replicas: make([]*exec.Cmd, size), ended: make([]chan error, size),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: patience},
	}
	for name, content := range project {
		file := filepath.Join(c.root, name)
		if strings.HasSuffix(name, ".sh") {
			content = "#!/usr/bin/env bash\n" + content
		}
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(c.root, "key")
	os.WriteFile(key, []byte(hex.EncodeToString(bytes.Repeat([]byte{7}, 32))), 0o600)
	c.env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+c.root, "MCPBASH_TOOL_ALLOWLIST=*",
		"MCPBASH_HTTP_STATE_KEY_FILE="+key, "MCPBASH_HTTP_DRAIN_DELAY=1", "MCPBASH_HTTP_DRAIN=30",
		"TMPDIR="+t.TempDir())
	var urls []string
	for range size {
		address, err := freeport.Address()
		if err != nil {
			t.Fatal(err)
		}
		c.addrs, urls = append(c.addrs, address), append(urls, "http://"+address)
	}
	c.balancer = newBalancer(t, urls...)
	t.Cleanup(func() {
		for n := range size {
			if c.replicas[n] != nil {
				c.replicas[n].Process.Signal(syscall.SIGKILL)
				<-c.ended[n]
			}
		}
		c.client.CloseIdleConnections()
	})
	return c
}

// start starts a replica, and waits until it is ready.
func (c *cluster) start(n int) {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(bin, "mcp-bash"), "serve", "--http", c.addrs[n], "--advertise", "http://"+c.addrs[n],
		"--trust-client-roots") // so that a session has requests of the server
	cmd.Env, cmd.Dir = c.env, c.root
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		close(ended)
		if c.t.Failed() {
			c.t.Logf("replica %d: %s", n, stderr)
		}
	}()
	c.replicas[n], c.ended[n] = cmd, ended
	c.balancer.awaitReady(c.t, n, true)
}

// stop ends a replica with a signal, and waits for its end.
func (c *cluster) stop(n int, signal syscall.Signal) {
	c.t.Helper()
	c.replicas[n].Process.Signal(signal)
	select {
	case <-c.ended[n]:
	case <-time.After(patience):
		c.t.Fatalf("replica %d goes on after %v", n, signal)
	}
	status := c.replicas[n].ProcessState
	if signal == syscall.SIGTERM && status.ExitCode() != 128+int(syscall.SIGTERM) {
		c.t.Errorf("replica %d: %v", n, status)
	}
	c.replicas[n] = nil
	c.balancer.awaitReady(c.t, n, false)
}

func withBody(r *http.Request, body []byte) *http.Request {
	r = r.WithContext(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

// An answer is the response of a POST.
type answer struct {
	status  int
	backend string
	text    string // of the result
	state   string // of a suspended call
	fault   string // the data of an error
	links   []string
}

// call calls a tool through the balancer.
func (c *cluster) call(id int, tool, members string) answer {
	return c.callAt(c.balancer.url, id, tool, members)
}

func (c *cluster) callAt(url string, id int, tool, members string) answer {
	return c.request(url, id, "tools/call", "name", tool, members+",")
}

// read reads a resource.
func (c *cluster) read(url string, id int, uri string) answer {
	return c.request(url, id, "resources/read", "uri", uri, "")
}

// request sends a request, whose member with its name is repeated in a header.
func (c *cluster) request(url string, id int, method, member, name, members string) (a answer) {
	body := `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"` + method + `","params":{"` + member + `":"` +
		name + `",` + members + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return a
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}, "Mcp-Name": {name},
	}
	response, err := c.client.Do(r)
	if err != nil {
		a.fault = err.Error()
		return a
	}
	defer response.Body.Close()
	a.status, a.backend = response.StatusCode, response.Header.Get("Backend")
	text, err := io.ReadAll(response.Body)
	if err != nil {
		a.status, a.fault = 0, err.Error()
		return a
	}
	if response.Header.Get("Content-Type") == "text/event-stream" {
		for line := range strings.Lines(string(text)) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				text = []byte(data)
			}
		}
	}
	var message struct {
		ID     int
		Result struct {
			Content      []struct{ Text, URI string }
			Contents     []struct{ Text string }
			RequestState string
		}
		Error struct {
			Message string
			Data    json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &message); err != nil || message.ID != id {
		a.fault = fmt.Sprintf("%d: %v: %s", a.status, err, text)
		return a
	}
	for _, content := range message.Result.Content {
		a.text += content.Text
		if content.URI != "" {
			a.links = append(a.links, content.URI)
		}
	}
	for _, content := range message.Result.Contents {
		a.text += content.Text
	}
	a.state, a.fault = message.Result.RequestState, message.Error.Message+" "+string(message.Error.Data)
	return a
}

// A load calls the tool count from several clients until it is stopped.
type load struct {
	c      *cluster
	last   atomic.Int64
	stop   atomic.Bool
	done   sync.WaitGroup
	mu     sync.Mutex
	failed map[int]answer // without an answer
}

// workers is the number of clients.
const workers = 8

func (c *cluster) load() *load {
	l := &load{c: c, failed: map[int]answer{}}
	for range workers {
		l.done.Go(func() {
			for !l.stop.Load() {
				n := int(l.last.Add(1))
				a := c.call(n, "count", `"arguments":{"n":`+strconv.Itoa(n)+`}`)
				if a.status != http.StatusOK || a.text != "counted "+strconv.Itoa(n) {
					l.mu.Lock()
					l.failed[n] = a
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

// awaitAnswers waits until a replica has answered some requests of the load.
func (l *load) awaitAnswers(t *testing.T, n int) {
	t.Helper()
	be := l.c.balancer.backends[n]
	l.c.balancer.mu.Lock()
	from := be.done
	l.c.balancer.mu.Unlock()
	l.c.balancer.await(t, "answers of a replica", func() bool { return be.done >= from+10 })
}

// end ends the load, and returns how often each call ran.
func (l *load) end() map[int]int {
	l.stop.Store(true)
	l.done.Wait()
	return l.c.ran()
}

// ran returns how often each call ran.
func (c *cluster) ran() map[int]int {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.root, "calls"))
	if err != nil {
		c.t.Fatal(err)
	}
	times := map[int]int{}
	for line := range strings.Lines(string(text)) {
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			c.t.Error(err)
		}
		times[n]++
	}
	return times
}

// H-60, H-61: a rolling restart of three replicas under load loses no request, and repeats none.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for n := range size {
		c.start(n)
	}
	l := c.load()
	for n := range size {
		l.awaitAnswers(t, n)
		c.stop(n, syscall.SIGTERM)
		c.start(n)
	}
	l.awaitAnswers(t, size-1)
	times := l.end()
	for n, a := range l.failed {
		t.Errorf("request %d: %+v", n, a)
	}
	last := int(l.last.Load())
	for n := 1; n <= last; n++ {
		if times[n] != 1 {
			t.Errorf("request %d ran %d times", n, times[n])
		}
	}
	t.Logf("%d requests", last)
}

// A replica that is killed loses the requests that run there, and no others. They succeed when they
// are sent again.
func TestKilledReplica(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for n := range size {
		c.start(n)
	}
	l := c.load()
	for n := range size {
		l.awaitAnswers(t, n)
	}
	const victim = 1
	c.stop(victim, syscall.SIGKILL)
	for _, n := range []int{0, 2} {
		l.awaitAnswers(t, n)
	}
	times := l.end()
	if len(l.failed) > workers {
		t.Errorf("%d requests failed of %d that could run on one replica", len(l.failed), workers)
	}
	for n, a := range l.failed {
		if a.backend != c.addrs[victim] || a.status == http.StatusOK {
			t.Errorf("request %d failed although it ran elsewhere: %+v", n, a)
		}
		if again := c.call(n, "count", `"arguments":{"n":`+strconv.Itoa(n)+`}`); again.text != "counted "+strconv.Itoa(n) {
			t.Errorf("request %d fails again: %+v", n, again)
		}
	}
	last := int(l.last.Load())
	for n := 1; n <= last; n++ {
		if _, failed := l.failed[n]; times[n] != 1 && !failed || times[n] > 1 {
			t.Errorf("request %d ran %d times", n, times[n])
		}
	}
	t.Logf("%d requests, %d failed", last, len(l.failed))
}

// H-504, H-505: any replica takes the retry of a suspended call to the one that has it. If that is
// gone, the client begins again.
func TestSuspendedCalls(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for n := range size {
		c.start(n)
	}
	retry := func(n int, state string) string {
		return fmt.Sprintf(`"arguments":{"n":%d},"requestState":%q,"inputResponses":{"input-1":{"action":"accept",`+
			`"content":{"value":"word %d"}}}`, n, state, n)
	}
	begin := func(url string, n int) answer {
		a := c.callAt(url, n, "ask", fmt.Sprintf(`"arguments":{"n":%d}`, n))
		if a.state == "" {
			t.Fatalf("call %d is not suspended: %+v", n, a)
		}
		return a
	}
	at := func(n int) string { return "http://" + c.addrs[n] + "/mcp" }
	n := 0
	for owner := range size {
		for other := range size {
			n++
			state := begin(at(owner), n).state
			if a := c.callAt(at(other), 100+n, "ask", retry(n, state)); !strings.Contains(a.text, fmt.Sprint("word ", n)) {
				t.Errorf("begun at %d, resumed at %d: %+v", owner, other, a)
			}
			if a := c.callAt(at(other), 200+n, "ask", retry(n, state)); !strings.Contains(a.fault, "used already") {
				t.Errorf("begun at %d, replayed at %d: %+v", owner, other, a)
			}
		}
	}
	for n = 10; n < 40; n++ { // through the balancer, at other replicas
		a := c.call(100+n, "ask", retry(n, begin(c.balancer.url, n).state))
		if !strings.Contains(a.text, fmt.Sprint("word ", n)) {
			t.Errorf("%d: %+v", n, a)
		}
	}
	killed, restarted := begin(at(0), 50), begin(at(1), 51)
	c.stop(0, syscall.SIGKILL)
	if a := c.callAt(at(2), 150, "ask", retry(50, killed.state)); a.status != http.StatusOK ||
		!strings.Contains(a.fault, "cannot be reached; call again") {
		t.Errorf("%+v", a)
	}
	c.stop(1, syscall.SIGKILL)
	c.start(1)
	for _, n := range []int{1, 2} {
		a := c.callAt(at(n), 151, "ask", retry(51, restarted.state))
		if !strings.Contains(a.fault, "belongs to another server") || !strings.Contains(a.fault, "; call again") {
			t.Errorf("%+v", a)
		}
	}
	if a := c.call(152, "ask", retry(51, begin(c.balancer.url, 51).state)); !strings.Contains(a.text, "word 51") {
		t.Errorf("begun again: %+v", a)
	}
	for n, times := range c.ran() {
		if want := map[bool]int{true: 2, false: 1}[n == 51]; times != want {
			t.Errorf("call %d ran %d times", n, times)
		}
	}
}

// LR-13: any replica takes a read or a search of a stored result to the one that has it.
func TestStoredResults(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for n := range size {
		c.start(n)
	}
	at := func(n int) string { return "http://" + c.addrs[n] + "/mcp" }
	store := func(owner int) string {
		a := c.callAt(at(owner), 1, "lines", `"arguments":{}`)
		if len(a.links) != 1 {
			t.Fatalf("no link: %+v", a)
		}
		return a.links[0]
	}
	search := func(n int, uri string) answer {
		return c.callAt(at(n), 3, "result_search", fmt.Sprintf(`"arguments":{"uri":%q,"pattern":"19999"}`, uri))
	}
	for owner := range size {
		uri := store(owner)
		for other := range size {
			if a := c.read(at(other), 2, uri+"?offset=9999&limit=1"); a.text != "10000\n" {
				t.Errorf("stored at %d, read at %d: %+v", owner, other, a)
			}
			if a := search(other, uri); !strings.HasPrefix(a.text, "19998:108882:19999\n") {
				t.Errorf("stored at %d, searched at %d: %+v", owner, other, a)
			}
		}
	}
	uri, elsewhere := store(0), store(1)
	forged := uri[:strings.LastIndex(uri, "/")] + elsewhere[strings.LastIndex(elsewhere, "/"):]
	if a := c.read(at(2), 2, forged); !strings.Contains(a.fault, "Resource not found") {
		t.Errorf("with the owner of another result: %+v", a)
	}
	c.stop(0, syscall.SIGKILL)
	if a := c.read(at(2), 2, uri); a.status != http.StatusOK || !strings.Contains(a.fault, "Resource not found") {
		t.Errorf("%+v", a)
	}
	if a := search(2, uri); a.status != http.StatusOK || !strings.Contains(a.fault, "Resource not found") {
		t.Errorf("%+v", a)
	}
	c.start(0)
	for n := range size {
		if a := c.read(at(n), 2, uri); !strings.Contains(a.fault, "Resource not found") {
			t.Errorf("after a restart: %+v", a)
		}
	}
}

// TASK-41: any replica takes a request for a task to the one that has it.
func TestTasks(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for n := range size {
		c.start(n)
	}
	at := func(n int) string { return "http://" + c.addrs[n] + "/mcp" }
	begin := func(owner, n int) (arguments string) {
		a := c.callAt(at(owner), n, "wait", fmt.Sprintf(`"arguments":{"n":%d}`, n))
		_, id, _ := strings.Cut(a.text, "Task ")
		id, _, ok := strings.Cut(id, " ")
		if !ok {
			t.Fatalf("no handle: %+v", a)
		}
		return `"arguments":{"taskId":"` + id + `"}`
	}
	for owner := range size {
		task := begin(owner, owner)
		for other := range size {
			if a := c.callAt(at(other), 100, "task_status", task); !strings.Contains(a.text, "still runs") {
				t.Errorf("begun at %d, asked at %d: %+v", owner, other, a)
			}
		}
		if err := os.WriteFile(filepath.Join(c.root, fmt.Sprint("go.", owner)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for other := range size {
			a := c.callAt(at(other), 101, "task_wait", task)
			for strings.Contains(a.text, "still runs") {
				a = c.callAt(at(other), 101, "task_wait", task)
			}
			if a.text != fmt.Sprint("waited ", owner) {
				t.Errorf("begun at %d, awaited at %d: %+v", owner, other, a)
			}
		}
	}
	task := begin(0, 10)
	c.stop(0, syscall.SIGKILL)
	if a := c.callAt(at(1), 102, "task_wait", task); a.status != http.StatusOK ||
		!strings.Contains(a.fault, "Task not found") {
		t.Errorf("%+v", a)
	}
	c.start(0)
	for n := range size { // TASK-41, TASK-62: others notice that the process is another one
		if a := c.callAt(at(n), 103, "task_wait", task); !strings.Contains(a.text+a.fault,
			map[bool]string{true: "no such task", false: "Task not found"}[n == 0]) {
			t.Errorf("after a restart: %+v", a)
		}
	}
}
