//go:build browser

package browser

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A tab is a page of the browser.
type tab struct {
	t       *testing.T
	browser *chromium
	session string

	mu       sync.Mutex
	view     int             // the execution context of a sandboxed frame
	faults   []string        // errors and warnings on the console
	requests []string        // URLs that the page requested
	dragged  json.RawMessage // the data of the drag that the mouse began
}

// newTab opens a tab. It is closed after the test, which fails if the page has logged errors or
// requested a URL that is not expected.
func newTab(t *testing.T, c *chromium, expected func(url string) bool) *tab {
	t.Helper()
	p := &tab{t: t, browser: c}
	var target struct{ TargetID string }
	p.decode(&target)(c.call("", "Target.createTarget", map[string]any{"url": "about:blank"}))
	var attached struct{ SessionID string }
	p.decode(&attached)(c.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID,
		"flatten": true}))
	p.session = attached.SessionID
	t.Cleanup(func() {
		p.mu.Lock()
		faults, requests := p.faults, p.requests
		p.mu.Unlock()
		for _, fault := range faults {
			t.Errorf("the browser reports: %s", fault)
		}
		for _, u := range requests {
			if !expected(u) {
				t.Errorf("the page requested %s", u)
			}
		}
		c.call("", "Target.closeTarget", map[string]any{"targetId": target.TargetID})
	})
	c.listen(p.session, p.event)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.command(domain+".enable", nil)
	}
	return p
}

func (p *tab) event(method string, params json.RawMessage) {
	var e struct {
		Context struct {
			ID      int
			Origin  string
			AuxData struct{ IsDefault bool }
		}
		Type  string
		Data  json.RawMessage
		Entry struct{ Level, Text, URL string }
		Args  []struct {
			Value       any
			Description string
		}
		Request          struct{ URL string }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fault := func(format string, args ...any) { p.faults = append(p.faults, fmt.Sprintf(format, args...)) }
	switch method {
	case "Runtime.executionContextCreated":
		if e.Context.AuxData.IsDefault && !strings.HasPrefix(e.Context.Origin, "http") {
			p.view = e.Context.ID // of an opaque origin, because it is sandboxed
		}
	case "Runtime.exceptionThrown":
		fault("%s %s", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description)
	case "Runtime.consoleAPICalled":
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			fault("console.%s %v", e.Type, e.Args)
		}
	case "Log.entryAdded":
		const late = "preloaded using link preload but not used within a few seconds" // on a busy machine
		isLate := strings.Contains(e.Entry.Text, late)
		if e.Entry.Level == "error" || e.Entry.Level == "warning" && !isLate {
			fault("%s %s", e.Entry.Text, e.Entry.URL)
		}
	case "Input.dragIntercepted":
		p.dragged = e.Data
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, e.Request.URL)
	}
}

// complaints takes what the browser has complained of so far.
func (p *tab) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := p.faults
	p.faults = nil
	return faults
}

func (p *tab) decode(into any) func(json.RawMessage, error) {
	return func(result json.RawMessage, err error) {
		p.t.Helper()
		if err == nil && into != nil {
			err = json.Unmarshal(result, into)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *tab) command(method string, params any) json.RawMessage {
	p.t.Helper()
	result, err := p.browser.call(p.session, method, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

// evaluate runs an expression and returns its value as JSON.
func (p *tab) evaluate(expression string, context int) string {
	p.t.Helper()
	params := map[string]any{"expression": "JSON.stringify(" + expression + ")", "returnByValue": true,
		"awaitPromise": true}
	if context != 0 {
		params["contextId"] = context
	}
	var got struct {
		Result           struct{ Value string }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.decode(&got)(p.command("Runtime.evaluate", params), nil)
	if got.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, got.ExceptionDetails.Exception.Description)
	}
	return got.Result.Value
}

// until polls for a condition.
func (p *tab) until(what string, ok func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("waited in vain for %s; the view says %s", what, p.evaluate(`document.body.innerText`, 0))
		}
	}
}

// press presses keys one after the other: "Tab", "Enter", "ArrowDown", ...
func (p *tab) press(keys ...string) {
	p.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37,
		"ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
	for _, key := range keys {
		code := codes[key]
		if code == 0 {
			p.t.Fatalf("no code for the key %q", key)
		}
		event := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
		switch key {
		case "Enter":
			event["text"] = "\r"
		case " ":
			event["text"], event["code"] = " ", "Space"
		}
		p.command("Input.dispatchKeyEvent", event)
		p.command("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": event["code"],
			"windowsVirtualKeyCode": code})
	}
}

// clip returns a picture of a part of the page, and stores it below dist/screenshots.
func (p *tab) clip(name string, width, height float64) []byte {
	p.t.Helper()
	var got struct{ Data string }
	p.decode(&got)(p.command("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
		"clip": map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}), nil)
	picture, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "dist", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
	return picture
}
