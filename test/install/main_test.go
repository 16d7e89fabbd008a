//go:build unix

// Package install runs install.sh as users do, in empty homes, from archives, from
// checkouts and from a server on this machine (CLI-1701 to CLI-1711).
package install

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// server is a mcp-bash.
var server string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		server = filepath.Join(dir, "mcp-bash")
		return checkout.Build(dir, "mcp-bash/cmd/mcp-bash")
	}))
}

// shells are those that install.sh is run with, as far as they are here. On Debian, sh is dash.
func shells(t *testing.T) [][]string {
	t.Helper()
	list := [][]string{{"sh"}}
	for _, shell := range [][]string{{"dash"}, {"busybox", "sh"}, {"bash", "--posix"}} {
		switch program := resolved(shell[0]); program {
		case "":
			t.Logf("%s is not installed", shell[0])
		case resolved("sh"):
		default:
			list = append(list, shell)
		}
	}
	return list
}

// resolved returns the path of a program without links, or "" if it is not installed.
func resolved(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	path, _ = filepath.EvalSymlinks(path)
	return path
}

// A user has a home, and nothing in it at first.
type user struct {
	t     *testing.T
	home  string
	shell []string // runs install.sh
	env   map[string]string
}

func newUser(t *testing.T) *user {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	u := &user{t: t, home: filepath.Join(home, "a home"), shell: []string{"sh"}}
	u.env = map[string]string{"HOME": u.home, "PATH": "/usr/local/bin:/usr/bin:/bin", "SHELL": "/bin/bash",
		"NO_PROXY": "*"}
	if err := os.Mkdir(u.home, 0o755); err != nil {
		t.Fatal(err)
	}
	return u
}

// path is one in the home.
func (u *user) path(name string) string { return filepath.Join(u.home, filepath.FromSlash(name)) }

// dir is where the installation is to be.
func (u *user) dir() string { return u.path(".local/share/mcp-bash") }

// command starts a program of the user's PATH in a new session, without a terminal.
func (u *user) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/usr/bin/env", args...)
	cmd.Dir = u.home
	for name, value := range u.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// has installs a version without install.sh, which is slow.
func (u *user) has(version string) {
	u.t.Helper()
	u.hasFolder(version)
	folder := "mcp-bash.versions/" + version + ".1.1"
	if err := errors.Join(os.Mkdir(u.dir()+".versions", 0o755),
		os.Rename(u.dir(), filepath.Join(filepath.Dir(u.dir()), folder)), os.Symlink(folder, u.dir())); err != nil {
		u.t.Fatal(err)
	}
}

// hasFolder does so as the install.sh of earlier versions did, which made a folder instead of a link.
func (u *user) hasFolder(version string) {
	u.t.Helper()
	links := map[string]string{}
	var list strings.Builder
	for name, content := range stub(version) {
		name = strings.TrimPrefix(name, "mcp-bash/")
		fmt.Fprintf(&list, "%s  ./%s\n", sum([]byte(content)), name)
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		u.write(".local/share/mcp-bash/"+name, content, mode)
		if name, ok := strings.CutPrefix(name, "share/"); ok {
			links[".local/share/"+name] = "share/" + name
		}
	}
	links[".local/bin/mcp-bash"], links[".local/bin/mcp-runtool"] = "bin/mcp-bash", "bin/mcp-runtool"
	u.write(".local/share/mcp-bash/INSTALLED.sha256", list.String(), 0o644)
	u.write(".local/share/mcp-bash/INSTALLER.json", `{"managed":true,"version":"`+version+`"}`, 0o644)
	for link, target := range links {
		if err := errors.Join(os.MkdirAll(filepath.Dir(u.path(link)), 0o755),
			os.Symlink(filepath.Join(u.dir(), target), u.path(link))); err != nil {
			u.t.Fatal(err)
		}
	}
	u.write(".bashrc",
		"# Added by the mcp-bash installer, which made this file\nexport PATH=\"$HOME/.local/bin:$PATH\"\n", 0o644)
}

// A result is what a run of install.sh came to.
type result struct {
	code        int
	out, errors string
}

// install runs install.sh.
func (u *user) install(args ...string) result {
	u.t.Helper()
	return u.runs(u.command(slices.Concat(u.shell, []string{filepath.Join(checkout.Root(), "install.sh")}, args)...))
}

func (u *user) runs(cmd *exec.Cmd) result {
	u.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	endless := time.AfterFunc(4*time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	endless.Stop()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		u.t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// installs runs install.sh, which has to succeed without a word on standard error.
func (u *user) installs(args ...string) result {
	u.t.Helper()
	r := u.install(args...)
	if r.code != 0 || r.errors != "" {
		u.t.Fatalf("install.sh %s: %+v", args, r)
	}
	return r
}

// fails runs install.sh, which must end with code and print reason.
func (u *user) fails(code int, reason string, args ...string) result {
	u.t.Helper()
	r := u.install(args...)
	if r.code != code || !strings.Contains(r.errors, reason) {
		u.t.Errorf("install.sh %q: %d, %s%s\nwant %d and %q", args, r.code, r.out, r.errors, code, reason)
	}
	return r
}

// version returns the installed version, or "" if nothing is installed. The program, INSTALLER.json and the
// files must agree.
func (u *user) version() string {
	u.t.Helper()
	if _, err := os.Lstat(u.dir()); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	out, err := exec.Command(filepath.Join(u.dir(), "bin", "mcp-bash"), "--version").Output()
	version, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "mcp-bash ")
	if err != nil || !ok {
		u.t.Fatalf("mcp-bash --version: %q, %v", out, err)
	}
	var mark struct {
		Managed bool
		Version string
	}
	if err := json.Unmarshal([]byte(u.read(".local/share/mcp-bash/INSTALLER.json")), &mark); err != nil ||
		!mark.Managed || mark.Version != version {
		u.t.Errorf("INSTALLER.json: %+v, %v; want version %s", mark, err, version)
	}
	for name, content := range stub(version) {
		if got := u.read(".local/share/mcp-bash/" + strings.TrimPrefix(name, "mcp-bash/")); got != content {
			u.t.Errorf("%s of %s: %q", name, version, got)
		}
	}
	return version
}

func (u *user) read(name string) string {
	u.t.Helper()
	text, err := os.ReadFile(u.path(name))
	if err != nil {
		u.t.Fatal(err)
	}
	return string(text)
}

// contents returns a file of the checkout.
func (u *user) contents(file string) string {
	u.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		u.t.Fatal(err)
	}
	return string(text)
}

func (u *user) write(name, content string, mode fs.FileMode) string {
	u.t.Helper()
	file := u.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), mode),
		os.Chmod(file, mode)); err != nil {
		u.t.Fatal(err)
	}
	return file
}

// files lists what is not a directory in the home.
func (u *user) files() (list []string) {
	u.t.Helper()
	err := filepath.WalkDir(u.home, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(u.home, file)
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return list
}

// leftovers returns temporary files next to the installation, which a complete run removes, and versions before the
// previous one.
func (u *user) leftovers() (list []string) {
	for _, pattern := range []string{"mcp-bash.versions/.stage", "mcp-bash.backup.*", "mcp-bash.versions/lock"} {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(u.dir()), pattern))
		list = append(list, found...)
	}
	if versions, _ := filepath.Glob(u.dir() + ".versions/*.*"); len(versions) > 2 {
		list = append(list, versions...)
	}
	for _, file := range u.files() {
		if strings.HasSuffix(file, "-new") {
			list = append(list, file)
		}
	}
	return list
}

// stub returns a tree that is small enough for hundreds of installations. Its mcp-bash prints its version,
// and calls a real one to exchange directories.
func stub(version string) map[string]string {
	program := "#!/bin/sh\ncase ${1-} in\n--helper) exec '" + server + "' \"$@\" ;;\n" +
		"--version) echo \"${0##*/} " + version + "\" ;;\nesac\n"
	return map[string]string{
		"mcp-bash/bin/mcp-bash": program, "mcp-bash/bin/mcp-runtool": program, "mcp-bash/bin/mcp-jq": program,
		"mcp-bash/VERSION": version + "\n", "mcp-bash/sdk/tool-sdk.sh": "# " + version + "\n",
		"mcp-bash/share/man/man1/mcp-bash.1":                     ".TH MCP-BASH 1 " + version + "\n",
		"mcp-bash/share/bash-completion/completions/mcp-runtool": "# " + version + "\n",
	}
}

// with is a stub with other content: files that are there for "", not at all.
func with(version string, changes map[string]string) map[string]string {
	files := stub(version)
	maps.Copy(files, changes)
	maps.DeleteFunc(files, func(_, content string) bool { return content == "" })
	return files
}

// pack makes an archive, as a release has it.
func pack(files map[string]string, more ...tar.Header) []byte { return packAs(files, nil, more...) }

// packAs does so with other modes than usual.
func packAs(files map[string]string, modes map[string]int64, more ...tar.Header) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		mode := int64(0o644)
		if strings.Contains(name, "/bin/") {
			mode = 0o755
		}
		if other, ok := modes[name]; ok {
			mode = other
		}
		w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(files[name]))})
		w.Write([]byte(files[name]))
	}
	for _, h := range more {
		w.WriteHeader(&h)
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

// packZip does so for Windows.
func packZip(files map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(0o755)
		f, _ := z.CreateHeader(&h)
		f.Write([]byte(files[name]))
	}
	z.Close()
	return b.Bytes()
}

// system is this one, as archives name it.
const system = runtime.GOOS + "-" + runtime.GOARCH

// name returns the name of the archive of a version.
func name(version string) string { return "mcp-bash-v" + version + "-" + system + ".tar.gz" }

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// released puts an archive with its SHA256SUMS into a directory, and returns its path.
func released(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	archive := pack(stub(version))
	sums := sum(archive) + "  " + name(version) + "\n"
	if err := errors.Join(os.WriteFile(filepath.Join(dir, name(version)), archive, 0o644),
		os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o644)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name(version))
}

// unverified puts an archive into a directory where no checksum is.
func unverified(t *testing.T, archive []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "archive.tar.gz")
	if err := os.WriteFile(file, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
