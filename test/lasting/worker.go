//go:build linux

package lasting

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A worker makes one call after the other, until a phase ends.
type worker struct {
	r      *run
	n      int
	slot   *slot
	random *rand.Rand

	stateless bool
	web       *visitor      // over HTTP
	leaves    atomic.Uint64 // over HTTP: it gives up its next call; decides when
}

// workersPerSlot is the number of calls that a server has at a time.
var workersPerSlot = map[string]int{"stdio": 3, "http": 8}

func (r *run) workers() (list []*worker) {
	for _, s := range r.slots {
		for range workersPerSlot[r.Over] {
			n := len(list)
			w := &worker{r: r, n: n, slot: s, stateless: s.stateless, random: rand.New(rand.NewPCG(r.Seed, 1<<40+uint64(n)))}
			if r.Over == "http" {
				w.stateless = n%2 == 1
				w.web = newVisitor()
			}
			list = append(list, w)
		}
	}
	return list
}

// refusedPause is how long a client waits before it tries again.
const refusedPause = 25 * time.Millisecond

func (w *worker) run() {
	for c := w.r.next(w.n); c != nil; c = w.r.next(w.n) {
		w.do(c)
		if c.End == refused {
			time.Sleep(refusedPause) // such answers come at once, and would be most of the calls
		}
	}
	if w.web != nil {
		w.end()
	}
}

func (w *worker) do(c *call) {
	if w.web != nil {
		w.ask(c)
		return
	}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if srv := w.slot.current.Load(); srv != nil {
			srv.callOverPipe(c, w.stateless)
			return
		}
		if w.r.ctx.Err() != nil || time.Now().After(end) {
			w.r.finish(c, lost) // the run ends
			return
		}
	}
}

// callOverPipe makes a call and waits for its answer, or for the end of the server.
func (srv *server) callOverPipe(c *call, stateless bool) {
	r := srv.run
	waiter := srv.pipe.expect(c)
	method, params, _ := c.request(r.stage, stateless)
	r.send(c, srv.slot, stateless)
	srv.pipe.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.N, method, params))
	if c.Kind == cancel {
		time.Sleep(time.Duration(c.N%40) * time.Millisecond) // a moment of the call
		srv.pipe.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, c.N))
		r.finish(c, left)
		return
	}
	select {
	case a := <-waiter.answer:
		srv.pipe.forget(c)
		r.check(c, a, srv.slot)
		return
	case <-srv.pipe.over:
	case <-time.After(patience):
		r.violate("server %d: call %d (%s) is not answered", srv.n, c.N, c.Kind)
		return
	}
	select {
	case a := <-waiter.answer:
		r.check(c, a, srv.slot)
	default:
		if fate := srv.fate(); fate != killServer && fate != vanish {
			r.violate("server %d ends before call %d (%s) is answered: %.3000s", srv.n, c.N, c.Kind, srv.log.Bytes())
		}
		r.finish(c, lost)
	}
}

// send notes the moment in which a call is sent.
func (r *run) send(c *call, s *slot, stateless bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Slot, c.Sent, c.Stateless = s.n, time.Now(), stateless
	if c.Kind == list && !s.fresh {
		c.spans[0].low = 0
	}
}

// answered counts an answer.
func (r *run) answered(c *call) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Answers++
	return c.Answers
}

// finish notes what came of a call.
func (r *run) finish(c *call, end ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Got, c.End, c.pad, c.spans = time.Now(), end, "", nil
	if c.Quiet && !c.extra && end != right && end != left && len(r.violations) == 0 && r.ctx.Err() == nil {
		r.violations = append(r.violations, fmt.Sprintf("call %d (%s) in a quiet phase: %s", c.N, c.Kind, end))
		r.cancel()
	}
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"lasting","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

// request returns the members of a request. The name belongs into its header Mcp-Name.
func (c *call) request(s *stage, stateless bool) (method, params, name string) {
	begin := func(names ...string) {
		c.spans = nil
		for _, name := range names {
			c.spans = append(c.spans, s.file(name).begin())
		}
	}
	switch c.Kind {
	case read:
		begin("resources/notes.txt")
		name = s.uri()
		method, params = "resources/read", fmt.Sprintf(`"uri":%q`, name)
	case prompt:
		begin("prompts/greeting.txt")
		name = "greeting"
		method, params = "prompts/get", fmt.Sprintf(`"name":"greeting","arguments":{"name":"%d"}`, c.N)
	case complete:
		method = "completion/complete"
		params = `"ref":{"type":"ref/prompt","name":"greeting"},"argument":{"name":"name","value":"A"}`
	case list:
		begin("tools/plain/tool.meta.json")
		method = "tools/list"
	case ping:
		method = map[bool]string{true: "server/discover", false: "ping"}[stateless]
	default:
		name = string(c.Kind)
		if c.Kind == cancel {
			name = "hang"
		}
		if c.Kind == plain || c.Kind == sdk || c.Kind == confined {
			begin("tools/" + name + "/tool.sh")
		}
		method, params = "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, name, c.arguments())
	}
	if stateless && params != "" {
		params += ","
	}
	if stateless {
		params += meta
	}
	return method, params, name
}

func (c *call) arguments() string { return fmt.Sprintf(`{"n":%d,"pad":%q}`, c.N, c.pad) }

// check compares an answer with the one that the call should have.
func (r *run) check(c *call, a *answer, s *slot) {
	end, err := r.compare(c, a, s)
	if err != nil {
		r.violate("call %d (%s) to server %d: %v: %.1000s", c.N, c.Kind, s.n, err, a.text)
		return
	}
	r.finish(c, end)
}

// The message for a request that cannot be recorded.
const unrecorded = "The server cannot record this request, and does nothing without a record"

// signalled is the status of a script that was killed.
const signalled = 128 + 9

func (r *run) compare(c *call, a *answer, s *slot) (ending, error) {
	if a.Error != nil {
		if a.Error.Message == unrecorded && s.required && s.wasFull(c.Sent) {
			return refused, nil
		}
		return "", fmt.Errorf("an error")
	}
	status := 0
	if a.Result.Meta.ExitCode != nil {
		status = *a.Result.Meta.ExitCode
	}
	if a.Result.IsError && status == signalled && r.wasKilled(c) {
		return killed, nil
	}
	want := map[kind]int{fail: 3, hang: 124}[c.Kind]
	if a.Result.IsError != (want != 0) || status != want {
		return "", fmt.Errorf("the wrong status")
	}
	if !c.isRight(a) {
		return "", fmt.Errorf("the wrong content")
	}
	return right, nil
}

func (r *run) wasKilled(c *call) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.Killed
}

// isRight reports whether an answer has the content for its call.
func (c *call) isRight(a *answer) bool {
	result, text := a.Result, ""
	if len(result.Content) > 0 {
		text = result.Content[0].Text
	}
	switch c.Kind {
	case plain, confined:
		return c.spans[0].has(text, string(c.Kind)+" ", " "+c.arguments())
	case sdk:
		return c.spans[0].has(text, `{"success":true,"result":{"version":"`, `","n":"`+strconv.Itoa(c.N)+`"}}`) &&
			string(result.StructuredContent) == text
	case large:
		return strings.HasPrefix(text, "large "+c.arguments()[:min(len(c.arguments()), 1000)]) &&
			strings.HasSuffix(text, fmt.Sprintf("\n%d\n", largeLines)) && len(result.Content) == 2 &&
			strings.HasPrefix(result.Content[1].URI, "mcpbash-result://")
	case read:
		return len(result.Contents) == 1 && c.spans[0].has(result.Contents[0].Text, "notes ", "\n")
	case prompt:
		return len(result.Messages) == 1 &&
			c.spans[0].has(result.Messages[0].Content.Text, fmt.Sprintf("Greet %d ", c.N), "")
	case complete:
		return len(result.Completion.Values) == 1 && result.Completion.Values[0] == "Ada"
	case list:
		return c.isRightList(a)
	}
	return true
}

// tools are the tools of the project.
const tools = 6

// isRightList compares a list of tools. A server that keeps its lists for a while may answer with an old version.
func (c *call) isRightList(a *answer) bool {
	if len(a.Result.Tools) != tools {
		return false
	}
	for _, tool := range a.Result.Tools {
		if tool.Name == "plain" {
			return c.spans[0].has(tool.Description, "version ", "")
		}
	}
	return false
}

// wasFull reports whether the record of a server had no room at some moment from a time on.
func (s *slot) wasFull(since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.windows {
		if w.to.IsZero() || w.to.After(since) {
			return true
		}
	}
	return false
}
