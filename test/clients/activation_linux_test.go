package clients

import (
	"bytes"
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
)

// H-720: the server serves over a socket that a service manager has opened before it. Scripts do not learn of it.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, `set -e; mcp-bash new demo >/dev/null; cd demo; rm tools/hello/tool.meta.json
printf '#!/bin/sh\necho "LISTEN: $(env | grep -c ^LISTEN_)"\n' >tools/hello/tool.sh`)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	address := l.Addr().String()
	l.Close() // the socket stays open, and accepts connections before the server starts

	// The shell keeps its process when it executes the server, so LISTEN_PID is the server's.
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "LISTEN_PID=$$ exec mcp-bash serve --http 127.0.0.1:1")
	cmd.Dir = filepath.Join(dir, "demo")
	cmd.Env = environment(cmd.Dir, dir, map[string]string{
		"PATH": bin + ":" + os.Getenv("PATH"), "LISTEN_FDS": "1",
		"MCPBASH_TOOL_ENV_MODE": "inherit", "MCPBASH_TOOL_ENV_INHERIT_ALLOW": "true",
	})
	var log bytes.Buffer
	cmd.ExtraFiles, cmd.Stderr = []*os.File{socket}, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: 30 * time.Second}
	var session string
	post := func(body string) string {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, "http://"+address+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		session = response.Header.Get("Mcp-Session-Id")
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`)
	kept := session
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	session = kept
	answer := post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{}}}`)
	if !strings.Contains(answer, "LISTEN: 0") {
		t.Error(answer)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if want := fmt.Sprintf("mcp-bash: serving http://%s/mcp\n", address); !strings.Contains(log.String(), want) {
		t.Errorf("%s\nwant %s", &log, want)
	}
}
