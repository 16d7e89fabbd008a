package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
)

// The .deb installs below another root, with the list of what this system has
// installed, runs from there, and leaves nothing when it is removed.
func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed")
	}
	if os.Getuid() != 0 {
		t.Skip("dpkg needs root")
	}
	status, err := os.ReadFile("/var/lib/dpkg/status")
	if err != nil {
		t.Skip("dpkg has installed nothing here: ", err)
	}
	root := t.TempDir()
	admin := filepath.Join(root, "var", "lib", "dpkg")
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(admin, "status"), status, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("dpkg", append([]string{"--root=" + root, "--log=" + filepath.Join(root, "log")},
			args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("dpkg %s: %v: %s", args, err, out)
		}
		return string(out)
	}
	dpkg("-i", filepath.Join(release1(t), "mcp-bash_"+cli.Version+"_"+target.Arch+".deb"))
	bin := filepath.Join(root, "usr", "bin")
	commands, err := filepath.Glob(filepath.Join(bin, "*"))
	if err != nil || len(commands) < 5 {
		t.Fatalf("%q, %v", commands, err)
	}
	for _, command := range commands {
		out, err := exec.Command(command, "--version").Output()
		if want := filepath.Base(command) + " " + cli.Version + "\n"; err != nil || string(out) != want {
			t.Errorf("%s: %q, %v", command, out, err)
		}
	}
	call := exec.Command(filepath.Join(bin, "mcp-bash"), "new", "demo")
	call.Dir, call.Env = t.TempDir(), []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
	if out, err := call.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, file := range []string{"usr/lib/mcp-bash/sdk/tool-sdk.sh", "usr/share/man/man1/mcp-bash.1",
		"usr/share/bash-completion/completions/mcp-runtool", "usr/share/zsh/vendor-completions/_mcp-bash",
		"usr/share/fish/vendor_completions.d/mcp-bash.fish", "usr/share/doc/mcp-bash/copyright",
		"usr/share/doc/mcp-bash/share/llms.txt", "usr/share/doc/mcp-bash/share/skills/mcp-bash/SKILL.md",
		"usr/share/doc/mcp-bash/share/monitoring/alerts.yaml"} {
		if info, err := os.Stat(filepath.Join(root, file)); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v", file, err)
		}
	}
	dpkg("-r", "mcp-bash")
	if left, _ := filepath.Glob(filepath.Join(root, "usr", "*", "*mcp-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// rpm reads the .rpm, and lists the same files.
func TestRPM(t *testing.T) {
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("rpm is not installed")
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[target.Arch]
	file := filepath.Join(release1(t), "mcp-bash-"+cli.Version+"-1."+arch+".rpm")
	rpm := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("rpm", append([]string{"--dbpath", t.TempDir()}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("rpm %s: %v: %s", args, err, out)
		}
		return string(out)
	}
	list := rpm("-qlp", file)
	for _, want := range []string{"/usr/bin/mcp-bash", "/usr/lib/mcp-bash/bin/mcp-bash",
		"/usr/lib/mcp-bash/sdk/tool-sdk.sh",
		"/usr/share/zsh/site-functions/_mcp-bash", "/usr/share/man/man1/mcp-runtool.1"} {
		if !strings.Contains(list, want+"\n") {
			t.Errorf("it has not %s", want)
		}
	}
	if got := rpm("-qp", "--queryformat", "%{NAME} %{VERSION} %{ARCH} %{BUILDHOST} %{BUILDTIME}", file); got !=
		"mcp-bash "+cli.Version+" "+arch+" localhost 1700000000" {
		t.Errorf("%q", got)
	}
	if got := rpm("-K", "--nosignature", file); !strings.Contains(got, "OK") {
		t.Errorf("%q", got)
	}
	if got := rpm("-qp", "--requires", file); !strings.Contains(got, "bash >= 3.2") {
		t.Errorf("%q", got)
	}
}
