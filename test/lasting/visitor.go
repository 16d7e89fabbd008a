//go:build linux

package lasting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A visitor is the client of one worker over HTTP. It has one connection to each server.
type visitor struct {
	client  http.Client
	session string
	owner   *server // of the session
	turn    int     // the server after that of the worker that is asked
}

func newVisitor() *visitor {
	return &visitor{client: http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1}}}
}

// errAgain is the error for a request that no server has accepted: another one gets it.
var errAgain = errors.New("not accepted")

// ask makes a call. If the server of the worker is gone, it goes to the next one.
func (w *worker) ask(c *call) {
	for end := time.Now().Add(patience); w.r.ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		err := w.attempt(c)
		if !errors.Is(err, errAgain) {
			if err != nil {
				w.r.violate("call %d (%s): %v", c.N, c.Kind, err)
			}
			return
		}
		if time.Now().After(end) {
			w.r.violate("call %d (%s): no server accepts it", c.N, c.Kind)
			return
		}
		w.web.turn++
	}
	w.r.finish(c, lost) // the run ends
}

// unreachable is somewhat less than the time in which a replica must reach another one (H-33).
const unreachable = 2500 * time.Millisecond

// target is the server that gets the next request: the last one that was started in a slot, even if the plan ends it.
func (w *worker) target() *server {
	s := w.r.slots[(w.slot.n+w.web.turn)%len(w.r.slots)]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (w *worker) attempt(c *call) error {
	v := w.web
	target := w.target()
	if !w.stateless && v.session == "" {
		if err := w.begin(target); err != nil {
			return err
		}
	}
	owner := target
	if !w.stateless {
		owner = v.owner
		if target = v.owner; w.random.IntN(10) == 0 { // another replica passes it on
			target = w.target()
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	leaves := c.Kind == cancel
	if moment := w.leaves.Swap(0); moment != 0 || leaves {
		leaves = true
		time.AfterFunc(time.Duration(moment%30)*time.Millisecond+time.Duration(c.N%10)*time.Millisecond, stop)
	}
	method, params, name := c.request(w.r.stage, w.stateless)
	began := time.Now()
	w.r.send(c, owner.slot, w.stateless)
	status, text, err := w.post(ctx, target, method, name,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.N, method, params))
	if err != nil && leaves && ctx.Err() != nil {
		w.r.finish(c, left)
		return nil
	}
	if err != nil {
		return w.failed(c, target, err)
	}
	switch {
	case status == http.StatusNotFound && !w.stateless && owner.fate() != "":
		v.session = ""
		return errAgain
	case status == http.StatusNotFound && target != owner && time.Since(began) > unreachable:
		return errAgain // on a busy machine
	case status == http.StatusServiceUnavailable && (target.fate() == endServer || owner.fate() == endServer):
		v.session = ""
		return errAgain
	case status != http.StatusOK && target != owner && owner.fate() == killServer:
		w.r.finish(c, lost) // while it was passed on
		v.session = ""
		return nil
	case status != http.StatusOK:
		return fmt.Errorf("server %d: status %d: %.1000s", target.n, status, text)
	}
	return w.take(c, owner, text)
}

// take compares the answer in a response.
func (w *worker) take(c *call, owner *server, text []byte) error {
	answers := messages(text)
	if len(answers) != 1 {
		return fmt.Errorf("server %d: %d answers: %.1000s", owner.n, len(answers), text)
	}
	a, err := parseAnswer(answers[0])
	if err != nil || string(a.ID) != strconv.Itoa(c.N) {
		return fmt.Errorf("server %d: %v: %.1000s", owner.n, err, text)
	}
	w.r.answered(c)
	w.r.check(c, a, owner.slot)
	return nil
}

// messages returns the answers in a body, which is one or is a stream of events.
func messages(text []byte) (list [][]byte) {
	if bytes.HasPrefix(text, []byte("{")) {
		return [][]byte{text}
	}
	for line := range bytes.Lines(text) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.Contains(data, []byte(`"id":`)) {
			list = append(list, bytes.TrimSpace(data))
		}
	}
	return list
}

// failed handles a request without a response.
func (w *worker) failed(c *call, target *server, err error) error {
	fate := target.fate()
	if op := new(net.OpError); errors.As(err, &op) && op.Op == "dial" && fate != "" {
		w.web.session = ""
		return errAgain
	}
	// A request that a server refuses when it ends can connect again to the next one at that address.
	if fate == killServer || fate == endServer && target.wasKilled(c.Sent) {
		w.web.session = ""
		w.r.finish(c, lost)
		return nil
	}
	return fmt.Errorf("server %d (%q): %w", target.n, fate, err)
}

// begin begins a session.
func (w *worker) begin(target *server) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	for i, text := range []string{`{"jsonrpc":"2.0","id":"greeting","method":"initialize","params":{` +
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lasting","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
		began := time.Now()
		status, body, err := w.post(ctx, target, "initialize", "", text)
		switch {
		case bytes.Contains(body, []byte(unrecorded)) && target.required && target.wasFull(began):
			return errAgain
		case (err != nil || status/100 != 2) && target.fate() != "":
			w.web.session = ""
			return errAgain
		case err != nil:
			return fmt.Errorf("begin a session at server %d: %w", target.n, err)
		case status/100 != 2 || w.web.session == "":
			return fmt.Errorf("begin a session at server %d: %d: %s", target.n, status, body)
		}
		w.web.owner = target
		if i == 0 && target.fate() != "" { // it may have passed the session on
			w.web.session = ""
			return errAgain
		}
	}
	return nil
}

// post sends a message and returns its response.
func (w *worker) post(ctx context.Context, target *server, method, name, text string) (int, []byte, error) {
	url := "http://" + target.address + "/mcp"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if w.stateless {
		request.Header.Set("MCP-Protocol-Version", "2026-07-28")
		request.Header.Set("Mcp-Method", method)
		if name != "" {
			request.Header.Set("Mcp-Name", name)
		}
	} else if w.web.session != "" {
		request.Header.Set("MCP-Protocol-Version", "2025-11-25")
		request.Header.Set("Mcp-Session-Id", w.web.session)
	}
	response, err := w.web.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	if session := response.Header.Get("Mcp-Session-Id"); session != "" && method == "initialize" {
		w.web.session = session
	}
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// end ends the session and closes the connections. Some clients do not end it.
func (w *worker) end() {
	defer w.web.client.CloseIdleConnections()
	session, owner := w.web.session, w.web.owner
	w.web.session = ""
	if session == "" || w.random.IntN(3) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+owner.address+"/mcp", nil)
	if err != nil {
		return
	}
	request.Header.Set("MCP-Protocol-Version", "2025-11-25")
	request.Header.Set("Mcp-Session-Id", session)
	response, err := w.web.client.Do(request)
	if err == nil {
		response.Body.Close()
	}
	if owner.fate() == "" && (err != nil || response.StatusCode/100 != 2) {
		w.r.violate("end a session: %v, %v", response, err)
	}
}
