package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// CLI-1170, CLI-1171: the commands on the page of a release work as printed, from an https server. Everything that is
// installed knows the address.
func TestAddress(t *testing.T) {
	dir := release1(t)
	home := t.TempDir()
	authority := filepath.Join(home, "authority.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: served().Certificate().Raw})
	if err := os.WriteFile(authority, block, 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(home, command string) string {
		t.Helper()
		cmd := exec.Command("bash", "-c", command)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, ".local", "bin") + ":/usr/bin:/bin",
			"CURL_CA_BUNDLE=" + authority, "NO_PROXY=*"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		return string(out)
	}
	page := string(read(t, dir)["README.md"])
	var commands []string
	for line := range strings.Lines(page) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	if len(commands) != 3 {
		t.Fatalf("%q in\n%s", commands, page)
	}
	if out := in(home, commands[0]); !strings.Contains(out, "Archive checksum verified (SHA256SUMS)") {
		t.Errorf("%s: %s", commands[0], out)
	}
	other := t.TempDir()
	in(other, commands[1])
	if out := in(other, commands[2]); !strings.Contains(out, "Archive checksum verified (--verify)") {
		t.Errorf("%s: %s", commands[2], out)
	}
	if out := in(home, "mcp-bash doctor --fix --ref v"+cli.Version); !strings.Contains(out,
		"Updated managed install to version "+cli.Version) {
		t.Errorf("%s", out)
	}
	if out := in(home, "mcp-bash doctor --fix --min-version 9.9.9 || :"); !strings.Contains(out,
		"the releases are at "+served().URL) {
		t.Errorf("%s", out)
	}
	if out := in(home, ".local/share/mcp-bash/install.sh --help"); !strings.HasSuffix(out,
		"\nReleases: "+served().URL+"\n") {
		t.Errorf("%s", out)
	}
	out := in(home, "mcp-bash new demo >/dev/null && cd demo && mcp-bash bundle 2>&1")
	if !strings.Contains(out, "→ set MCPBASH_RELEASE_BASE_URL="+served().URL+", to download them") {
		t.Errorf("%s", out)
	}
	install := in(home, "cat .local/share/mcp-bash/docs/INSTALL.md")
	if strings.Contains(install, placeholder) || !strings.Contains(install, served().URL+"/latest/install.sh |") {
		t.Error("the page of the installation does not have the address")
	}
}

// CLI-1170: addresses that would change the meaning of a script are refused.
func TestAddressThatIsNone(t *testing.T) {
	for _, base := range []string{"http://h.example", "https://", "h.example", "https://h.example/a'b",
		"https://h.example/$x", "https://h.example/a b", "https://h.example/#x", "https://h.example/`x`",
		"https://h.example:99999", "https://h.example:0/x", "https://h.example:", "https://u:p@h.example"} {
		if err := (&release{base: base}).checkBase(); err == nil {
			t.Errorf("%s was accepted", base)
		}
	}
	for base, want := range map[string]string{
		"https://h.example/":                          "https://h.example/latest",
		"https://forge.example/o/r/releases/download": "https://forge.example/o/r/releases/latest/download",
	} {
		r := &release{base: base}
		if err := r.checkBase(); err != nil || r.latest() != want {
			t.Errorf("%s: %s, %v", base, r.latest(), err)
		}
	}
}

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
	id, changed := strings.CutSuffix(commitOf(t, ".."), "-dirty")
	commit := fmt.Sprintf(`"commit":"%s","modified":%t`, id, changed)
	if id == "" {
		t.Log("the commit of this checkout is unknown")
		commit = `"version":"` + cli.Version + `"`
	}
	for _, command := range []string{"mcp-bash --version --json", "mcp-doctor -v --json"} {
		if out := in(command); !bytes.Contains(out, []byte(commit)) {
			t.Errorf("%s: %s lacks %s", command, out, commit)
		}
	}
	if out := in("cat .local/share/mcp-bash/INSTALLER.json"); !bytes.Contains(out,
		[]byte(`"commit":"`+commitOf(t, "..")+`"`)) {
		t.Errorf("%s lacks %s", out, commitOf(t, ".."))
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
