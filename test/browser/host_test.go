//go:build browser

package browser

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
)

//go:embed host.html
var hostPage []byte

// policy is what a host applies to a view that declares no domains (resources
// RES-402).
const policy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; media-src 'self' data:; connect-src 'none'"

// A host is a page that shows one view.
type host struct {
	t       *testing.T
	browser *chromium
	session string

	mu       sync.Mutex
	view     int      // the view's execution context
	faults   []string // errors on the console, and requests for anything else
	requests []string
	dragged  json.RawMessage // the data of the drag that the mouse began
}

// wish is what a test wants of the host.
type wish struct {
	Theme   string         `json:"theme"`
	NoTools bool           `json:"noTools,omitempty"` // serverTools is not offered
	Arrays  bool           `json:"arrays,omitempty"`  // ui/message takes an array, as newer hosts do
	Answers map[string]any `json:"answers,omitempty"`
	Context map[string]any `json:"context,omitempty"`
	Width   int            `json:"-"`
}

// text is the result of a tool that prints some.
func text(s string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}}
}

// show opens a page with the view, and waits until the view has introduced
// itself. When the test is over, nothing may have gone to the console as an
// error and nothing may have been asked of the network.
func (c *chromium) show(t *testing.T, document []byte, w wish) *host {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch in.URL.Path {
		case "/host":
			out.Write(hostPage)
		case "/view":
			out.Header().Set("Content-Security-Policy", policy)
			out.Write(document)
		default:
			http.NotFound(out, in)
		}
	}))
	t.Cleanup(server.Close)
	h := &host{t: t, browser: c}
	if w.Theme == "" {
		w.Theme = "light"
	}
	if w.Width == 0 {
		w.Width = 760
	}
	var target struct{ TargetID string }
	h.decode(&target)(c.call("", "Target.createTarget", map[string]any{"url": "about:blank"}))
	var attached struct{ SessionID string }
	h.decode(&attached)(c.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID,
		"flatten": true}))
	h.session = attached.SessionID
	t.Cleanup(func() {
		h.mu.Lock()
		faults, requests := h.faults, h.requests
		h.mu.Unlock()
		for _, fault := range faults {
			t.Errorf("the browser complains: %s", fault)
		}
		for _, u := range requests {
			if u != server.URL+"/view" && !strings.HasPrefix(u, server.URL+"/host") && !strings.HasPrefix(u, "data:") {
				t.Errorf("the view asked for %s", u)
			}
		}
		c.call("", "Target.closeTarget", map[string]any{"targetId": target.TargetID})
	})
	c.listen(h.session, h.event)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		h.command(domain+".enable", nil)
	}
	h.command("Emulation.setDeviceMetricsOverride", map[string]any{"width": w.Width, "height": 620,
		"deviceScaleFactor": 1, "mobile": false})
	h.command("Emulation.setEmulatedMedia",
		map[string]any{"features": []any{map[string]any{"name": "prefers-reduced-motion", "value": "reduce"}}})
	wishes, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	h.command("Page.navigate", map[string]any{"url": server.URL + "/host#" + url.PathEscape(string(wishes))})
	h.until("the view to connect", func() bool {
		return h.inHost(`typeof received !== "undefined" && of("ui/notifications/initialized").length === 1 && `+
			`of("ui/notifications/size-changed").length > 0`) == "true"
	})
	return h
}

func (h *host) event(method string, params json.RawMessage) {
	var p struct {
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
	if json.Unmarshal(params, &p) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	fault := func(format string, args ...any) { h.faults = append(h.faults, fmt.Sprintf(format, args...)) }
	switch method {
	case "Runtime.executionContextCreated":
		if p.Context.AuxData.IsDefault && !strings.HasPrefix(p.Context.Origin, "http") {
			h.view = p.Context.ID // of an opaque origin, because it is sandboxed
		}
	case "Runtime.exceptionThrown":
		fault("%s %s", p.ExceptionDetails.Text, p.ExceptionDetails.Exception.Description)
	case "Runtime.consoleAPICalled":
		if p.Type == "error" || p.Type == "warning" || p.Type == "assert" {
			fault("console.%s %v", p.Type, p.Args)
		}
	case "Log.entryAdded":
		if p.Entry.Level == "error" || p.Entry.Level == "warning" {
			fault("%s %s", p.Entry.Text, p.Entry.URL)
		}
	case "Input.dragIntercepted":
		h.dragged = p.Data
	case "Network.requestWillBeSent":
		h.requests = append(h.requests, p.Request.URL)
	}
}

// complaints takes what the browser has complained of so far.
func (h *host) complaints() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	faults := h.faults
	h.faults = nil
	return faults
}

func (h *host) decode(into any) func(json.RawMessage, error) {
	return func(result json.RawMessage, err error) {
		h.t.Helper()
		if err == nil && into != nil {
			err = json.Unmarshal(result, into)
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *host) command(method string, params any) json.RawMessage {
	h.t.Helper()
	result, err := h.browser.call(h.session, method, params)
	if err != nil {
		h.t.Fatal(err)
	}
	return result
}

// evaluate runs an expression and returns its value as JSON.
func (h *host) evaluate(expression string, context int) string {
	h.t.Helper()
	params := map[string]any{"expression": "JSON.stringify(" + expression + ")", "returnByValue": true,
		"awaitPromise": true}
	if context != 0 {
		params["contextId"] = context
	}
	var got struct {
		Result           struct{ Value string }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	h.decode(&got)(h.command("Runtime.evaluate", params), nil)
	if got.ExceptionDetails != nil {
		h.t.Fatalf("%s: %s", expression, got.ExceptionDetails.Exception.Description)
	}
	return got.Result.Value
}

func (h *host) inHost(expression string) string {
	h.t.Helper()
	return h.evaluate(expression, 0)
}

func (h *host) inView(expression string) string {
	h.t.Helper()
	h.mu.Lock()
	context := h.view
	h.mu.Unlock()
	return h.evaluate(expression, context)
}

// until polls for a condition.
func (h *host) until(what string, ok func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("waited in vain for %s; the view says %s", what, h.inView(`document.body.innerText`))
		}
	}
}

// want waits until an expression has a value in the view.
func (h *host) want(expression, value string) {
	h.t.Helper()
	got := ""
	for deadline := time.Now().Add(patience / 3); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = h.inView(expression); got == value {
			return
		}
	}
	h.t.Fatalf("%s is %s, want %s", expression, got, value)
}

// shows waits until an element shows a text.
func (h *host) shows(selector, text string) {
	h.t.Helper()
	h.want(fmt.Sprintf("document.querySelector(%s).innerText.trim()", quote(selector)), quote(text))
}

// gets waits for the latest message of a method that the view has sent, and
// compares its parameters.
func (h *host) gets(method, params string) {
	h.t.Helper()
	got := ""
	for deadline := time.Now().Add(patience / 3); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = h.inHost("of(" + quote(method) + ").at(-1)"); got == params {
			return
		}
	}
	h.t.Fatalf("the host got %s %s, want %s", method, got, params)
}

// result hands a tool's result to the view.
func (h *host) result(v any) {
	h.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		h.t.Fatal(err)
	}
	h.inHost("result(JSON.parse(" + quote(string(text)) + "))")
}

// data hands a tool's structured content to the view.
func (h *host) data(v string) {
	h.t.Helper()
	h.result(map[string]any{"content": []any{}, "structuredContent": json.RawMessage(v)})
}

// click presses the mouse in the middle of an element.
func (h *host) click(selector string) {
	h.t.Helper()
	x, y := h.at(selector)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		h.command("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left",
			"clickCount": 1})
	}
}

// at is where the middle of an element is. The view begins in the corner of
// the page.
func (h *host) at(selector string) (x, y float64) {
	h.t.Helper()
	var box []float64
	h.settle()
	h.inHost("window.scrollTo(0, 0)")
	h.until(selector, func() bool { return h.inView(`!!document.querySelector(`+quote(selector)+`)`) == "true" })
	h.inView(`document.querySelector(` + quote(selector) + `).scrollIntoView({block: "nearest"})`)
	raw := h.inView(`(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(` + quote(selector) +
		`).getBoundingClientRect())`)
	top := h.inHost("frame.getBoundingClientRect().y")
	var offset float64
	if json.Unmarshal([]byte(raw), &box) != nil || json.Unmarshal([]byte(top), &offset) != nil {
		h.t.Fatalf("%s is nowhere: %s", selector, raw)
	}
	return box[0], box[1] + offset
}

// settle waits until the frame is as high as the view has asked for.
func (h *host) settle() {
	h.t.Helper()
	h.until("the frame to have the height of the view", func() bool {
		return h.inView(
			`Math.abs(document.documentElement.getBoundingClientRect().height - window.innerHeight) <= 1`) == "true"
	})
}

// fill types into a field.
func (h *host) fill(selector, text string) {
	h.t.Helper()
	h.click(selector)
	h.want(`document.activeElement === document.querySelector(`+quote(selector)+`)`, "true")
	h.command("Input.insertText", map[string]any{"text": text})
}

// press presses keys one after the other: "Tab", "Enter", "ArrowDown", ...
func (h *host) press(keys ...string) {
	h.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37,
		"ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
	for _, key := range keys {
		code := codes[key]
		if code == 0 {
			h.t.Fatalf("no code for the key %q", key)
		}
		event := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
		switch key {
		case "Enter":
			event["text"] = "\r"
		case " ":
			event["text"], event["code"] = " ", "Space"
		}
		h.command("Input.dispatchKeyEvent", event)
		h.command("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": event["code"],
			"windowsVirtualKeyCode": code})
	}
}

// screenshot keeps a picture of the page below dist/screenshots, and returns
// it.
func (h *host) screenshot(name string) []byte {
	h.t.Helper()
	var size []float64
	if err := json.Unmarshal([]byte(h.inHost("[innerWidth, Math.max(frame.getBoundingClientRect().height, 60)]")),
		&size); err != nil {
		h.t.Fatal(err)
	}
	var got struct{ Data string }
	h.decode(&got)(h.command("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
		"clip": map[string]any{"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}}), nil)
	picture, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		h.t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "dist", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		h.t.Fatal(err)
	}
	return picture
}

func quote(s string) string { return string(rawjson.Quote(s)) }
