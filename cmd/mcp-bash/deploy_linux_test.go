package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/test/checkout"
	"mcp-bash/test/page"
)

// server is the user and the group of a server in the commands below (H-606).
const server = 65532

var install = regexp.MustCompile(`(?m)^# +(groupadd .*|mcp-bash token .*|chmod .*)$`)

// H-245: a server that is not root can read the files that the commands of docs/DEPLOY.md and of the unit make. Root
// can still list and revoke their tokens, even if the server owns the folder.
func TestFilesAsDeployed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	unit, err := os.ReadFile(filepath.Join(checkout.Root(), "pkg/bundle/deploy/testdata/systemd/demo.service"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range install.FindAllStringSubmatch(string(unit), -1) {
		lines = append(lines, m[1])
	}
	blocks, err := page.Read(filepath.Join(checkout.Root(), "docs", "DEPLOY.md"))
	if err != nil {
		t.Fatal(err)
	}
	container := ""
	for _, b := range blocks {
		if before, _, found := strings.Cut(b.Text, "sudo podman run"); found && strings.Contains(before, "token create") {
			container = before
		}
	}
	for name, tc := range map[string]struct{ commands, file string }{
		"container": {container, "access/tokens.json"},
		"systemd":   {strings.Join(lines, "\n"), "etc/demo/tokens.json"},
		"chown of the folder before": {"mkdir tokens\nchown 65532 tokens\n" +
			"mcp-bash token create ada --file tokens/t.json", "tokens/t.json"},
		"chown of everything": {"mkdir tokens\nmcp-bash token create ada --file tokens/t.json\n" +
			"chown -R 65532 tokens", "tokens/t.json"},
		"chown of the file": {"mkdir tokens\nmcp-bash token create ada --file tokens/t.json\n" +
			"chown 65532 tokens/t.json", "tokens/t.json"},
	} {
		t.Run(name, func(t *testing.T) {
			commands := strings.NewReplacer("sudo ", "", "/etc/mcp-bash", "etc", "groupadd --system --force mcp-bash",
				"mkdir etc", "-g mcp-bash", "-g 65532", "CALLER", "ada").Replace(tc.commands)
			if strings.Count(commands, "\n") < 2 || !strings.Contains(commands, "65532") {
				t.Fatalf("not the commands: %s", commands)
			}
			dir := checkout.Directory(t)
			if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			shell := func(commands string) {
				t.Helper()
				cmd := exec.Command("bash", "-euc", "umask 022\n"+commands)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s\n%v: %s", commands, err, out)
				}
			}
			seen := func() string {
				t.Helper()
				cmd := exec.Command("/proc/self/exe")
				cmd.Args = []string{"mcp-bash", "token", "list", "--file", filepath.Join(dir, tc.file)}
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: server, Gid: server}}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				return string(out)
			}
			shell(commands)
			if out := seen(); !strings.Contains(out, "ada") {
				t.Error(out)
			}
			shell("mcp-bash token list --file " + tc.file + "\nmcp-bash token create bob --file " + tc.file +
				"\nmcp-bash token revoke ada --file " + tc.file)
			if out := seen(); strings.Contains(out, "ada") || !strings.Contains(out, "bob") {
				t.Error(out)
			}
		})
	}
}
