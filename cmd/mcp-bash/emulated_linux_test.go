package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
)

// T-42: scripts run even if fork refuses a process descriptor, as under QEMU's emulation of ARM64 processes. The
// emulator runs programs of this machine directly, so the script's Bash need not be an ARM64 program.
func TestEmulated(t *testing.T) {
	const emulator = "qemu-aarch64-static"
	switch _, err := exec.LookPath(emulator); {
	case testing.Short(), runtime.GOARCH == "arm64":
		t.Skip("left out: it builds a program for a machine that is emulated")
	case err != nil:
		t.Skipf("left out: %s is needed (apt-get install qemu-user-static)", emulator)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "mcp-bash")
	args, env := runtimes.BuildCommand(runtimes.Target{OS: "linux", Arch: "arm64"}, program, "./cmd/mcp-bash", "")
	build := exec.Command("go", args...)
	build.Dir, build.Env = checkout.Root(), os.Environ()
	for name, value := range env {
		build.Env = append(build.Env, name+"="+value)
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root := filepath.Join(dir, "project")
	for file, text := range map[string]string{
		"server.d/server.meta.json":  `{"name":"demo"}`,
		"tools/greet/tool.meta.json": `{"name":"greet","description":"d"}`,
		"tools/greet/tool.sh":        "#!/usr/bin/env bash\necho hello; exit 3\n",
	} {
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.CommandContext(t.Context(), emulator, program)
	server.Env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+root, "MCPBASH_TOOL_ALLOWLIST=*")
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	ask := func(line, want string) {
		t.Helper()
		io.WriteString(in, line+"\n")
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"id":`) {
				break
			}
		}
		if !strings.Contains(lines.Text(), want) {
			t.Errorf("%s: %s", line, lines.Text())
		}
	}
	ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
		`"clientInfo":{"name":"x","version":"1"}}}`, `"protocolVersion"`)
	io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	for range 2 { // the second start does not try a descriptor
		ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}`, `"exitCode":3`)
	}
	in.Close()
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}
