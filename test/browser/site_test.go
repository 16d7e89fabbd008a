//go:build browser

package browser

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSite builds the documentation as a site, and opens its pages. It uses the widths of a telephone
// and of a desktop, in light and in dark. VitePress fails on links to missing pages.
func TestSite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	build := exec.Command(filepath.Join("..", "..", "site", "build.sh"), out)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	defer server.Close()

	s := &siteReader{newTab(t, start(t), func(u string) bool {
		return strings.HasPrefix(u, server.URL+"/") || strings.HasPrefix(u, "data:")
	}), server.URL}
	pages := map[string]bool{}
	err := fs.WalkDir(os.DirFS(out), ".", func(name string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".html") && !strings.HasPrefix(name, "source/") && name != "404.html" {
			pages[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 40 || !pages["docs/contract/cli.html"] || !pages["index.html"] {
		t.Fatalf("the site has %d pages: %v", len(pages), pages)
	}
	s.look(390, "light")
	for name := range pages {
		s.open(name)
		s.fits(name)
	}
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int{390, 1280} {
			s.look(width, theme)
			for _, name := range []string{"index.html", "docs/WRITING-TOOLS.html"} {
				s.open(name)
				s.fits(name)
				s.wait(`document.documentElement.classList.contains("dark")`, fmt.Sprint(theme == "dark"))
				base := strings.TrimSuffix(filepath.Base(name), ".html")
				s.clip(fmt.Sprintf("site-%s-%d-%s", base, width, theme), float64(width), 800)
			}
		}
	}
	s.look(1280, "light")
	s.open("index.html")
	s.wait(`document.querySelector(".VPNavBarSearch button") !== null`, "true")
	s.evaluate(`document.querySelector(".VPNavBarSearch button").click()`, 0)
	s.wait(`document.activeElement.id`, `"localsearch-input"`)
	s.command("Input.insertText", map[string]any{"text": "mcp_elicit_choice"})
	s.wait(`[...document.querySelectorAll(".VPLocalSearchBox .result")]
		.some(result => result.href.includes("/docs/ASKING.html"))`, "true")
}

// A siteReader is a tab that shows pages of the site.
type siteReader struct {
	*tab
	address string
}

func (s *siteReader) look(width int, theme string) {
	s.t.Helper()
	s.command("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800,
		"deviceScaleFactor": 1, "mobile": width < 500})
	s.command("Emulation.setEmulatedMedia", map[string]any{"features": []any{
		map[string]any{"name": "prefers-color-scheme", "value": theme},
		map[string]any{"name": "prefers-reduced-motion", "value": "reduce"}}})
}

// open shows a page and waits until its script has taken over.
func (s *siteReader) open(name string) {
	s.t.Helper()
	name = strings.TrimSuffix(name, "index.html") // the address of the folder
	s.command("Page.navigate", map[string]any{"url": s.address + "/" + name})
	s.wait(`location.pathname === `+quote("/"+name)+` && document.readyState === "complete" &&
		!!document.querySelector("#app")?.__vue_app__ && !!document.querySelector(".vp-doc h1")`, "true")
}

// brokenCode is an expression for the codes in texts that fit on one line but are on several, or are wider than their
// place. Such codes are paths and options.
const brokenCode = `[...document.querySelectorAll(".vp-doc :not(pre) > code")].filter(code => {
	const height = code.offsetHeight;
	code.style.whiteSpace = "nowrap";
	code.style.maxWidth = "none";
	const line = code.offsetHeight, width = code.offsetWidth;
	code.style.whiteSpace = code.style.maxWidth = "";
	const cell = code.closest("td, th"), place = cell ?? code.closest("p, li, h1, h2, h3, h4");
	const room = cell ? 288 : place.clientWidth;
	return width <= room ? height > line : code.offsetWidth > room;
}).map(code => code.textContent)`

// fits reports an error if the page scrolls sideways, or breaks codes that fit on a line.
func (s *siteReader) fits(name string) {
	s.t.Helper()
	if broken := s.evaluate(`JSON.stringify(`+brokenCode+`.slice(0, 5))`, 0); broken != `"[]"` {
		s.t.Errorf("%s breaks %s", name, broken)
	}
	if fits := s.evaluate(`document.documentElement.scrollWidth <= window.innerWidth`, 0); fits != "true" {
		s.t.Errorf("%s is wider than the window", name)
	}
}

// wait waits until an expression has a value.
func (s *siteReader) wait(expression, value string) {
	s.t.Helper()
	s.until(expression, func() bool { return s.evaluate(expression, 0) == value })
}
