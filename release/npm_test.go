package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
)

// CLI-1719: in an empty home, the packages make a project with npx, and the runtime's package starts the server.
func TestNPM(t *testing.T) {
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("npm is not installed")
	}
	dir, home := release1(t), t.TempDir()
	in := func(command string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", command)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(npx) + ":/usr/bin:/bin", "npm_config_offline=true"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		return string(out)
	}
	file := func(name string) string { return filepath.Join(dir, name+"-"+cli.Version+".tgz") }
	system := target.Node()
	in("npm init -y && npm install " + file("mcp-bash") + " " + file("mcp-bash-tools-"+system) + " " +
		file("mcp-bash-runtime-"+system))
	if out := in("npx -y mcp-bash --version"); out != "mcp-bash "+cli.Version+"\n" {
		t.Errorf("%q", out)
	}
	if out := in("npx -y mcp-bash new my-server && cd my-server && npx mcp-bash run-tool hello --allow-self"); !strings.
		Contains(out, "Hello, World!") {
		t.Errorf("%s", out)
	}
	runtime := filepath.Join(home, "node_modules", "@mcp-bash", "runtime-"+system)
	if out := in(filepath.Join(runtime, "bin", "mcp-bash") + " --version"); out != "mcp-bash "+cli.Version+"\n" {
		t.Errorf("%q", out)
	}
	if _, err := os.Stat(filepath.Join(runtime, "sdk", "tool-sdk.sh")); err != nil {
		t.Error(err)
	}
	programs, err := filepath.Glob(filepath.Join(home, "node_modules", "@mcp-bash", "tools-"+system, "bin", "mcp-*"))
	if err != nil || len(programs) != 7 { // and mcp-jq
		t.Errorf("%q, %v", programs, err)
	}
}
