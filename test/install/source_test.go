//go:build unix

package install

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-1703, CLI-1704, CLI-1707: releases from a server on this machine, with what there
// is to download with.
func TestDownload(t *testing.T) {
	good := pack(stub("2.0.0"))
	var mu sync.Mutex
	files := map[string]string{}
	asked := []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
		if content, ok := files[r.URL.Path]; ok {
			w.Write([]byte(content))
		} else {
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	sums := strings.Repeat("0", 64) + "  install.sh\n" + sum(good) + "  " + name("2.0.0") + "\n"
	serve := func(content map[string]string) {
		mu.Lock()
		defer mu.Unlock()
		files, asked = content, nil
	}
	release := map[string]string{"/v2.0.0/" + name("2.0.0"): string(good), "/v2.0.0/SHA256SUMS": sums,
		"/latest/SHA256SUMS": sums}

	for _, client := range []string{"curl", "wget", "busybox"} {
		t.Run(client, func(t *testing.T) {
			if _, err := exec.LookPath(client); err != nil {
				t.Skip(client + " is not installed")
			}
			serve(release)
			u := newUser(t)
			u.env["PATH"] = u.only(append([]string{client}, commands...)...)
			if client == "busybox" {
				if err := os.Symlink("busybox", filepath.Join(u.env["PATH"], "wget")); err != nil {
					t.Fatal(err)
				}
			}
			u.env["MCPBASH_RELEASE_BASE_URL"] = server.URL + "/"
			u.installs("--version", "2.0.0")
			var mark struct{ Source, Ref string }
			if err := json.Unmarshal([]byte(u.read(".local/share/mcp-bash/INSTALLER.json")), &mark); err != nil ||
				mark.Source != "release" || mark.Ref != "v2.0.0" || u.version() != "2.0.0" {
				t.Errorf("%+v, %v", mark, err)
			}
			u.fails(1, "Download failed: "+server.URL+"/v2.0.1/"+name("2.0.1"), "--version", "v2.0.1")
		})
	}

	u := newUser(t)
	here := filepath.Join(checkout.Root(), "install.sh")
	// Without a checkout next to it, install.sh installs the latest release.
	alone := func(args ...string) result {
		t.Helper()
		text, err := os.ReadFile(here)
		if err != nil {
			t.Fatal(err)
		}
		cmd := u.command(append([]string{"sh", "-s", "--"}, args...)...)
		cmd.Stdin = strings.NewReader(string(text))
		return u.runs(cmd)
	}
	if r := alone(); r.code != 1 || !strings.Contains(r.errors, "Set MCPBASH_RELEASE_BASE_URL") {
		t.Errorf("%+v", r)
	}
	u.env["MCPBASH_RELEASE_BASE_URL"] = server.URL
	serve(release)
	if r := alone("--offline"); r.code != 1 || !strings.Contains(r.errors, "Not downloaded because of --offline") ||
		len(asked) > 0 {
		t.Errorf("%+v, asked %q", r, asked)
	}
	if r := alone(); r.code != 0 || u.version() != "2.0.0" {
		t.Errorf("%+v", r)
	}
	if want := []string{"/latest/SHA256SUMS", "/v2.0.0/" + name("2.0.0"), "/v2.0.0/SHA256SUMS"}; !slices.Equal(asked,
		want) {
		t.Errorf("asked %q", asked)
	}
	// A forge has the latest release elsewhere.
	u.env["MCPBASH_RELEASE_BASE_URL"] = server.URL + "/releases/download"
	serve(map[string]string{"/releases/download/v2.0.0/" + name("2.0.0"): string(good),
		"/releases/download/v2.0.0/SHA256SUMS": sums,
		"/releases/latest/download/SHA256SUMS": sums})
	if r := alone("--yes"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	serve(map[string]string{"/releases/latest/download/SHA256SUMS": strings.Repeat("0", 64) + "  other\n"})
	if r := alone("--yes"); r.code != 1 || !strings.Contains(r.errors,
		"The latest release has no archive for "+system) {
		t.Errorf("%+v", r)
	}
	u.env["MCPBASH_RELEASE_BASE_URL"] = server.URL

	// A download that nothing is known of is refused, and so is one that is not it.
	archive := server.URL + "/v2.0.0/" + name("2.0.0")
	serve(map[string]string{"/v2.0.0/" + name("2.0.0"): string(good)})
	u.fails(1, "SHA256SUMS not found next to "+archive, "--archive", archive)
	u.fails(1, "SHA256SUMS not found next to", "--version", "2.0.0")
	u.installs("--archive", archive, "--no-verify")
	u.installs("--archive", archive+"?token=x#y", "--verify", sum(good))
	if mark := u.read(".local/share/mcp-bash/INSTALLER.json"); strings.Contains(mark, "token") {
		t.Errorf("%s", mark) // CLI-1708
	}
	serve(map[string]string{"/v2.0.0/" + name("2.0.0"): string(good) + "x", "/v2.0.0/SHA256SUMS": sums})
	u.fails(1, "SHA256 checksum verification failed", "--version", "2.0.0")
	u.fails(1, "SHA256 checksum verification failed", "--version", "2.0.0", "--verify", sum(good))
	u.env["MCPBASH_INSTALL_ARCHIVE_URL"] = archive
	u.fails(1, "SHA256 checksum verification failed")
	if got := u.version(); got != "2.0.0" || u.leftovers() != nil {
		t.Errorf("now there is %q, left %q", got, u.leftovers())
	}
	u.env["PATH"] = u.only(commands...)
	u.fails(1, "curl or wget is needed")
}

// CLI-1704: an unpacked archive installs itself, without a network, and an installation
// does not install itself over itself.
func TestUnpacked(t *testing.T) {
	u := newUser(t)
	text, err := os.ReadFile(filepath.Join(checkout.Root(), "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	archive := pack(with("2.0.0", map[string]string{"mcp-bash/install.sh": string(text)}))
	tar := u.command("tar", "-xzf", unverified(t, archive))
	if out, err := tar.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r := u.runs(u.command("sh", "mcp-bash/install.sh", "--offline")); r.code != 0 || u.version() != "2.0.0" {
		t.Fatalf("%+v", r)
	}
	own := filepath.Join(u.dir(), "install.sh")
	if r := u.runs(u.command("sh", own)); r.code != 1 || !strings.Contains(r.errors, "It is installed there already") {
		t.Errorf("%+v", r)
	}
	u.env["MCPBASH_INSTALL_LOCAL_SOURCE"] = u.path("mcp-bash")
	u.installs()
	u.installs("--branch", "no-such-branch") // the directory goes before it (CLI-1704)
	u.installs("--branch", "v9.9.9")
	if u.version() != "2.0.0" {
		t.Errorf("CLI-1704: installed %s", u.version())
	}
	u.env["MCPBASH_INSTALL_LOCAL_SOURCE"] = u.home
	u.fails(1, "Neither a checkout nor an installation of mcp-bash: "+u.home, "--branch", "main")
	u.fails(1, "Neither a checkout nor an installation of mcp-bash: "+u.home)
	delete(u.env, "MCPBASH_INSTALL_LOCAL_SOURCE")
	if r := u.runs(u.command("sh", own, "--uninstall")); r.code != 0 || u.version() != "" {
		t.Errorf("%+v", r)
	}
}

// goEnv returns variables with which Go builds in an empty home, from the caches of the real one.
func (u *user) goEnv() {
	u.t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		u.t.Fatal(err)
	}
	v := strings.Fields(string(out))
	u.env["GOCACHE"], u.env["GOMODCACHE"] = v[0], v[1]
	u.env["PATH"] = filepath.Join(v[2], "bin") + ":" + u.env["PATH"]
}

// From a checkout, install.sh builds everything without a network. The commands work with their tree,
// and each has a manual page and completions.
func TestCheckout(t *testing.T) {
	u := newUser(t)
	u.goEnv()
	u.env["GOPROXY"] = "off"
	u.env["GOOS"] = "plan9" // not what is built for
	if _, err := exec.LookPath("make"); err != nil {
		u.installs("--offline", "--no-modify-path")
	} else if r := u.runs(u.command("make", "-C", checkout.Root(), "install")); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	delete(u.env, "GOOS")
	u.env["PATH"] = u.path(".local/bin") + ":" + u.env["PATH"]
	tell := func(args ...string) string {
		t.Helper()
		out, err := u.command(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return string(out)
	}
	dirs, err := filepath.Glob(filepath.Join(checkout.Root(), "cmd", "*"))
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%q, %v", dirs, err)
	}
	version := strings.TrimSpace(u.read(".local/share/mcp-bash/VERSION"))
	commit := strings.TrimSpace(tell("sh", filepath.Join(checkout.Root(), "release", "commit.sh")))
	if mark := u.read(".local/share/mcp-bash/INSTALLER.json"); !strings.Contains(mark, `"commit":"`+commit+`"`) {
		t.Errorf("INSTALLER.json lacks %q: %s", commit, mark)
	}
	id, changed := strings.CutSuffix(commit, "-dirty")
	want := fmt.Sprintf(`"commit":"%s","modified":%t`, id, changed)
	if got := tell("mcp-registry", "--version", "--json"); commit != "" && !strings.Contains(got, want) {
		t.Errorf("--version --json lacks %s: %s", want, got)
	}
	for _, dir := range dirs {
		command := filepath.Base(dir)
		if got := tell(command, "--version"); got != command+" "+version+"\n" {
			t.Errorf("%q", got)
		}
		if page := u.read(".local/share/man/man1/" + command + ".1"); page != tell(command, "__manual") ||
			!strings.HasPrefix(page, ".TH "+strings.ToUpper(command)) {
			t.Errorf("%s: another manual page: %.40q", command, page)
		}
		for _, file := range []string{"bash-completion/completions/" + command, "fish/vendor_completions.d/" +
			command + ".fish",
			"zsh/site-functions/_mcp-bash"} {
			if text := u.read(".local/share/" + file); !strings.Contains(text, command) {
				t.Errorf("%s does not complete %s", file, command)
			}
		}
		file := u.path(".local/share/bash-completion/completions/" + command)
		if got := tell("bash", "-c", `source "$1" && complete -p "$2"`, "bash", file, command); !strings.Contains(got,
			"__mcp_bash") {
			t.Errorf("%q", got)
		}
		if _, err := exec.LookPath("mandoc"); err == nil {
			if got := tell("mandoc", "-T", "ascii",
				u.path(".local/share/man/man1/"+command+".1")); !strings.Contains(got, command) {
				t.Errorf("%s: %s", command, got)
			}
		}
	}
	if _, err := exec.LookPath("zsh"); err == nil {
		code := `fpath=("$1" $fpath); autoload -Uz compinit
compinit -u -d "$HOME/zcompdump" && echo "${_comps[mcp-runtool]}"`
		if got := tell("zsh", "-fc", code, "zsh", u.path(".local/share/zsh/site-functions")); got != "_mcp-bash\n" {
			t.Errorf("zsh: %q", got)
		}
	}
	if _, err := exec.LookPath("fish"); err == nil {
		if got := tell("fish", "-c", "complete -C 'mcp-bash run-t'"); !strings.HasPrefix(got, "run-tool\t") {
			t.Errorf("fish: %q", got)
		}
	}
	tell("mcp-bash", "new", "demo")
	project := u.path("demo")
	u.env["MCPBASH_PROJECT_ROOT"] = project
	u.bundlesOther()
	if got := tell("mcp-runtool", "hello", "--allow-self", "--json"); !strings.Contains(got, "Hello, World!") {
		t.Errorf("%q", got)
	}
	// A script that no server started finds this tree, and the JSON program in it.
	u.env["MCP_SDK"] = filepath.Join(u.dir(), "sdk")
	u.env["MCP_TOOL_ARGS_JSON"] = `{"name":"Ada"}`
	if got := tell("bash", filepath.Join(project, "tools", "hello", "tool.sh")); !strings.Contains(got, "Hello, Ada!") {
		t.Errorf("%q", got)
	}
	jq := filepath.Join(u.dir(), "bin", "mcp-jq")
	if got := tell(jq, "-n", "1+1"); got != "2\n" {
		t.Errorf("mcp-jq: %q", got)
	}
	helper := u.command(jq, "--helper", "quote") // CLI-208
	helper.Stdin = strings.NewReader("a\"b")
	if out, err := helper.Output(); err != nil || string(out) != `"a\"b"` {
		t.Errorf("mcp-jq --helper: %q, %v", out, err)
	}
	delete(u.env, "MCPBASH_PROJECT_ROOT")
	// CLI-1709: an uninstall prints the entries of clients for these programs, and commands that remove them.
	apply := []string{"mcp-bash", "config", "--project-root", project, "--client", "cursor", "--apply"}
	tell(apply...)
	entries := tell("mcp-bash", "config", "--entries")
	_, command, found := strings.Cut(entries, "\n  ")
	if !found || !strings.HasPrefix(entries, "Cursor: demo in "+u.path(".cursor/mcp.json")+"\n") {
		t.Fatalf("%q", entries)
	}
	tell("sh", "-c", command)
	if got := tell("mcp-bash", "config", "--entries"); got != "" {
		t.Errorf("%q", got)
	}
	tell(apply...)
	entry := u.read(".cursor/mcp.json")
	out := u.installs("--uninstall").out
	if strings.Count(out, entries) != 2 || !strings.HasSuffix(out, "or with another mcp-bash:\n"+entries) {
		t.Errorf("%s\nlacks %s", out, entries)
	}
	if got := u.read(".cursor/mcp.json"); got != entry {
		t.Errorf("%s", got)
	}
	if _, err := os.Stat(u.dir()); err == nil {
		t.Error("it is still there")
	}
}

// bundlesOther makes a bundle for another system. An installation has no program for it, and the command
// prints the setting that has it built from the checkout (CLI-1166, CLI-1422).
func (u *user) bundlesOther() {
	u.t.Helper()
	arch := "arm64"
	if runtime.GOARCH == arch {
		arch = "amd64"
	}
	bundle := []string{"mcp-bash", "bundle", "--platform", "linux", "--arch", arch}
	r := u.runs(u.command(bundle...))
	setting := regexp.MustCompile(`→ run the command again with (MCPBASH_HOME=\S+), to build`).FindStringSubmatch(r.errors)
	if r.code != 3 || !strings.Contains(r.errors, " in: "+u.dir()+"/runtimes, ") || setting == nil {
		u.t.Fatalf("bundle: %+v", r)
	}
	again := u.command(bundle...)
	again.Env = append(again.Env, setting[1])
	if r := u.runs(again); r.code != 0 || !strings.Contains(r.out, "Target platforms: linux") {
		u.t.Errorf("bundle with %s: %+v", setting[1], r)
	}
}

// CLI-1703: branches, tags and commits are cloned and built.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	u := newUser(t)
	u.goEnv()
	git := func(args ...string) string {
		t.Helper()
		cmd := u.command(append([]string{"git", "-C", u.path("sources"), "-c", "user.name=x", "-c",
			"user.email=x@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	source := func(version string) {
		t.Helper()
		u.write("sources/go.mod", "module mcp-bash\n\ngo 1.26\n", 0o644)
		u.write("sources/cmd/mcp-bash/main.go", "package main\n\nfunc main() {}\n", 0o644)
		program := strings.ReplaceAll(stub(version)["mcp-bash/bin/mcp-bash"], "'", `'\''`)
		u.write("sources/release/tree.sh",
			"set -e\n[ -x \"$1/mcp-bash\" ]\nmkdir -p \"$2/bin\" \"$2/sdk\"\necho "+version+" >\"$2/VERSION\"\n"+
				"echo '# "+version+"' >\"$2/sdk/tool-sdk.sh\"\nprintf %s '"+program+
				"' >\"$2/bin/mcp-bash\"\nchmod +x \"$2/bin/mcp-bash\"\n", 0o755)
		script, err := os.ReadFile(filepath.Join(checkout.Root(), "release", "commit.sh"))
		if err != nil {
			t.Fatal(err)
		}
		u.write("sources/release/commit.sh", string(script), 0o755)
		git("add", ".")
		git("commit", "-q", "-m", version)
	}
	if err := os.Mkdir(u.path("sources"), 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	source("2.0.0")
	git("tag", "old")
	first := git("rev-parse", "HEAD")
	git("checkout", "-q", "-b", "next/one")
	source("2.1.0")
	git("checkout", "-q", "main")
	u.fails(1, "Set MCPBASH_INSTALL_REPO_URL", "--branch", "main")
	u.env["MCPBASH_INSTALL_REPO_URL"] = "--upload-pack=touch evil"
	u.fails(1, "Not a repository", "--branch", "main")
	u.env["MCPBASH_INSTALL_REPO_URL"] = u.path("sources")
	for ref, want := range map[string]string{"next/one": "2.1.0", "old": "2.0.0", first[:10]: "2.0.0",
		"main": "2.0.0"} {
		u.installs("--ref", ref, "--allow-downgrade", "--offline")
		var mark struct{ Source, Ref, Version, Commit string }
		if err := json.Unmarshal([]byte(u.read(".local/share/mcp-bash/INSTALLER.json")), &mark); err != nil ||
			mark.Source != "git" ||
			mark.Ref != ref || mark.Version != want || want == "2.0.0" && mark.Commit != first {
			t.Errorf("%s: %+v, %v", ref, mark, err)
		}
	}
	// CLI-1708: the record of an installation from a checkout has its path and commit.
	const odd = `my "sour\ces"`
	if err := os.Rename(u.path("sources"), u.path(odd)); err != nil {
		t.Fatal(err)
	}
	u.env["MCPBASH_INSTALL_LOCAL_SOURCE"] = odd
	for _, dirty := range []string{"", "-dirty"} {
		u.installs("--allow-downgrade", "--offline")
		var mark struct{ Source, Commit, Checkout string }
		if err := json.Unmarshal([]byte(u.read(".local/share/mcp-bash/INSTALLER.json")), &mark); err != nil ||
			mark.Source != "local" || mark.Commit != first+dirty || mark.Checkout != u.path(odd) {
			t.Errorf("%+v, %v", mark, err)
		}
		u.write(odd+"/cmd/mcp-bash/main.go", "package main\n\nfunc main() { println() }\n", 0o644)
	}
	delete(u.env, "MCPBASH_INSTALL_LOCAL_SOURCE")
	if err := os.Rename(u.path(odd), u.path("sources")); err != nil {
		t.Fatal(err)
	}
	u.fails(1, "No such branch, tag or commit: none", "--branch", "none")
	u.env["MCPBASH_INSTALL_REPO_URL"] = u.path("nowhere")
	u.fails(1, "Not cloned because of --offline", "--branch", "main", "--offline")
	u.fails(1, "Cloning failed", "--branch", "main")
	u.env["PATH"] = u.only(append([]string{"git"}, commands...)...)
	u.env["MCPBASH_INSTALL_REPO_URL"] = u.path("sources")
	u.fails(1, "Go is needed to build from a checkout", "--branch", "main")
}

// pretend puts a uname on PATH that reports another system.
func (u *user) pretend(kernel, machine string) {
	u.t.Helper()
	dir := u.t.TempDir()
	text := "#!/bin/sh\ncase $1 in -s) echo " + kernel + " ;; -m) echo " + machine + " ;; esac\n"
	if err := checkout.WriteProgram(filepath.Join(dir, "uname"), []byte(text)); err != nil {
		u.t.Fatal(err)
	}
	u.env["PATH"] = dir + ":" + u.env["PATH"]
}

// CLI-1702, CLI-1710: differences of other systems. The archive has another name. In shells of Windows it has
// another form, with .exe programs and scripts in place of links.
func TestSystems(t *testing.T) {
	u := newUser(t)
	u.env["MCPBASH_RELEASE_BASE_URL"] = "http://127.0.0.1:1"
	for kernel, want := range map[string]string{"Darwin arm64": "darwin-arm64.tar.gz",
		"Linux aarch64": "linux-arm64.tar.gz",
		"Linux x86_64":  "linux-amd64.tar.gz", "MINGW64_NT-10.0 x86_64": "windows-amd64.zip",
		"MSYS_NT arm64": "windows-arm64.zip",
		"FreeBSD amd64": "no releases for this system (FreeBSD, amd64)",
		"Linux riscv64": "no releases for this system (Linux, riscv64)"} {
		system, machine, _ := strings.Cut(kernel, " ")
		u.pretend(system, machine)
		u.fails(1, want, "--version", "2.0.0", "--offline")
	}

	if _, err := exec.LookPath("unzip"); err != nil {
		t.Skip("unzip is not installed")
	}
	u = newUser(t)
	u.pretend("MINGW64_NT-10.0", "x86_64")
	for _, version := range []string{"2.0.0", "2.0.1"} {
		files := map[string]string{}
		for name, content := range stub(version) {
			if strings.HasPrefix(name, "mcp-bash/bin/mcp-") && !strings.HasSuffix(name, "jq") {
				name += ".exe"
				content = strings.Replace(content, "##*/}", "##*/mcp-bash.exe}mcp-bash", 1)
			}
			files[name] = content
		}
		file := u.write("it's.zip", string(packZip(files)), 0o644)
		r := u.installs("--archive", file, "--verify", sum(packZip(files)))
		if !strings.Contains(r.out, "✓ mcp-bash --version: "+version+"\n") || u.leftovers() != nil {
			t.Errorf("%+v, left %q", r, u.leftovers())
		}
	}
	shim := u.read(".local/bin/mcp-bash")
	if !strings.Contains(shim, "mcp-bash managed shim; generated by doctor --fix") { // CLI-1111
		t.Errorf("%q", shim)
	}
	u.installs("--uninstall")
	if got := u.files(); !slices.Equal(got, []string{"it's.zip"}) {
		t.Errorf("left: %q", got)
	}
}

// A real archive contains programs for the system in its name.
func TestOtherSystem(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("for Linux")
	}
	u := newUser(t)
	mac := with("2.0.0", map[string]string{"mcp-bash/bin/mcp-bash": "\xcf\xfa\xed\xfe\x07\x00\x00\x01"})
	u.fails(1, "is the archive for another one?", "--archive", unverified(t, pack(mac)))
}
