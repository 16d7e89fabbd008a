//go:build collector

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/test/freeport"
)

// The version of the collector, and its parts for the builder and for Go.
const (
	collectorVersion = "v0.165.0"
	manifest         = `dist: {name: collector, output_path: .}
receivers: [{gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v0.165.0}]
exporters: [{gomod: github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter v0.165.1}]
providers:
  - {gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider v1.71.0}
  - {gomod: go.opentelemetry.io/collector/confmap/provider/envprovider v1.71.0}
`
	goMod = `module collector

go 1.26.0

require (
	github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter v0.165.1
	go.opentelemetry.io/collector/confmap/provider/envprovider v1.71.0
	go.opentelemetry.io/collector/confmap/provider/fileprovider v1.71.0
	go.opentelemetry.io/collector/otelcol v0.165.0
	go.opentelemetry.io/collector/receiver/otlpreceiver v0.165.0
)
`
)

// buildCollector returns a collector that its own builder made, in a cache folder. The builder itself would download
// modules that only tests need, and one of them does not exist. Without that, it writes no go.mod.
func buildCollector(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "mcp-bash-collector-"+collectorVersion)
	program := filepath.Join(dir, "collector")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"manifest.yaml": manifest, "go.mod": goMod} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"run", "go.opentelemetry.io/collector/cmd/builder@" + collectorVersion, "--config", "manifest.yaml",
			"--skip-get-modules", "--skip-compilation"},
		{"build", "-mod=mod", "-trimpath", "-o", "collector.new", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	return program
}

// A collector is a process that writes what it gets to a file.
type collector struct {
	t                            *testing.T
	program, dir, address, taken string
}

func (c *collector) start() (stop func()) {
	c.t.Helper()
	config := fmt.Sprintf(`receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {file: {path: %q, append: true, flush_interval: 50ms}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines:
    traces: {receivers: [otlp], exporters: [file]}
    metrics: {receivers: [otlp], exporters: [file]}
    logs: {receivers: [otlp], exporters: [file]}
`, c.address, c.taken)
	file := filepath.Join(c.dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(c.program, "--config", file)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	stop = func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	}
	c.t.Cleanup(stop)
	return stop
}

// got reads the file: the log records, the spans and the requests that the metrics count.
func (c *collector) got() (lines map[string]bool, spans map[string]bool, counted uint64) {
	c.t.Helper()
	lines, spans = map[string]bool{}, map[string]bool{}
	f, err := os.Open(c.taken)
	if err != nil {
		return lines, spans, 0 // not yet
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		line := in.Bytes()
		if _, err := rawjson.Check(line); err != nil {
			break // it is being written
		}
		traces, _ := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
		for _, rs := range traces.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, s := range ss.Spans().All() {
					spans[s.TraceID().String()+s.SpanID().String()] = true
				}
			}
		}
		logs, _ := new(plog.JSONUnmarshaler).UnmarshalLogs(line)
		for _, rl := range logs.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, l := range sl.LogRecords().All() {
					lines[l.Body().Str()] = true
				}
			}
		}
		metrics, _ := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(line)
		for _, rm := range metrics.ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					counted = m.Histogram().DataPoints().At(0).Count()
				}
			}
		}
	}
	return lines, spans, counted
}

// A real collector gets everything, also if it is restarted in the middle.
func TestCollector(t *testing.T) {
	address, err := freeport.Address()
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{t: t, program: buildCollector(t), dir: t.TempDir(), address: address}
	c.taken = filepath.Join(c.dir, "taken.jsonl")
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	const each, rounds = 1500, 4
	p := start(t, nil, nil, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + c.address}, r.path)
	for round := 1; round <= rounds; round++ {
		r.calls(each)
		stop := c.start()
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			lines, spans, counted := c.got()
			if len(lines) == round*each && len(spans) == 2*round*each && counted == uint64(round*each) {
				break
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("round %d: %d lines, %d spans, %d counted: %s", round, len(lines), len(spans), counted, p.stderr)
			}
		}
		stop()
	}
	if code := p.stop(); code != 0 {
		t.Errorf("%d: %s", code, p.stderr)
	}
}
