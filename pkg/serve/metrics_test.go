//go:build unix

package serve

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/pkg/project"
)

// metricsOf returns the metrics of a server, and the status of a request for them.
func metricsOf(t *testing.T, method, url, host string) (text string, status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), response.StatusCode
}

func metricsURL(p *httpProcess) string {
	found := regexp.MustCompile(`metrics at (http://\S+)`).FindStringSubmatch(p.stderr.String())
	if found == nil {
		p.t.Fatalf("no address in %q", p.stderr.String())
	}
	return found[1]
}

// AUD-40, AUD-41: a server without a record counts its calls, and serves that at a separate address only.
func TestMetrics(t *testing.T) {
	root := files(t, map[string]string{
		"tools/hello/tool.meta.json": `{"name":"hello","description":"d","inputSchema":{"type":"object"}}`,
		"tools/hello/tool.sh":        `i=0; while ((i < 20000)); do ((i += 1)); done; echo hello`,
	})
	p := startHTTP(t, root, project.Env{"MCPBASH_METRICS": "0", "MCPBASH_QUIET": "false", "MCPBASH_LOG_LEVEL": "warning"})
	for _, name := range []string{"hello", "helo"} {
		p.call(name)
	}
	session := p.openSession()
	url := metricsURL(p)
	text, status := metricsOf(t, "GET", url, "")
	for _, want := range []string{
		`_count{mcp_method_name="tools/call",gen_ai_tool_name="hello"} 1`,
		`_count{mcp_method_name="tools/call",gen_ai_tool_name="_OTHER",error_type="-32602"} 1`,
		`mcpbash_failures_total{cause="not_found"} 1`, `mcpbash_used{limit="scripts"} 0`,
		`mcpbash_used{limit="sessions"} 1`, `mcp_server_session_duration_seconds_count 0`, `mcpbash_queued_requests 0`,
		`mcpbash_confinement_threads 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, name := range []string{
		"script_processor_seconds_total", "script_peak_memory_bytes", `limit{limit="streams"}`, "registry_scans_total",
		`used{limit="connections"}`, `limit{limit="connections"}`,
	} {
		if !regexp.MustCompile(`(?m)^mcpbash_` + regexp.QuoteMeta(name) + ` [0-9.]*[1-9]`).MatchString(text) {
			t.Errorf("%s has no value in\n%s", name, text)
		}
	}
	if strings.Contains(text, "helo\"") || status != http.StatusOK {
		t.Errorf("%d with the name of a client in\n%s", status, text)
	}
	for _, test := range []struct {
		method, path, host string
		want               int
	}{
		{"HEAD", "", "", 200}, {"POST", "", "", 405}, {"GET", "/more", "", 404}, {"GET", "", "localhost:9", 200},
		{"GET", "", "[::1]:9", 200}, {"GET", "", "evil.example:9", 403}, {"GET", "", "localhost.evil.example", 403},
	} {
		if _, status := metricsOf(t, test.method, url+test.path, test.host); status != test.want {
			t.Errorf("%s %s with Host %q: %d, want %d", test.method, test.path, test.host, status, test.want)
		}
	}
	end, err := http.NewRequestWithContext(t.Context(), "DELETE", "http://x/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	end.Header.Set("Mcp-Session-Id", session["Mcp-Session-Id"])
	elsewhere, err := http.NewRequestWithContext(t.Context(), "GET", "http://x/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range map[*http.Request]int{end: http.StatusNoContent, elsewhere: http.StatusNotFound} {
		response, err := p.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s %s: %d, want %d", r.Method, r.URL, response.StatusCode, want)
		}
	}
	if text, _ := metricsOf(t, "GET", url, ""); !strings.Contains(text, "session_duration_seconds_count 1\n") {
		t.Errorf("the session is not in\n%s", text)
	}
	p.signals <- syscall.SIGTERM
	p.ended(143)
	if c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")); err == nil {
		c.Close()
		t.Error("the address of the metrics stays open")
	}
}

// AUD-40: an unusable address ends the start.
func TestMetricsAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for addr, want := range map[string]string{
		"nonsense":              "serve --metrics: listen nonsense: ",
		taken.Addr().String():   "address already in use",
		"unix:/dev/null/socket": "serve --metrics: listen unix:",
	} {
		t.Run(filepath.Base(addr), func(t *testing.T) {
			p := beginHTTP(t, files(t, nil), project.Env{"MCPBASH_METRICS": addr})
			if code := <-p.code; code != 1 || !strings.Contains(p.stderr.String(), want) {
				t.Errorf("%d, %q", code, p.stderr.String())
			}
		})
	}
}
