//go:build browser

package browser

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/check/audit"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
)

// auditPage returns a page of some hundred requests. Some have hostile texts.
func auditPage(t *testing.T) []byte {
	t.Helper()
	p := &audit.Page{}
	at := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	outcomes := []events.Outcome{events.Success, events.Denied, events.Success, events.ApplicationError, events.Success}
	reasons := []string{"", "scope", "", "exit_status", ""}
	for i := range 400 {
		at = at.Add(time.Duration(i*i%37) * time.Second)
		e := &trail.Entry{
			Type: events.ToolCall, Method: "tools/call", Time: at, Target: []string{"hello", "backup", "stock"}[i%3],
			User: []string{"ada", "grace"}[i%2], Address: fmt.Sprint("10.0.0.7:", 50000+i), Outcome: outcomes[i%5],
			Reason: reasons[i%5], Queued: time.Duration(i%11) * 9 * time.Millisecond,
			Ran: time.Duration(i*i%101) * 3 * time.Millisecond, Status: "3",
		}
		e.Took = e.Queued + e.Ran + 2*time.Millisecond
		switch i % 50 {
		case 1:
			e.Target, e.Address = `<script>document.title="no"</script><img src="/no" onerror="document.title='no'">`, e.Target
		case 2:
			e.User, e.Reason, e.Address = strings.Repeat("W", 500), strings.Repeat("W", 500), strings.Repeat("W", 500)
			e.Outcome = events.Outcome(strings.Repeat("W", 500))
		}
		p.Add(e)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// faint is an expression for the texts and bars that differ too little from what is behind them.
const faint = `(() => {
	const channels = color => color.match(/[\d.]+/g).map(Number);
	const light = color => channels(color).slice(0, 3).map(c => c / 255)
		.map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => {
		const color = getComputedStyle(e).backgroundColor;
		return channels(color)[3] === 0 ? behind(e.parentElement) : color;
	};
	const contrast = (e, color) => {
		const [a, b] = [light(color), light(behind(e))];
		return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	};
	const found = [];
	for (const e of document.querySelectorAll("main *")) {
		const style = getComputedStyle(e);
		if ([...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && e.tagName !== "title" &&
			contrast(e, style.color) < 4.5) found.push(e.outerHTML.slice(0, 80));
		if (e.tagName === "rect" && style.fill.startsWith("rgb") && contrast(e, style.fill) < 3)
			found.push(e.outerHTML.slice(0, 80));
	}
	return found;
})()`

// AUD-34: the page of "audit --html" loads nothing and runs nothing. It fits on a telephone and a desktop in both
// themes, with contrast, and has words for what colours show.
func TestAuditPage(t *testing.T) {
	document := auditPage(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(document)
	}))
	defer server.Close()
	s := &siteReader{newTab(t, start(t), func(u string) bool { return u == server.URL+"/page" }), server.URL}
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int{390, 1280} {
			s.look(width, theme)
			s.command("Page.navigate", map[string]any{"url": server.URL + "/page"})
			s.wait(`document.readyState === "complete" && location.pathname`, `"/page"`)
			s.fits("the page of audit")
			if got := s.evaluate(faint, 0); got != "[]" {
				t.Errorf("%s at %d: faint: %s", theme, width, got)
			}
			background := s.evaluate(`getComputedStyle(document.body).backgroundColor`, 0)
			if dark := background != `"rgb(255, 255, 255)"`; dark != (theme == "dark") {
				t.Errorf("%s: the background is %s", theme, background)
			}
			for expression, want := range map[string]string{
				`document.title`: `"Who called what"`,
				`document.querySelectorAll("script, img, link, a").length`:                                 "0",
				`[...document.querySelectorAll("g rect")].every(e => e.getBoundingClientRect().width > 1)`: "true",
				`[...document.querySelectorAll('[data-name="OUTCOME"]')]
					.every(e => /^[✓⊘✗] \w/.test(e.textContent))`: "true",
			} {
				if got := s.evaluate(expression, 0); got != want {
					t.Errorf("%s at %d: %s is %s, want %s", theme, width, expression, got, want)
				}
			}
			s.clip(fmt.Sprintf("audit-%d-%s", width, theme), float64(width), 2400)
		}
	}
}
