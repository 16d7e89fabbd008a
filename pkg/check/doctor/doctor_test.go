package doctor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/confine"
)

// A fixture is a managed installation, with the environment of doctor.
type fixture struct {
	t    *testing.T
	root string
	env  project.Env
}

func managed(t *testing.T, version string) *fixture {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{t, filepath.Join(home, ".local", "share", "mcp-bash"), nil}
	h.env = project.Env{"PATH": os.Getenv("PATH"), "HOME": home, "MCPBASH_HOME": h.root,
		"MCPBASH_DOCTOR_LOCK_TIMEOUT_SECS": "0"}
	var list strings.Builder
	for name, content := range installation(t, version) {
		put(t, filepath.Join(h.root, filepath.FromSlash(name)), content)
		fmt.Fprintf(&list, "%s  ./%s\n", sum([]byte(content)), name)
	}
	put(t, filepath.Join(h.root, project.InstallerFile), "{}")
	put(t, filepath.Join(h.root, filesList), list.String())
	return h
}

func put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// installation returns the files of a version, whose programs can only print the version.
func installation(t testing.TB, version string) map[string]string {
	t.Helper()
	installer, err := os.ReadFile(filepath.Join("..", "..", "..", "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"VERSION": version + "\n", "sdk/tool-sdk.sh": "", "lib/x.sh": "",
		"install.sh": string(installer)}
	for _, name := range cli.Programs {
		files["bin/"+name] = fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] && echo %s %s\n", name, version)
	}
	return files
}

// release returns the archive of a version.
func release(t testing.TB, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, content := range installation(t, version) {
		err := w.WriteHeader(&tar.Header{Name: "mcp-bash/" + name, Mode: 0o755, Size: int64(len(content))})
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (h *fixture) doctor(o Options) *Result {
	h.t.Helper()
	if o.Env = h.env.Clone(); o.Dir == "" {
		o.Dir = h.t.TempDir()
	}
	return Examine(h.t.Context(), o)
}

// without returns doctor's result after parts of the installation were removed.
func (h *fixture) without(names ...string) *Result {
	h.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(h.root, name)); err != nil {
			h.t.Fatal(err)
		}
	}
	return h.doctor(Options{})
}

// with returns doctor's result if a variable has a value.
func (h *fixture) with(name, value string) *Result {
	h.t.Helper()
	h.env[name] = value
	return h.doctor(Options{})
}

// around returns doctor's result in a project.
func (h *fixture) around(files map[string]string) *Result {
	h.t.Helper()
	return h.open(0o755, files)
}

// open examines a project whose server.d has a mode.
func (h *fixture) open(mode os.FileMode, files map[string]string) *Result {
	h.t.Helper()
	dir := h.t.TempDir()
	put(h.t, filepath.Join(dir, "server.d", "server.meta.json"), `{"name":"demo"}`)
	for name, content := range files {
		put(h.t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	if err := os.Chmod(filepath.Join(dir, "server.d"), mode); err != nil {
		h.t.Fatal(err)
	}
	return h.doctor(Options{Dir: dir})
}

// tools returns a directory for PATH with programs that print a line.
func (h *fixture) tools(lines map[string]string) string {
	h.t.Helper()
	dir := h.t.TempDir()
	for name, line := range lines {
		put(h.t, filepath.Join(dir, name), "#!/bin/sh\necho '"+line+"'\n")
	}
	return dir
}

// upgraded returns doctor's result when it installs an archive.
func (h *fixture) upgraded(content []byte, verify string, o Options) *Result {
	h.t.Helper()
	o.Archive, o.Verify, o.Fix = filepath.Join(h.t.TempDir(), "archive.tar.gz"), verify, true
	put(h.t, o.Archive, string(content))
	return h.doctor(o)
}

// on returns doctor's result on another system, which marks all files as downloaded.
func (h *fixture) on(system string) *Result {
	h.t.Helper()
	dir := h.t.TempDir()
	put(h.t, filepath.Join(dir, "server.d", "server.meta.json"), `{"name":"demo"}`)
	h.env["MSYSTEM"] = "MINGW64"
	return examine(h.t.Context(), Options{Env: h.env.Clone(), Dir: dir},
		host{system, func(string) (is, known bool) { return true, true }})
}

func (h *fixture) version() string {
	text, _ := os.ReadFile(filepath.Join(h.root, "VERSION"))
	return strings.TrimSpace(string(text))
}

// unchanged fails unless the installation has the given version, and no temporary file is next to it.
func (h *fixture) unchanged(version string) {
	h.t.Helper()
	list, err := os.ReadDir(filepath.Dir(h.root))
	list = slices.DeleteFunc(list, func(d os.DirEntry) bool { return strings.HasPrefix(d.Name(), "mcp-bash") })
	temporary, _ := filepath.Glob(h.root + ".versions/[.l]*") // the stage and the lock
	if h.version() != version || err != nil || len(list) > 0 || temporary != nil {
		h.t.Errorf("version %s, beside it %v, %v, %v", h.version(), list, temporary, err)
	}
}

func sum(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}

// CLI-1112, CLI-1713: the installed install.sh replaces the installation, keeps the user's files,
// and leaves the installation unchanged when it fails.
func TestUpgrade(t *testing.T) {
	h := managed(t, "9.0.0")
	mine := filepath.Join(h.root, "runtimes", "mine")
	put(t, mine, "mine")
	content := release(t, "9.1.0")
	wantFailure(t, h.upgraded(content, sum(nil), Options{}), "self.upgrade_failed", cli.ExitFailed)
	wantFailure(t, h.upgraded(content, sum(content), Options{MinVersion: "9.2.0"}), "self.upgrade_failed", cli.ExitFailed)
	wantFailure(t, h.upgraded(content, "00", Options{}), "self.upgrade_verify_missing", cli.ExitUsage)
	h.unchanged("9.0.0")
	r := h.upgraded(content, strings.ToUpper(sum(content)), Options{MinVersion: "9.1.0"})
	if len(r.Taken) == 0 || r.Taken[0].ID != "self.upgrade" ||
		r.Taken[0].Message != "Updated managed install to version 9.1.0" ||
		!strings.Contains(r.Taken[0].Output, "Kept, as it is yours: "+filepath.Dir(mine)) || r.Framework.Version != "9.1.0" {
		t.Errorf("CLI-1112: %+v", r)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("CLI-1713: %q, %v", text, err)
	}
	for _, s := range r.Shims {
		if s.Status != "ok" {
			t.Errorf("CLI-1111: %+v", s)
		}
	}
	h.unchanged("9.1.0")

	older := release(t, "9.0.0")
	wantFailure(t, h.upgraded(older, sum(older), Options{}), "self.upgrade_downgrade_refused", cli.ExitPolicy)
	h.unchanged("9.1.0")
	h.upgraded(older, sum(older), Options{AllowDowngrade: true})
	h.unchanged("9.0.0")
}

// The install.sh of the Bash edition, whose installations have no list of files, is not run.
func TestBashEdition(t *testing.T) {
	h := managed(t, "1.7.0")
	if err := os.Remove(filepath.Join(h.root, filesList)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(h.root, "install.sh"), "rm -r "+h.root)
	content := release(t, "9.1.0")
	wantFailure(t, h.upgraded(content, sum(content), Options{}), "self.upgrade_failed", cli.ExitFailed)
	h.unchanged("1.7.0")
}

func wantFailure(t *testing.T, r *Result, id string, exit int) {
	t.Helper()
	for _, f := range r.Findings {
		if f.ID == id && r.ExitCode == exit {
			return
		}
	}
	t.Errorf("exit %d, %+v: no %s", r.ExitCode, r.Findings, id)
}

// doctor does not wait for a program that hangs or prints without end, and ignores an invalid
// VERSION.
func TestOddPrograms(t *testing.T) {
	t.Parallel()
	h := managed(t, cli.Version)
	put(t, filepath.Join(h.root, "bin", "mcp-bundle"), "#!/bin/sh\nexec sleep 600\n")
	put(t, filepath.Join(h.root, "bin", "mcp-doctor"), "#!/bin/sh\nwhile :; do echo mcp-doctor "+cli.Version+"; done\n")
	put(t, filepath.Join(h.root, "VERSION"), cli.Version+strings.Repeat(" ", 1<<10))
	began := time.Now()
	r := h.doctor(Options{})
	for _, b := range r.Binaries {
		if odd := b.Name == "mcp-bundle" || b.Name == "mcp-doctor"; b.Agrees == odd {
			t.Errorf("%+v", b)
		}
	}
	if took := time.Since(began); took < askTime || took > time.Minute {
		t.Errorf("it took %v", took)
	}
	wantFailure(t, r, "framework.version_missing", cli.ExitFailed)
}

// CLI-1112: versions compare by three numbers.
func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.0.0", "1.0.1", true}, {"1.9.0", "1.10.0", true}, {"2.0.0", "1.9.9", false}, {"v1.0", "1.0.0", false},
		{"1", "1.0.1", true}, {"", "0.0.1", true}, {"5.2.15(1)-release", "3.2", false}, {"3.1.17(1)-release", "3.2", true},
		{"2.0.0-rc1", "2.0.0", false}, {"99999999999999999999.0.0", "1.0.0", false},
	} {
		if older(c.a, c.b) != c.want {
			t.Errorf("%s < %s: %v", c.a, c.b, !c.want)
		}
	}
}

// situations has a function for each id that produces the finding in an installation without problems.
var situations = map[string]func(h *fixture) *Result{
	"framework.missing":         func(h *fixture) *Result { return h.with("MCPBASH_HOME", h.root+"-gone") },
	"framework.version_missing": func(h *fixture) *Result { return h.without("VERSION") },
	"framework.version_too_old": func(h *fixture) *Result { return h.doctor(Options{MinVersion: "9.9.9"}) },
	"path.not_configured":       func(h *fixture) *Result { return h.with("PATH", h.tools(nil)) },
	"path.shadowed": func(h *fixture) *Result {
		return h.with("PATH", h.tools(map[string]string{"mcp-bash": "mcp-bash 1.0.0"}))
	},
	"runtime.bash_missing": func(h *fixture) *Result { return h.with("PATH", h.tools(nil)) },
	"runtime.bash_too_old": func(h *fixture) *Result {
		return h.with("PATH", h.tools(map[string]string{"bash": "2.05"}))
	},
	"runtime.json_tool_missing":     func(h *fixture) *Result { return h.with("PATH", h.tools(nil)) },
	"runtime.tmp_root_not_writable": func(h *fixture) *Result { return h.with("MCPBASH_TMP_ROOT", h.root+"-gone") },
	"runtime.confine_lacks": func(h *fixture) *Result {
		return h.doctor(Options{Kernel: &confine.Kernel{ABI: 2}})
	},
	"runtime.tmp_root_unset":    func(h *fixture) *Result { return h.doctor(Options{}) },
	"install.home_unset":        func(h *fixture) *Result { return h.with("HOME", "/") },
	"binaries.missing":          func(h *fixture) *Result { return h.without("bin/mcp-bundle") },
	"binaries.version_mismatch": func(h *fixture) *Result { return managed(h.t, "1.9.0").doctor(Options{}) },
	"sdk.missing":               func(h *fixture) *Result { return h.without("sdk") },
	"sdk.version_mismatch":      func(h *fixture) *Result { return managed(h.t, "1.9.0").doctor(Options{}) },
	"project.server_meta_invalid": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/server.meta.json": "{"})
	},
	"project.register_permissions": func(h *fixture) *Result {
		return h.open(0o757, map[string]string{"server.d/register.json": `{"version":1}`})
	},
	"project.policy_hook_replaces_default": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/policy.sh": "mcp_tools_policy_check() { :; }\n"})
	},
	"project.lock_drift": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/server.meta.json": `{"name":"demo","locked":true}`})
	},
	"project.registry_missing": func(h *fixture) *Result { return h.around(nil) },
	"project.env_key_refused": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/server.meta.json": `{"name":"demo","env":{"API_KEY":"x"}}`})
	},
	"project.env_key_invalid": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/server.meta.json": `{"name":"demo","env":[]}`})
	},
	"project.env_inherit_blocked": func(h *fixture) *Result {
		return h.around(map[string]string{
			"server.d/server.meta.json": `{"name":"demo","env":{"MCPBASH_TOOL_ENV_MODE":"inherit"}}`,
		})
	},
	"project.env_allowlist_invalid_name": func(h *fixture) *Result {
		h.env["MCPBASH_PROVIDER_ENV_ALLOWLIST"] = "A,b-c"
		return h.around(nil)
	},
	"project.requirements_invalid": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/requirements.json": "{"})
	},
	"project.validate_errors": func(h *fixture) *Result {
		return h.around(map[string]string{"tools/x/tool.meta.json": "{"})
	},
	"project.vendor_modified": func(h *fixture) *Result { return h.around(vendored(cli.Version, "as it was put there")) },
	"project.vendor_outdated": func(h *fixture) *Result { return h.around(vendored("1.0.0", "x")) },
	"deps.missing": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/requirements.json": `{"dependencies":[{"name":"no-such-program"}]}`})
	},
	"env.unknown": func(h *fixture) *Result {
		h.env["MCPBASH_LOG_LEVLE"] = "debug"
		return h.doctor(Options{})
	},
	"deps.too_old": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/requirements.json": `{"dependencies":[{"name":"bash",` +
			`"minVersion":"99.0","check":"bash --version"}]}`})
	},
	"deps.unknown": func(h *fixture) *Result {
		return h.around(map[string]string{"server.d/requirements.json": `{"dependencies":[{"name":"bash",` +
			`"check":"bash -c 'touch x'"}]}`})
	},
	"macos.framework_quarantined": func(h *fixture) *Result { return h.on("darwin") },
	"macos.project_quarantined":   func(h *fixture) *Result { return h.on("darwin") },
	"windows.msys_detected":       func(h *fixture) *Result { return h.on("windows") },
	"shim.status":                 func(h *fixture) *Result { return h.doctor(Options{}) },
	"shim.refuse_overwrite": func(h *fixture) *Result {
		put(h.t, filepath.Join(h.env["HOME"], ".local", "bin", "mcp-bash"), "somebody else's")
		return h.doctor(Options{Fix: true})
	},
	"optional.gojq_missing":       func(h *fixture) *Result { return h.with("PATH", h.tools(nil)) },
	"optional.shellcheck_missing": func(h *fixture) *Result { return h.with("PATH", h.tools(nil)) },
	"optional.npx_missing":        func(h *fixture) *Result { return h.with("PATH", h.tools(nil)) },
	"doctor.min_version_invalid":  func(h *fixture) *Result { return h.doctor(Options{MinVersion: "latest"}) },
	"self.upgrade_source_missing": func(h *fixture) *Result { return h.doctor(Options{Fix: true, MinVersion: "9.9.9"}) },
	"self.upgrade_verify_missing": func(h *fixture) *Result { return h.upgraded(nil, "", Options{}) },
	"self.upgrade_failed":         func(h *fixture) *Result { return h.upgraded([]byte("x"), sum(nil), Options{}) },
	"shim.failed": func(h *fixture) *Result {
		put(h.t, filepath.Join(h.env["HOME"], ".local", "bin"), "a file")
		return h.doctor(Options{Fix: true})
	},
	"self.upgrade_downgrade_refused": func(h *fixture) *Result {
		content := release(h.t, "1.9.0")
		return h.upgraded(content, sum(content), Options{})
	},
}

// CLI-1011, CLI-1106: each rule has an explanation, and a situation that produces it. An installation without problems
// has no findings.
func TestRules(t *testing.T) {
	h := managed(t, cli.Version)
	if r := h.doctor(Options{Fix: true}); len(r.Taken) != len(cli.Programs) {
		t.Errorf("not fixed: %+v", r.Findings)
	}
	tools := h.tools(map[string]string{"bash": "5.2.15(1)-release", "jq": "", "gojq": "", "shellcheck": "", "npx": ""})
	h.env["PATH"] = tools + string(filepath.ListSeparator) + filepath.Join(h.root, "bin")
	h.env["MCPBASH_TMP_ROOT"] = t.TempDir()
	if r := h.doctor(Options{}); len(r.Findings) != 0 {
		t.Errorf("nothing is wrong: %+v", r.Findings)
	}
	for id := range situations {
		if Rules().Find(id) == nil {
			t.Errorf("%s is no rule", id)
		}
	}
	seen := map[string]bool{}
	for _, rule := range Rules() {
		if seen[rule.ID] || rule.Summary == "" || rule.Reason == "" || rule.Severity == finding.Error && rule.Fix == "" {
			t.Errorf("%s is given twice, or does not explain itself", rule.ID)
		}
		seen[rule.ID] = true
		if !slices.Contains([]finding.Severity{finding.Info, finding.Warning, finding.Error}, rule.Severity) {
			t.Errorf("%s: severity %q", rule.ID, rule.Severity)
		}
		t.Run(rule.ID, func(t *testing.T) {
			t.Parallel()
			produce := situations[rule.ID]
			if produce == nil {
				t.Fatal("no situation produces it")
			}
			r := produce(managed(t, cli.Version))
			if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
				return f.ID == rule.ID && f.Severity == rule.Severity && f.Message != ""
			}) {
				t.Errorf("not found in %+v", r.Findings)
			}
		})
	}
}

// CLI-1106a: doctor reports a register.json or register.sh that the server will refuse.
func TestRegistration(t *testing.T) {
	for name, c := range map[string]struct {
		mode  os.FileMode
		hooks string
		files map[string]string
		want  string
	}{
		"register.json": {0o757, "", map[string]string{"server.d/register.json": `{"version":1}`},
			"server.d/register.json refused: server.d is group- or world-writable (fix: chmod g-w,o-w server.d)"},
		"trusted":          {0o755, "", map[string]string{"server.d/register.json": `{"version":1}`}, ""},
		"no hooks allowed": {0o757, "", map[string]string{"server.d/register.sh": "#!/bin/sh\n"}, ""},
		"register.sh": {0o757, "true", map[string]string{"server.d/register.sh": "#!/bin/sh\n"},
			"server.d/register.sh refused: server.d is group- or world-writable (fix: chmod g-w,o-w server.d)"},
		"register.json goes before": {0o757, "true",
			map[string]string{"server.d/register.sh": "#!/bin/sh\n", "server.d/register.json": `{"version":1}`},
			"server.d/register.json refused: server.d is group- or world-writable (fix: chmod g-w,o-w server.d)"},
		"none": {0o757, "true", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := managed(t, cli.Version)
			h.env["MCPBASH_ALLOW_PROJECT_HOOKS"] = c.hooks
			got := ""
			for _, f := range h.open(c.mode, c.files).Findings {
				if f.ID == "project.register_permissions" {
					got += f.Message
				}
			}
			if got != c.want {
				t.Errorf("CLI-1106a: %q, want %q", got, c.want)
			}
		})
	}
}

// P-103a: this release satisfies a project that requires a release of the Bash edition.
func TestMinimumOfBashEdition(t *testing.T) {
	for _, minimum := range []string{"1.3.0", "1.7.0", "v1.7", "1.99.99"} {
		h := managed(t, cli.Version)
		files := map[string]string{"server.d/requirements.json": `{"framework":{"minVersion":"` + minimum + `"}}`}
		for _, r := range []*Result{h.around(files), h.doctor(Options{MinVersion: minimum})} {
			for _, f := range r.Findings {
				if f.ID == "framework.version_too_old" || f.ID == "project.requirements_invalid" {
					t.Errorf("P-103a: %s: %s", minimum, f.Message)
				}
			}
		}
	}
}

// CLI-1109a: doctor reads the files of a configured server directory, and prints their paths relative to the project.
func TestServerDirectory(t *testing.T) {
	report := func(meta string) string {
		h := managed(t, cli.Version)
		dir := t.TempDir()
		put(t, filepath.Join(dir, "server.d", "server.meta.json"), `{"name":"marker"}`)
		put(t, filepath.Join(dir, "config.d", "server.meta.json"), meta)
		put(t, filepath.Join(dir, "config.d", "requirements.json"), `{"dependencies":[{"name":"no-such-program"}]}`)
		h.env["MCPBASH_SERVER_DIR"] = filepath.Join(dir, "config.d")
		var b strings.Builder
		h.doctor(Options{Dir: dir}).Report(&b)
		return b.String()
	}
	for meta, want := range map[string]string{`{"name":"demo"}`: "✓ config.d/server.meta.json: valid\n",
		`{`: "⚠ config.d/server.meta.json: invalid JSON\n"} {
		const missing = "Missing dependency: no-such-program"
		if got := report(meta); !strings.Contains(got, want) || !strings.Contains(got, missing) {
			t.Errorf("CLI-1109a: %q is not in %s", want, got)
		}
	}
}

// T-34: doctor reports a policy.sh that replaces the default policy.
func TestPolicyHook(t *testing.T) {
	text := func(policy string) (found string) {
		for _, f := range managed(t, cli.Version).around(map[string]string{"server.d/policy.sh": policy}).Findings {
			if f.ID == "project.policy_hook_replaces_default" {
				found += f.Message
			}
		}
		return found
	}
	want := `policy.sh replaces the default tool policy (deny-by-default allowlist and tool path checks); start ` +
		`mcp_tools_policy_check with: mcp_tools_policy_check_default "$@" || return 1`
	if got := text("mcp_tools_policy_check() { :; }\n"); got != want {
		t.Errorf("T-34: %q", got)
	}
	if got := text("mcp_tools_policy_check() { mcp_tools_policy_check_default \"$@\" || return 1; }\n"); got != "" {
		t.Errorf("T-34: %q", got)
	}
}

// vendored returns the files of a project with a vendored server. vendor.json records a version
// and a content. The actual content is x.
func vendored(version, content string) map[string]string {
	digest := sum([]byte("bin/x:" + sum([]byte(content)) + "\n"))
	return map[string]string{".mcp-bash/bin/x": "x", "run-server.sh": "start", ".mcp-bash/vendor.json": fmt.Sprintf(
		`{"version":%q,"sha256":%q,"format_version":2,"launcher":%q,"files":{"bin/x":%q}}`, version, digest,
		sum([]byte("start")), sum([]byte(content)))}
}

// CLI-1610: a server in the project that was changed, and one of an older release.
func TestVendored(t *testing.T) {
	h := managed(t, cli.Version)
	look := func(version, content string) (modified, outdated bool) {
		for _, f := range h.around(vendored(version, content)).Findings {
			modified = modified || f.ID == "project.vendor_modified"
			outdated = outdated || f.ID == "project.vendor_outdated"
		}
		return modified, outdated
	}
	for _, c := range []struct {
		version, content   string
		modified, outdated bool
	}{
		{cli.Version, "x", false, false}, {"1.0.0", "x", false, true}, {cli.Version, "y", true, false},
	} {
		if modified, outdated := look(c.version, c.content); modified != c.modified || outdated != c.outdated {
			t.Errorf("%s, %s: modified %v, outdated %v", c.version, c.content, modified, outdated)
		}
	}
}
