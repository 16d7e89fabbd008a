package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// The install.sh of a release installs it in an empty home, and the installation works.
func TestInstall(t *testing.T) {
	dir, home := release1(t), t.TempDir()
	in := func(command string) []byte {
		t.Helper()
		cmd := exec.Command("sh", "-ec", command)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + filepath.Join(home, ".local", "bin") + ":/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		return out
	}
	out := in(filepath.Join(dir, "install.sh") + " --yes --archive " + filepath.Join(dir, target.Archive(runtimes.Tag)))
	for _, want := range []string{"Archive checksum verified (SHA256SUMS)", "mcp-bash --version: " + cli.Version} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("it does not say %q: %s", want, out)
		}
	}
	if out := in("mcp-bash new demo >/dev/null; cd demo; mcp-runtool hello --allow-self --json"); !bytes.Contains(out,
		[]byte("Hello, World!")) {
		t.Errorf("%s", out)
	}
	in(".local/share/mcp-bash/install.sh --uninstall --yes")
	if _, err := os.Stat(filepath.Join(home, ".local", "share", "mcp-bash")); err == nil {
		t.Error("it is still there")
	}
}
