//go:build linux

package endurance

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// The minimum number of clients in the test, and the number of concurrent clients.
const (
	visitors = 1000
	crowd    = 24
)

// Clients of both protocols come over HTTP, and leave in good order or not. Nothing of them remains: no session,
// stream, goroutine, descriptor, process or file, and no memory (H-36, H-47).
func TestComingAndGoing(t *testing.T) {
	bin := t.TempDir()
	if err := checkout.BuildLikeTests(bin, "mcp-bash/cmd/mcp-bash"); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, binary: bin + "/mcp-bash", tmp: t.TempDir(), cache: t.TempDir(),
		tag: fmt.Sprintf("visitors-%d-%d", os.Getpid(), *seed)}
	h.stage(t)
	s := h.serve()
	visits := func(least int, until time.Time) {
		var count atomic.Int64
		var group sync.WaitGroup
		for i := range crowd {
			random := rand.New(rand.NewPCG(*seed, uint64(i)))
			group.Go(func() {
				for n := count.Add(1); (n <= int64(least) || time.Now().Before(until)) && !t.Failed(); n = count.Add(1) {
					if err := s.visit(random); err != nil {
						t.Errorf("visitor %d: %v", n, err)
					}
				}
			})
		}
		group.Wait()
		t.Logf("%d visitors", count.Load()-crowd)
	}
	visits(visitors/5, time.Time{}) // now the server has what it creates only once
	descriptors, memory := s.atRest(t, 0, 0)
	visits(visitors, time.Now().Add(*duration))
	bound := memory + memory/4
	if checkout.Race { // the detector keeps memory for everything that was used once
		bound = 4 * memory
	}
	if files, kb := s.atRest(t, descriptors+4, bound); files > descriptors+4 || kb > bound {
		t.Errorf("at rest the server has %d descriptors and %d kB, and had %d and %d", files, kb, descriptors, memory)
	}
	if left := len(h.processes()); left > 1 {
		t.Errorf("%d processes of scripts are left", left-1)
	}
	s.cmd.Process.Signal(syscall.SIGQUIT) // prints all goroutines
	<-s.ended
	if n := strings.Count(s.stderr.String(), "\ngoroutine "); n == 0 || n > 30 {
		t.Errorf("at rest there are %d goroutines:\n%.20000s", n, s.stderr.String())
	}
}

// A site is a server over HTTP.
type site struct {
	cmd    *exec.Cmd
	url    string
	ended  chan struct{}
	stderr bytes.Buffer // to be read after ended
}

// sessionIdle is how long a session lives whose client has left without a word.
const sessionIdle = 2 * time.Second

func (h *house) serve() *site {
	h.t.Helper()
	s := &site{cmd: h.command(), ended: make(chan struct{})}
	s.cmd.Args = append(s.cmd.Args, "serve", "--http", "127.0.0.1:0")
	s.cmd.Env = append(s.cmd.Env, fmt.Sprintf("MCPBASH_HTTP_SESSION_IDLE=%g", sessionIdle.Seconds()),
		"MCPBASH_HTTP_RATE=0", "MCPBASH_MAX_QUEUED_REQUESTS=1000")
	printed, err := s.cmd.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	lines := bufio.NewReader(printed)
	for s.url == "" {
		line, err := lines.ReadString('\n')
		if _, address, found := strings.Cut(line, "serving "); found {
			s.url = strings.TrimSpace(address)
		} else if err != nil {
			h.t.Fatalf("the server does not start: %s", line)
		}
	}
	go func() {
		io.Copy(&s.stderr, lines)
		s.cmd.Wait()
		close(s.ended)
	}()
	h.t.Cleanup(func() {
		s.cmd.Process.Kill()
		<-s.ended
	})
	return s
}

// atRest returns the descriptors and the memory in kB of a server that nobody uses. It waits until the sessions have
// ended, and then until both are below the bounds, unless these are 0.
func (s *site) atRest(t *testing.T, files, kb int) (descriptors, memory int) {
	s.awaitSessions(t)
	proc := "/proc/" + strconv.Itoa(s.cmd.Process.Pid)
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		list, _ := os.ReadDir(proc + "/fd")
		status, _ := os.ReadFile(proc + "/status")
		_, after, _ := strings.Cut(string(status), "VmRSS:")
		fmt.Sscan(after, &memory)
		descriptors = len(list)
		if files == 0 || descriptors <= files && memory <= kb || time.Now().After(end) {
			return descriptors, memory
		}
	}
}

// awaitSessions waits until the server has ended all sessions. A further session ends after all others. A request to it
// fails then, but would keep it if it came earlier, so requests are further apart than the time of idle sessions.
func (s *site) awaitSessions(t *testing.T) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	last := &visitor{site: s, http: http.Client{Transport: transport}, version: "2025-11-25"}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	err := last.ask(ctx, "initialize", `"protocolVersion":"2025-11-25","capabilities":{},`+
		`"clientInfo":{"name":"last","version":"1"}`)
	for ended := false; err == nil && !ended; {
		time.Sleep(3 * sessionIdle / 2)
		var response *http.Response
		if response, err = last.post(ctx, "ping", ""); err == nil {
			ended = response.StatusCode == http.StatusNotFound
			response.Body.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A visitor is a client with its own connections.
type visitor struct {
	*site
	http    http.Client
	version string
	session string
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

// visit is one client from its first request to its last. How it leaves is a matter of chance.
func (s *site) visit(random *rand.Rand) error {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	v := &visitor{site: s, http: http.Client{Transport: transport}, version: "2025-11-25"}
	ctx, leave := context.WithTimeout(context.Background(), patience)
	defer leave()
	isStateless := random.IntN(2) == 0
	var err error
	if isStateless {
		v.version = "2026-07-28"
	} else if err = v.ask(ctx, "initialize", `"protocolVersion":"2025-11-25","capabilities":{},`+
		`"clientInfo":{"name":"visitor","version":"1"}`); err == nil {
		err = v.ask(ctx, "notifications/initialized", "")
	}
	if err == nil {
		err = v.ask(ctx, "tools/list", "")
	}
	if err == nil && random.IntN(8) == 0 {
		err = v.ask(ctx, "tools/call", `"name":"calm","arguments":{}`)
	}
	if err != nil {
		return err
	}
	switch random.IntN(4) {
	case 0: // leaves in the middle of a call
		short, stop := context.WithTimeout(ctx, time.Duration(random.IntN(100))*time.Millisecond)
		defer stop()
		v.ask(short, "tools/call", `"name":"calm","arguments":{}`)
	case 1: // leaves an open stream
		stream, err := v.listen(ctx)
		if err != nil {
			return err
		}
		leave()
		stream.Close()
	case 2: // ends the session, with a stream open
		if isStateless {
			return nil
		}
		stream, err := v.listen(ctx)
		if err != nil {
			return err
		}
		defer stream.Close()
		return v.end(ctx)
	}
	return nil
}

func (v *visitor) request(ctx context.Context, method, body string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, v.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Protocol-Version", v.version)
	if v.session != "" {
		r.Header.Set("Mcp-Session-Id", v.session)
	}
	return r, nil
}

// post sends a message, and returns its response.
func (v *visitor) post(ctx context.Context, method, params string) (*http.Response, error) {
	if v.version == "2026-07-28" {
		if params != "" {
			params += ","
		}
		params += meta
	}
	id := `"id":1,`
	if strings.HasPrefix(method, "notifications/") {
		id = ""
	}
	r, err := v.request(ctx, "POST", `{"jsonrpc":"2.0",`+id+`"method":"`+method+`","params":{`+params+`}}`)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Mcp-Method", method)
	if method == "tools/call" {
		r.Header.Set("Mcp-Name", "calm")
	}
	return v.http.Do(r)
}

// ask sends a message and demands an answer without an error.
func (v *visitor) ask(ctx context.Context, method, params string) error {
	response, err := v.post(ctx, method, params)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 || bytes.Contains(body, []byte(`"error":`)) {
		return fmt.Errorf("%s: %s: %.300s", method, response.Status, body)
	}
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		v.session = id
	}
	return nil
}

// listen opens a stream.
func (v *visitor) listen(ctx context.Context) (io.ReadCloser, error) {
	var response *http.Response
	var err error
	if v.session == "" {
		response, err = v.post(ctx, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	} else {
		var r *http.Request
		if r, err = v.request(ctx, "GET", ""); err == nil {
			response, err = v.http.Do(r)
		}
	}
	if err == nil && response.StatusCode != http.StatusOK {
		response.Body.Close()
		err = fmt.Errorf("no stream: %s", response.Status)
	}
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// end ends the session.
func (v *visitor) end(ctx context.Context) error {
	r, err := v.request(ctx, "DELETE", "")
	if err != nil {
		return err
	}
	response, err := v.http.Do(r)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("DELETE: %s", response.Status)
	}
	return nil
}
