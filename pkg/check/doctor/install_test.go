package doctor

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

// record writes the record of install.sh.
func (h *fixture) record(text string) {
	h.t.Helper()
	put(h.t, filepath.Join(h.root, project.InstallerFile), text)
}

// upgrades runs the command of an upgrade, as mcp-doctor does, and returns its output and exit code.
func (h *fixture) upgrades(check bool) (output string, code int) {
	h.t.Helper()
	u, err := PlanUpgrade(h.env, check)
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(u.Argv[0], u.Argv[1:]...)
	cmd.Env, cmd.Dir = u.Env.Entries(), h.t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// CLI-1117: the installed install.sh installs the latest release of the recorded address.
func TestUpgradeToRelease(t *testing.T) {
	h := managed(t, "1.0.0")
	archive := release(t, "2.0.0")
	name := fmt.Sprintf("mcp-bash-v2.0.0-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	files := map[string]string{"/v2.0.0/" + name: string(archive), "/v2.0.0/SHA256SUMS": sum(archive) + "  " + name + "\n"}
	files["/latest/SHA256SUMS"] = files["/v2.0.0/SHA256SUMS"]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content, ok := files[r.URL.Path]; ok {
			w.Write([]byte(content))
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPmHLA4Nm4vPjq6oK1k3hGGNEzBN6CUxCPs6hP9LrGX"
	h.record(`{"managed":true,"source":"release","ref":"v1.0.0","from":"` + server.URL + `","key":"` + key + `"}`)
	if out, code := h.upgrades(false); code == 0 || h.version() != "1.0.0" || strings.Contains(out, "Symlinked") {
		t.Errorf("without the signature of the recorded key: %d, %s", code, out)
	}
	h.record(`{"managed":true,"source":"release","ref":"v1.0.0","from":"` + server.URL + `"}`)
	if out, code := h.upgrades(true); code != 1 || !strings.Contains(out, "⚠ A newer release exists: 2.0.0\n") ||
		h.version() != "1.0.0" {
		t.Errorf("%d, %s", code, out)
	}
	if out, code := h.upgrades(false); code != 0 || h.version() != "2.0.0" {
		t.Errorf("%d, %s", code, out)
	}
	out, code := h.upgrades(true)
	if code != 0 || !strings.Contains(out, "✓ No newer release exists; the latest is 2.0.0\n") {
		t.Errorf("%d, %s", code, out)
	}
}

// CLI-1117: the record determines the source of the next version, or a remedy if it has no source.
func TestUpgradeSources(t *testing.T) {
	const noAddress = "no address of releases is known; HOME was installed from "
	const remedy = "\ndownload the archive of the next version, then run: sh FILE --archive FILE"
	for record, want := range map[string]string{
		`{"source":"local","checkout":"/src/mcp bash"}`: "MCPBASH_INSTALL_LOCAL_SOURCE='/src/mcp bash' sh INSTALL",
		`{"source":"git","ref":"main","from":"https://git.example/mcp"}`: "MCPBASH_INSTALL_REPO_URL=" +
			"https://git.example/mcp sh INSTALL --ref main",
		`{"source":"release","from":"https://a.example/mcp"}`: "MCPBASH_RELEASE_BASE_URL=https://a.example/mcp " +
			"sh INSTALL --version latest",
		`{"source":"release","from":"https://a.example/mcp","key":"RWQ="}`: "MCPBASH_RELEASE_BASE_URL=" +
			"https://a.example/mcp sh INSTALL --version latest --verify-signature RWQ=",
		`{"source":"archive","from":"/tmp/a.tar.gz"}`: noAddress + "/tmp/a.tar.gz" + remedy,
		`{"source":"release"}`:                        noAddress + "an archive" + remedy,
	} {
		h := managed(t, "1.0.0")
		h.record(record)
		file := filepath.Join(h.root, "install.sh")
		want = strings.NewReplacer("INSTALL ", file+" --yes --no-modify-path ", "sh FILE", "sh "+file, "HOME", h.root).
			Replace(want + " ")
		u, err := PlanUpgrade(h.env, false)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = u.Command
		}
		if got+" " != want {
			t.Errorf("%s:\n%s\nwant %s", record, got, want)
		}
	}
	h := managed(t, "1.0.0")
	h.record(`{"source":"git","ref":"main","from":"https://git.example/mcp"}`)
	const only = "only releases can be compared; this was installed from https://git.example/mcp"
	if _, err := PlanUpgrade(h.env, true); err == nil || err.Error() != only {
		t.Error(err)
	}
	// The file RELEASES has precedence over the record, and the environment over both.
	h.record(`{"source":"archive","from":"/tmp/a.tar.gz"}`)
	put(t, filepath.Join(h.root, "RELEASES"), "https://b.example/mcp\n")
	const other = "https://c.example/mcp"
	for base, value := range map[string]string{"https://b.example/mcp": "", other: other} {
		h.env["MCPBASH_RELEASE_BASE_URL"] = value
		if u, err := PlanUpgrade(h.env, false); err != nil || u.Env["MCPBASH_RELEASE_BASE_URL"] != base {
			t.Errorf("%+v, %v", u, err)
		}
	}
	// An installation in another directory is updated there.
	h.env["HOME"] = t.TempDir()
	if u, err := PlanUpgrade(h.env, false); err != nil || !strings.Contains(u.Command,
		" --prefix "+filepath.Dir(filepath.Dir(h.root))+" ") {
		t.Errorf("%+v, %v", u, err)
	}
	// An installation that another user can change, or whose install.sh would first remove it, does not run its
	// install.sh.
	for _, spoil := range []func() error{
		func() error { return os.Chmod(filepath.Join(h.root, "install.sh"), 0o777) },
		func() error { return os.Remove(filepath.Join(h.root, filesList)) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		_, err := PlanUpgrade(h.env, false)
		if refused, ok := errors.AsType[*cli.Error](err); !ok || refused.Exit != cli.ExitPolicy {
			t.Errorf("%v", err)
		}
	}
}

// CLI-1117: the path of an installation identifies the package manager.
func TestUpgradeByManager(t *testing.T) {
	for place, want := range map[string]string{
		"opt/homebrew/Cellar/mcp-bash/2.0.0":                                  "brew upgrade mcp-bash",
		"home/.npm/_npx/1f/node_modules/@mcp-bash/linux-x64":                  "npx -y mcp-bash@latest",
		"usr/lib/node_modules/@mcp-bash/linux-x64":                            "npm install -g mcp-bash@latest",
		"home/app/node_modules/@mcp-bash/linux-x64":                           "npm install mcp-bash@latest",
		"home/.local/share/pipx/venvs/mcp-bash":                               "pipx upgrade mcp-bash",
		"home/.local/share/uv/tools/mcp-bash":                                 "uv tool upgrade mcp-bash",
		"venv+lib/python3.11/site-packages/mcp_bash-2.0.0.dist-info/METADATA": "pip install --upgrade mcp-bash",
		"project/.mcp-bash+vendor.json":                                       "mcp-bash vendor --upgrade",
		"src/mcp-bash+cmd/mcp-bash/main.go":                                   "git pull && make build",
		"usr/lib/mcp-bash+../../../var/lib/dpkg/info/mcp-bash.list": "sudo dpkg -i mcp-bash_VERSION_" + runtime.GOARCH +
			".deb",
		"usr/lib/mcp-bash": "sudo rpm -U mcp-bash-VERSION-1.ARCH.rpm",
		"elsewhere":        "",
	} {
		dir, file, _ := strings.Cut(place, "+")
		home := filepath.Join(t.TempDir(), filepath.FromSlash(dir))
		put(t, filepath.Join(home, "sdk", "tool-sdk.sh"), "")
		put(t, filepath.Join(home, filepath.FromSlash(file), "x"), "")
		u, err := PlanUpgrade(project.Env{"MCPBASH_HOME": home, "HOME": t.TempDir()}, false)
		if err != nil || u.Command != want || u.Argv != nil {
			t.Errorf("%s: %+v, %v", place, u, err)
		}
	}
}
