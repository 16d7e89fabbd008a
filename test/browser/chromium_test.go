//go:build browser

package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long anything may take before a test fails.
const patience = 90 * time.Second

// A chromium is a running browser. The DevTools protocol is spoken over two
// pipes (--remote-debugging-pipe): one JSON object and a NUL for each message.
type chromium struct {
	to io.Writer

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	events  map[string]func(method string, params json.RawMessage) // by session
	gone    error
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// start starts a browser that ends with the test.
func start(t *testing.T) *chromium {
	t.Helper()
	program := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); program == "" && err == nil {
			program = path
		}
	}
	if program == "" {
		t.Fatal("no Chromium found: install it (Debian: apt-get install -y chromium), or set CHROMIUM to a browser of its " +
			"family")
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--force-color-profile=srgb",
		// One process for a page and the view in it, so that one session sees both.
		"--disable-site-isolation-trials", "--disable-features=IsolateSandboxedIframes,IsolateOrigins,site-per-process",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{inRead, outWrite}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inRead.Close()
	outWrite.Close()
	c := &chromium{to: inWrite, waiting: map[int]chan reply{}, events: map[string]func(string, json.RawMessage){}}
	go c.read(outRead)
	t.Cleanup(func() {
		c.call("", "Browser.close", nil)
		killer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		cmd.Wait()
		killer.Stop()
		inWrite.Close()
		outRead.Close()
		if t.Failed() {
			for line := range strings.Lines(stderr.String()) {
				// no desktop, no GPU
				if !strings.Contains(line, ":ERROR:dbus/") && !strings.Contains(line, "shared_image") {
					t.Logf("Chromium said: %s", line)
				}
			}
		}
	})
	return c
}

func (c *chromium) read(from io.Reader) {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.gone = fmt.Errorf("the browser is gone: %w", err)
			for _, ch := range c.waiting {
				close(ch)
			}
			return
		}
		var message struct {
			reply
			ID        int
			Method    string
			Params    json.RawMessage
			SessionID string `json:"sessionId"`
		}
		if json.Unmarshal(line[:len(line)-1], &message) != nil {
			continue
		}
		c.mu.Lock()
		waiting, event := c.waiting[message.ID], c.events[message.SessionID]
		delete(c.waiting, message.ID)
		c.mu.Unlock()
		switch {
		case message.Method == "" && waiting != nil:
			waiting <- message.reply
		case message.Method != "" && event != nil:
			event(message.Method, message.Params)
		}
	}
}

// call is one command of the protocol; session "" is the browser itself.
func (c *chromium) call(session, method string, params any) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	c.mu.Lock()
	if c.gone != nil {
		c.mu.Unlock()
		return nil, c.gone
	}
	c.last++
	message := map[string]any{"id": c.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	c.waiting[c.last] = answer
	line, err := json.Marshal(message)
	if err == nil {
		_, err = c.to.Write(append(line, 0))
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case r, ok := <-answer:
		switch {
		case !ok:
			return nil, c.gone
		case r.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		return r.Result, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("%s: no answer", method)
	}
}

// listen hands over what happens in a session.
func (c *chromium) listen(session string, f func(method string, params json.RawMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events[session] = f
}
