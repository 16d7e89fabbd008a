//go:build unix

package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-703, CLI-711: the server serves a client that starts the command of its file, with the
// environment of that file and nothing else.
func TestConfiguredClient(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	file := filepath.Join(dir, "my client's.json")
	must(t, dir, `set -e; mkdir 'a b'; cd 'a b'; mcp-bash new demo >/dev/null; cd demo
mcp-bash config --client cursor --apply --file '`+strings.ReplaceAll(file, "'", `'\''`)+"'")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		MCPServers map[string]struct {
			Command string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	demo := config.MCPServers["demo"]
	var env string
	for name, value := range demo.Env {
		env += fmt.Sprintf(" '%s=%s'", name, value)
	}
	const messages = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{"name":"Ada"}}}
`
	output := must(t, "/", fmt.Sprintf("printf '%%s' '%s' | env -i PATH=/usr/bin:/bin HOME=%q%s '%s'",
		messages, checkout.Directory(t), env, demo.Command))
	if !strings.Contains(output, "Hello, Ada!") {
		t.Error(output)
	}
}

// CLI-712: whenever an edit is killed, the file is the old one or the new one, whole.
func TestConfigKilled(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, "mcp-bash new demo")
	file := filepath.Join(dir, "mcp.json")
	old := `{"note": "` + strings.Repeat("x", 4<<20) + "\"}\n"
	killed := 0
	for try := 0; try < 10 && killed < 3; try++ {
		if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(bin, "mcp-scaffold"), "config", "--client", "claude-desktop", "--apply",
			"--file", file)
		cmd.Dir = filepath.Join(dir, "demo")
		path := map[string]string{"PATH": bin + ":" + os.Getenv("PATH")}
		cmd.Env = append(environment("", dir, path), "MCPBASH_TOOL_ALLOWLIST=")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		for waiting := true; waiting; {
			select {
			case <-done:
				waiting = false
			default:
				if begun, _ := filepath.Glob(filepath.Join(dir, ".mcp.json*.new-*")); begun != nil {
					cmd.Process.Kill()
					<-done
					killed++
					waiting = false
				}
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != old && !(json.Valid(text) && strings.Contains(string(text), "MCPBASH_PROJECT_ROOT")) {
			t.Fatalf("%d bytes that are neither the old file nor the new one", len(text))
		}
		left, _ := filepath.Glob(filepath.Join(dir, ".mcp.json*.new-*"))
		for _, name := range left {
			os.Remove(name)
		}
	}
	if killed == 0 {
		t.Error("no edit was caught while it was writing")
	}
}

// CLI-708, CLI-709: the wrapper starts the server of its folder, through links too. The server gets the
// variables that the profiles export, even if a profile fails.
func TestWrapper(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, `set -e; mkdir 'a b' home links; cd 'a b'; mcp-bash new demo >/dev/null; cd demo
cat >tools/hello/tool.sh <<'END'
#!/bin/sh
echo "$MCPBASH_PROJECT_ROOT allows $MCPBASH_TOOL_ALLOWLIST; A=$MCPBASH_A B=$MCPBASH_B C=$MCPBASH_C D=$MCPBASH_D"
END
rm tools/hello/tool.meta.json
mcp-bash config --wrapper >demo.sh; mcp-bash config --wrapper-env >with.sh
grep -c . demo.sh with.sh >/dev/null; chmod +x *.sh
[ "$(tail -c 1 demo.sh | wc -l)" = 1 ] && [ -n "$(tail -n 1 demo.sh)" ]
cd "`+dir+`"; ln -s '../a b/demo/demo.sh' links/one; ln -s one links/two; ln -s '../a b/demo/with.sh' links/with
cat >home/.zprofile <<'END'
echo noise; echo noise >&2; cat
export MCPBASH_A='x "$y" `+"`z`"+`'
cd /; set -u; echo $nope
export MCPBASH_D=never
END
printf 'export MCPBASH_B=2\nexit 3\n' >home/.zshrc
printf 'export MCPBASH_C=3\nsleep 60 &\nif (((\n' >home/.profile
printf 'export MCPBASH_D=4\necho $$ >"$HOME/pid"; while :; do sleep 1; done\n' >home/.bashrc`)
	const messages = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello"}}
`
	root := filepath.Join(dir, "a b", "demo")
	for name, tc := range map[string]struct{ env, want string }{
		"one":  {"", root + " allows *; A= B= C= D="},
		"two":  {"MCPBASH_TOOL_ALLOWLIST=hello", root + " allows hello; A= B= C= D="},
		"with": {"", root + ` allows *; A=x \"$y\" ` + "`z`" + ` B=2 C=3 D=`},
	} {
		output := must(t, "/",
			fmt.Sprintf("printf '%%s' '%s' | HOME=%s/home %s %s/links/%s 2>/dev/null", messages, dir, tc.env, dir, name))
		if !strings.Contains(output, tc.want+`"`) && !strings.Contains(output, tc.want+`\n`) {
			t.Errorf("%s: %s\nwant %s", name, output, tc.want)
		}
		for line := range strings.Lines(output) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: in the protocol: %s", name, line)
			}
		}
	}
	// The Bash that read the profile that hung is gone, or nobody has noticed yet.
	must(t, dir, `case $(ps -o stat= -p "$(cat home/pid)") in "" | Z*) ;; *) exit 1 ;; esac`)

	output, code := typed(t, dir, `env -i HOME=/nowhere "$(type -P bash)" links/one`)
	if want := "Error: mcp-bash not found in PATH or ~/.local/bin\n" +
		"Install: see README for download and verification instructions\n"; code != 1 || output != want {
		t.Errorf("exit code %d, %s", code, output)
	}
}
