package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
)

// target is the system that the tests build for: the host, where packages are made
// for it.
var target = runtimes.Target{OS: "linux", Arch: runtimes.Host.Arch}

// served is a server with the files of [built], as release and as latest release.
var served = sync.OnceValue(func() *httptest.Server {
	files := http.FileServer(http.Dir(filepath.Join(scratch, "built")))
	mux := http.NewServeMux()
	mux.Handle("/v"+cli.Version+"/", http.StripPrefix("/v"+cli.Version, files))
	mux.Handle("/latest/", http.StripPrefix("/latest", files))
	return httptest.NewTLSServer(mux)
})

// scratch is removed after the last test.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "release-test."); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// tool is the program under test.
var tool = sync.OnceValues(func() (string, error) {
	file := filepath.Join(scratch, "release")
	out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput()
	return file, wrap(err, out)
})

func wrap(err error, out []byte) error {
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return err
}

// run builds a release from a checkout for one system, in a shell with that umask. Options of commands are added.
func run(checkout, out, umask string, options []string, env ...string) error {
	program, err := tool()
	if err != nil {
		return err
	}
	args := []string{"-c", "umask " + umask + ` && exec "$@"`, "sh", program, "-out", out, "-targets", target.String(),
		"-base-url", served().URL + "/"}
	cmd := exec.Command("sh", append(args, options...)...)
	cmd.Dir = filepath.Join(checkout, "release")
	secret, err := testKeys()
	if err != nil {
		return err
	}
	cmd.Env = append(append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000"), append(secret, env...)...)
	text, err := cmd.CombinedOutput()
	return wrap(err, text)
}

// built is a release for one system, from the checkout that the test is part of.
var built = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "built")
	return dir, run("..", dir, "022", nil, "TZ=UTC", "LC_ALL=C")
})

func release1(t *testing.T) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// CLI-1702: the same sources give the same bytes, in another folder and with another
// umask, time zone, locale, home and set of variables. With RELEASE_TEST_CACHE=fresh
// nothing that was compiled before is used, which takes minutes.
func TestReproducible(t *testing.T) {
	first := release1(t)
	checkout := filepath.Join(t.TempDir(), "a folder called ünlike")
	copyTree(t, "..", checkout)
	env := []string{"TZ=Asia/Kathmandu", "LC_ALL=de_DE.UTF-8", "LANG=tr_TR.UTF-8", "GOFLAGS=-race", "GOAMD64=v3",
		"CGO_ENABLED=1", "GOOS=plan9", "USER=somebody", "HOSTNAME=elsewhere"}
	if os.Getenv("RELEASE_TEST_CACHE") == "fresh" {
		env = append(env, "GOCACHE="+t.TempDir())
	}
	second := filepath.Join(t.TempDir(), "out")
	// The copy has no repository, as an archive of the sources.
	if err := run(checkout, second, "077", []string{"-commit", commitOf(t, "..")}, env...); err != nil {
		t.Fatal(err)
	}
	a, b := read(t, first), read(t, second)
	for name, content := range a {
		if !bytes.Equal(content, b[name]) {
			t.Errorf("%s: %d bytes, and %d that differ", name, len(content), len(b[name]))
		}
	}
	if len(a) != len(b) || len(a) != 22 {
		t.Errorf("%d files, then %d", len(a), len(b))
	}
	for _, dir := range []string{first, second} {
		info, err := os.Stat(filepath.Join(dir, "install.sh"))
		if err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
}

// commitOf returns the output of commit.sh in a checkout.
func commitOf(t *testing.T, checkout string) string {
	t.Helper()
	out, err := exec.Command("sh", filepath.Join(checkout, "release", "commit.sh")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// CLI-107: commit.sh prints the commit of the checkout, and whether files differ from it. Without git, or outside of a
// repository, it prints nothing. The variables of a hook do not lead it to another repository.
func TestCommit(t *testing.T) {
	dir := t.TempDir()
	sources := filepath.Join(dir, "sources")
	script, err := os.ReadFile("commit.sh")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		file := filepath.Join(sources, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		cmd.Dir = sources
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write("release/commit.sh", string(script))
	if got := commitOf(t, sources); got != "" {
		t.Errorf("without a repository: %q", got)
	}
	git("init", "-q")
	if got := commitOf(t, sources); got != "" {
		t.Errorf("without a commit: %q", got)
	}
	git("add", ".")
	git("commit", "-q", "-m", "first")
	first := git("rev-parse", "HEAD")
	t.Setenv("GIT_DIR", filepath.Join(dir, "other"))
	if got := commitOf(t, sources); got != first {
		t.Errorf("%q, not %q", got, first)
	}
	os.Unsetenv("GIT_DIR")
	write("new.go", "package main")
	if got := commitOf(t, sources); got != first+"-dirty" {
		t.Errorf("with a new file: %q", got)
	}
	git("tag", "v1")
	for tag, want := range map[string]string{"": "", "v2": "", "v1": "the sources are of commit " + first +
		"-dirty, but the tag v1 is " + first} {
		r := release{root: sources}
		if err := r.findCommit(tag); fmt.Sprint(err) != cmp.Or(want, "<nil>") {
			t.Errorf("tag %q: %v", tag, err)
		}
	}
	git("add", ".")
	git("commit", "-q", "-m", "second")
	write("new.go", "package other")
	if got := commitOf(t, sources); got != git("rev-parse", "HEAD")+"-dirty" {
		t.Errorf("with a changed file: %q", got)
	}
	programs := filepath.Join(dir, "programs")
	if err := os.Mkdir(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "dirname"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(programs, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs)
	if got := commitOf(t, sources); got != "" {
		t.Errorf("without git: %q", got)
	}
}

// read reads all files of a directory.
func read(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, d := range list {
		if all[d.Name()], err = os.ReadFile(filepath.Join(dir, d.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// copyTree copies the sources, as modes go as few as there can be.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		switch {
		case rel == ".git" || rel == "bin" || rel == "dist" || d.Name() == "node_modules":
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// CLI-1702: SHA256SUMS is over everything but its signatures, in the form that sha256sum checks.
func TestSums(t *testing.T) {
	dir := release1(t)
	check := exec.Command("sha256sum", "-c", "--strict", "SHA256SUMS")
	check.Dir = dir
	out, err := check.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := bytes.Count(out, []byte(": OK\n")); got != len(read(t, dir))-3 { // itself, and its signatures
		t.Errorf("%d files: %s", got, out)
	}
}

// CLI-1702: the contents of an archive.
func TestArchive(t *testing.T) {
	dir := release1(t)
	names := map[string]int64{}
	z, err := gzip.NewReader(bytes.NewReader(read(t, dir)[target.Archive(runtimes.Tag)]))
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir:
			t.Errorf("%s is of type %c", h.Name, h.Typeflag)
		case !strings.HasPrefix(h.Name, "mcp-bash/"):
			t.Errorf("%s is outside", h.Name)
		case h.Name <= last:
			t.Errorf("%s after %s", h.Name, last)
		case h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 1700000000:
			t.Errorf("%+v", h)
		}
		last = h.Name
		names[strings.TrimPrefix(h.Name, "mcp-bash/")] = h.Mode
	}
	commands, err := filepath.Glob("../cmd/*")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{
		"bin/mcp-jq": 0o755, "sdk/tool-sdk.sh": 0o644, "lib/path.sh": 0o644, "providers/git.sh": 0o755,
		"VERSION": 0o644, "RELEASES": 0o644,
		"LICENSE": 0o644, "docs/BUNDLES.md": 0o644, "install.sh": 0o755, "share/zsh/site-functions/_mcp-bash": 0o644,
		"schemas/tool.schema.json": 0o644, "share/llms.txt": 0o644, "share/skills/mcp-bash/SKILL.md": 0o644,
		"share/monitoring/alerts.yaml": 0o644, "share/monitoring/dashboard.json": 0o644,
	}
	for _, dir := range commands {
		name := filepath.Base(dir)
		want["bin/"+name] = 0o755
		want["share/man/man1/"+name+".1"] = 0o644
		want["share/bash-completion/completions/"+name] = 0o644
		want["share/fish/vendor_completions.d/"+name+".fish"] = 0o644
	}
	for name, mode := range want {
		if names[name] != mode {
			t.Errorf("%s: mode %o, want %o", name, names[name], mode)
		}
	}
	for name := range names {
		if strings.HasSuffix(name, ".go") || strings.Contains(name, "test") {
			t.Errorf("it holds %s", name)
		}
	}
}

// CLI-1702: the archive for Windows.
func TestZip(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "mcp-bash.exe"), []byte("MZ"), 0o700); err != nil {
		t.Fatal(err)
	}
	list, err := entries(dir, "mcp-bash")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.zip")
	if err := writeZip(file, time.Unix(1700000000, 0), list); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	got := []string{}
	for _, f := range z.File {
		got = append(got, fmt.Sprint(f.Mode(), " ", f.Name, " ", f.Modified.Unix()))
	}
	if want := []string{"drwxr-xr-x mcp-bash/ 1700000000", "drwxr-xr-x mcp-bash/bin/ 1700000000",
		"-rwxr-xr-x mcp-bash/bin/mcp-bash.exe 1700000000"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if err := os.Symlink("bin", filepath.Join(dir, "link")); err == nil {
		if _, err := entries(dir, "mcp-bash"); err == nil {
			t.Error("a link went in")
		}
	}
}

// CLI-1422: bundles download a system's program from the address of the release. mcp-bash on PATH makes the
// requests (CLI-206).
func TestRuntimes(t *testing.T) {
	dir, bin := release1(t), t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./cmd/mcp-bash")
	build.Dir = ".." // of the module that knows its libraries
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	server := httptest.NewServer(http.StripPrefix("/v"+cli.Version, http.FileServer(http.Dir(dir))))
	defer server.Close()
	s := &runtimes.Source{Env: project.Env{"MCPBASH_RELEASE_BASE_URL": server.URL, "XDG_CACHE_HOME": t.TempDir()},
		Runner: new(script.Runner), Work: t.TempDir(), Note: func(string) {}}
	if found, err := s.Find(t.Context(), []runtimes.Target{target}); err != nil || len(found) != 1 {
		t.Errorf("downloaded: %v, %v", found, err)
	}
	installed := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", filepath.Join(dir, "mcp-bash-v"+cli.Version+"-runtimes.tar.gz"), "-C",
		installed).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s = &runtimes.Source{Home: installed, Offline: true, Runner: new(script.Runner), Note: func(string) {}}
	if found, err := s.Find(t.Context(), []runtimes.Target{target}); err != nil || len(found) != 1 {
		t.Errorf("unpacked: %v, %v", found, err)
	}
}

// Release refuses inputs that contradict each other.
func TestRefused(t *testing.T) {
	program, err := tool()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ args, env, want string }{
		{"-tag v0.0.1", "", "the tag v0.0.1 is not v" + cli.Version},
		{"-targets linux-amd64,linux-sparc", "", "-targets linux-amd64,linux-sparc: there are"},
		{"", "SOURCE_DATE_EPOCH=yesterday", "SOURCE_DATE_EPOCH=yesterday is not a number"},
		{"", "SOURCE_DATE_EPOCH=7", "from 1980 on"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command(program, append([]string{"-out", out}, strings.Fields(tc.args)...)...)
		cmd.Env = append(os.Environ(), tc.env)
		text, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(text), tc.want) {
			t.Errorf("%s %s: %v: %s", tc.args, tc.env, err, text)
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s %s: something was built", tc.args, tc.env)
		}
	}
	r := release{base: "http://insecure.example"}
	if err := r.checkBase(); err == nil {
		t.Error("an address with http")
	}
	if err := check("release_test.go", target); err == nil {
		t.Error("a text passed for a program")
	}
	if err := check(program, target); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("another program passed: %v", err)
	}
	if err := check(program, runtimes.Target{OS: "darwin", Arch: "arm64"}); err == nil ||
		!strings.Contains(err.Error(), "not darwin") {
		t.Errorf("for another system: %v", err)
	}
}

// CLI-1702: the archive of the exporter has a program that runs.
func TestExporterArchive(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(release1(t), exporterArchive(target))
	if out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var names []string
	for name := range read(t, filepath.Join(dir, exporter)) {
		names = append(names, name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "LICENSE mcp-otel mcp-otel.1" {
		t.Error(got)
	}
	out, err := exec.Command(filepath.Join(dir, exporter, exporter), "--version").Output()
	if err != nil || string(out) != exporter+" "+cli.Version+"\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// CLI-1710: the formula has the checksums of the archives.
func TestFormula(t *testing.T) {
	dir := release1(t)
	files := read(t, dir)
	found := regexp.MustCompile(`url "`+served().URL+`/v[^/]+/([^"]+)"\s+sha256 "([0-9a-f]{64})"`).
		FindAllStringSubmatch(string(files["mcp-bash.rb"]), -1)
	if len(found) != 1 || found[0][1] != target.Archive(runtimes.Tag) {
		t.Fatalf("%q", found)
	}
	if want := found[0][2] + "  " + found[0][1] + "\n"; !strings.Contains(string(files["SHA256SUMS"]), want) {
		t.Errorf("SHA256SUMS has not %s", want)
	}
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Log("ruby is not installed: the formula was not parsed")
		return
	}
	if out, err := exec.Command("ruby", "-c", filepath.Join(dir, "mcp-bash.rb")).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The bills of materials conform to the schema of CycloneDX 1.6. They list the modules of the
// programs, and Go. That of an archive has its checksum.
func TestMaterials(t *testing.T) {
	files, archive := read(t, release1(t)), target.Archive(runtimes.Tag)
	schema := cycloneSchema(t)
	for _, name := range []string{"mcp-bash-v" + cli.Version + "-sbom.cdx.json", archive + ".cdx.json",
		exporterArchive(target) + ".cdx.json"} {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(files[name]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var bom struct {
			Metadata struct {
				Component struct{ Hashes []struct{ Content string } }
			}
			Components []struct{ Name, Version string }
		}
		if err := json.Unmarshal(files[name], &bom); err != nil {
			t.Fatal(err)
		}
		libraries := []string{"github.com/itchyny/gojq", "golang.org/x/sys", "std"}
		if name == exporterArchive(target)+".cdx.json" {
			archive, libraries = exporterArchive(target), []string{"go.opentelemetry.io/otel", "std"}
		}
		for _, want := range libraries {
			if !slices.ContainsFunc(bom.Components, func(c struct{ Name, Version string }) bool {
				return c.Name == want && c.Version != ""
			}) {
				t.Errorf("%s does not name %s", name, want)
			}
		}
		if hashes := bom.Metadata.Component.Hashes; name == archive+".cdx.json" && (len(hashes) != 1 ||
			hashes[0].Content != fmt.Sprintf("%x", sha256.Sum256(files[archive]))) {
			t.Errorf("%s: %v", name, hashes)
		}
	}
}

// cycloneSchema returns the schema in the module that writes the bills.
func cycloneSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	found, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	schemas := filepath.Join(strings.TrimSpace(string(found)), "schema")
	c := jsonschema.NewCompiler()
	for name, id := range map[string]string{"bom-1.6.schema.json": "bom-1.6.schema.json",
		"spdx.schema.json": "spdx.schema.json", "jsf-0.82.schemax.json": "jsf-0.82.schema.json"} {
		f, err := os.Open(filepath.Join(schemas, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		schema, err := jsonschema.UnmarshalJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("http://cyclonedx.org/schema/"+id, schema); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
