package clients

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/servertest"
)

// H-223, P-1807, T-53: idle connections do not use up the descriptors. A new client is accepted, and its scripts start.
// They have the limit from before the server raised it.
func TestConnectionsWithinDescriptors(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, `set -e; mcp-bash new demo >/dev/null; cd demo; rm tools/hello/tool.meta.json
printf '#!/bin/sh\necho "soft: $(ulimit -n)"\n' >tools/hello/tool.sh`)
	cmd := exec.CommandContext(t.Context(), "/bin/bash", "-c",
		"ulimit -n 128 && ulimit -S -n 96 && exec mcp-bash serve --http 127.0.0.1:0")
	cmd.Dir = filepath.Join(dir, "demo")
	cmd.Env = environment(cmd.Dir, dir, map[string]string{"PATH": bin + ":" + os.Getenv("PATH")})
	log := &servertest.Buffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	eventually(t, "a server", func() bool {
		_, rest, ok := strings.Cut(log.String(), "serving http://")
		address, _, _ = strings.Cut(rest, "/mcp\n")
		return ok && strings.Contains(rest, "\n")
	})
	if !strings.Contains(log.String(), "mcp-bash: limits of this system: ") ||
		!strings.Contains(log.String(), " open files, ulimit -n)") {
		t.Error(log)
	}
	var idle []net.Conn
	for range 300 {
		c, err := net.DialTimeout("tcp", address, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		idle = append(idle, c)
	}
	client := &http.Client{Timeout: 30 * time.Second}
	for i := range 3 {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hello","_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, i)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28",
			"Mcp-Method": "tools/call", "Mcp-Name": "hello"} {
			r.Header.Set(name, value)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !strings.Contains(string(text), "soft: 96") {
			t.Errorf("%v %s", err, text)
		}
	}
	idle[0].SetReadDeadline(time.Now().Add(30 * time.Second))
	if n, err := idle[0].Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the oldest connection stays: %d %v", n, err)
	}
	if strings.Contains(log.String(), "too many open files") {
		t.Error(log)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
}
