// Package monitoring tests the alert rules and the dashboard of share/monitoring, also with a Prometheus of Debian.
package monitoring

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/servertest"
)

// Folder has the alert rules and the dashboard.
func Folder() string { return filepath.Join(checkout.Root(), "share", "monitoring") }

// patience is how long a test waits for something that takes a few seconds.
const patience = 90 * time.Second

// Eventually waits until an attempt has success.
func Eventually(t *testing.T, what string, attempt func() (done bool)) {
	t.Helper()
	for deadline := time.Now().Add(patience); !attempt(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// Program returns the path of a program of Prometheus, or leaves the test out.
func Program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cache, "mcp-bash-test-prometheus", "usr", "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("left out: no %s; test/monitoring/get.sh gets it", name)
	}
	return path
}

// A Panel is a diagram of the dashboard.
type Panel struct {
	ID      int
	Targets []struct{ Expr string }
}

// Panels returns those of the dashboard.
func Panels(t *testing.T) []Panel {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(Folder(), "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct{ Panels []Panel }
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	return dashboard.Panels
}

// start starts a program and waits until its output matches an expression. It returns the match and its groups.
func start(t *testing.T, cmd *exec.Cmd, expression string) (found []string) {
	t.Helper()
	var out servertest.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if text := out.String(); t.Failed() {
			t.Logf("the end of the output of %s:\n%s", cmd.Path, text[max(0, len(text)-3000):])
		}
	})
	Eventually(t, cmd.Path+" prints "+expression, func() bool {
		found = regexp.MustCompile(expression).FindStringSubmatch(out.String())
		return found != nil
	})
	return found
}

// A Database is a Prometheus that scrapes servers.
type Database struct {
	*testing.T
	address string
}

// StartPrometheus starts one with a configuration. It has the alert rules, and raises their alerts at once.
func StartPrometheus(t *testing.T, config string) *Database {
	t.Helper()
	prometheus, dir := Program(t, "prometheus"), t.TempDir()
	rules, err := os.ReadFile(filepath.Join(Folder(), "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"alerts.yaml":     string(regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAll(rules, nil)),
		"prometheus.yaml": "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [alerts.yaml]\n" + config,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(prometheus, "--config.file=prometheus.yaml", "--storage.tsdb.path=data",
		"--web.listen-address=127.0.0.1:0")
	cmd.Dir = dir
	return &Database{t, start(t, cmd, `"Listening on" address=(\S+)`)[1]}
}

// get reads an answer of the API.
func (d *Database) get(path string, answer any) {
	d.Helper()
	r, err := http.Get("http://" + d.address + "/api/v1/" + path)
	if err != nil {
		d.Fatal(err)
	}
	defer r.Body.Close()
	content, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(content, answer)
	}
	// It is unavailable until it has read its database.
	if err != nil || r.StatusCode != http.StatusOK && r.StatusCode != http.StatusServiceUnavailable {
		d.Fatalf("%s: %s %v %s", path, r.Status, err, content)
	}
}

// Values returns the numbers that a query yields now.
func (d *Database) Values(query string) (list []float64) {
	d.Helper()
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	d.get("query?query="+url.QueryEscape(query), &answer)
	for _, r := range answer.Data.Result {
		if v, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64); err == nil && !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	return list
}

// AnswersDashboard waits until each query of the dashboard has a value. It calls work before each attempt.
func (d *Database) AnswersDashboard(work func()) {
	d.Helper()
	for _, p := range Panels(d.T) {
		for _, target := range p.Targets {
			query := strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
			Eventually(d.T, "a value of "+query, func() bool { work(); return len(d.Values(query)) > 0 })
		}
	}
}
