//go:build browser

package browser

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
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
type host struct{ *tab }

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
	if w.Theme == "" {
		w.Theme = "light"
	}
	if w.Width == 0 {
		w.Width = 760
	}
	h := &host{newTab(t, c, func(u string) bool {
		return u == server.URL+"/view" || strings.HasPrefix(u, server.URL+"/host") || strings.HasPrefix(u, "data:")
	})}
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

// screenshot returns a picture of the page, and stores it below dist/screenshots.
func (h *host) screenshot(name string) []byte {
	h.t.Helper()
	var size []float64
	if err := json.Unmarshal([]byte(h.inHost("[innerWidth, Math.max(frame.getBoundingClientRect().height, 60)]")),
		&size); err != nil {
		h.t.Fatal(err)
	}
	return h.clip(name, size[0], size[1])
}

func quote(s string) string { return string(rawjson.Quote(s)) }
