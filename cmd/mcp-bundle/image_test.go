package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/debmirror"
)

// An imageTest makes images of a project. Each test has its own mirror.
type imageTest struct {
	*testing.T
	mirror  *debmirror.Mirror
	dir     string // the directory of the server's programs
	project string
	cache   string
}

func newImageTest(t *testing.T, packages ...debmirror.Package) *imageTest {
	t.Helper()
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	i := &imageTest{T: t, mirror: debmirror.New(t, append(debmirror.System(), packages...)...), dir: dir,
		project: makeProject(t, filepath.Join(t.TempDir(), "demo")), cache: t.TempDir()}
	if err := os.Chmod(i.cache, 0o700); err != nil {
		t.Fatal(err)
	}
	return i
}

// imageResult is the JSON of mcp-bundle image.
type imageResult struct {
	OK                        bool
	Path, Format, Tag, Digest string
	Name, Version             string
	Size                      int64
	Platforms                 []struct {
		Platform, Digest string
		Size             int64
		Packages         int
	}
	Warnings []string
	Error    struct{ Code, Message string }
}

// run runs shell code and then the command. It returns the command's result, its messages and its exit code.
func (i *imageTest) run(before string, env []string, args ...string) (r imageResult, stderr string, code int) {
	i.Helper()
	shell := []string{"-c", before + `; exec mcp-bundle image "$@"`, "sh", i.project, "--json", "--runtime-dir", i.dir}
	if !slices.Contains(args, "context") {
		shell = append(shell, "--mirror", i.mirror.URL, "--keyring", i.mirror.Keyring)
	}
	cmd := exec.Command("sh", append(shell, args...)...)
	cmd.Dir = i.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+i.TempDir(), "XDG_CACHE_HOME="+i.cache, "GIT_CONFIG_NOSYSTEM=1",
		"PATH="+filepath.Join(i.dir, runtimes.Host.String())+":"+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, env...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	cmd.Run()
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		i.Fatalf("%v\n%s\n%s", err, &out, &messages)
	}
	return r, messages.String(), cmd.ProcessState.ExitCode()
}

// make runs the command, which must succeed.
func (i *imageTest) make(before string, env []string, args ...string) imageResult {
	i.Helper()
	r, stderr, code := i.run(before, env, args...)
	if code != 0 || !r.OK {
		i.Fatalf("exit %d\n%s", code, stderr)
	}
	return r
}

// image reads the image for this machine from a layout.
func (i *imageTest) image(dir string) (v1.Image, *v1.ConfigFile) {
	i.Helper()
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		i.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		i.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil || len(m.Manifests) != 1 {
		i.Fatalf("%+v, %v", m, err)
	}
	top := m.Manifests[0]
	if top.MediaType.IsIndex() {
		if index, err = index.ImageIndex(top.Digest); err != nil {
			i.Fatal(err)
		}
		if m, err = index.IndexManifest(); err != nil {
			i.Fatal(err)
		}
		at := slices.IndexFunc(m.Manifests, func(d v1.Descriptor) bool {
			return d.Platform.Architecture == runtimes.Host.Arch
		})
		top = m.Manifests[at]
	}
	img, err := index.Image(top.Digest)
	if err != nil {
		i.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		i.Fatal(err)
	}
	return img, config
}

// filesOf returns the headers and contents of all files of an image.
func (i *imageTest) filesOf(img v1.Image) (headers map[string]*tar.Header, content map[string]string) {
	i.Helper()
	headers, content = map[string]*tar.Header{}, map[string]string{}
	r := mutate.Extract(img)
	defer r.Close()
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF {
			return headers, content
		}
		if err != nil {
			i.Fatal(err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		if headers[name] != nil {
			i.Errorf("%s occurs twice", name)
		}
		text, err := io.ReadAll(t)
		if err != nil {
			i.Fatal(err)
		}
		headers[name], content[name] = h, string(text)
	}
}

// H-601 to H-607: the content and the configuration of an image.
func TestImage(t *testing.T) {
	i := newImageTest(t)
	i.mirror.Put(append(debmirror.System(),
		debmirror.Package{Name: "coreutils", Version: "9", Files: map[string]string{"usr/bin/ls": "ls"}},
		debmirror.Package{Name: "imagemagick", Version: "7", Fields: "Depends: libc6\n",
			Files: map[string]string{"usr/bin/convert": "convert"}},
		debmirror.Package{Name: "jq", Version: "1.7", Files: map[string]string{"usr/bin/jq": "jq"}},
		debmirror.Package{Name: "tzdata", Version: "1", Files: map[string]string{"usr/share/zoneinfo/UTC": "UTC"}})...)
	write(t, i.project, "server.d/requirements.json",
		`{"dependencies":[{"name":"convert","debian":"imagemagick"},{"or":["gojq","jq"]},{"name":"ls"},{"name":"awk"}]}`)
	token := "ghp_" + "Zx81kQ7vB2mN4cL9pR3s" + "T6wY5dF0gHjA1eUo"
	write(t, i.project, ".env", "SECRET=1\n")
	write(t, i.project, "resources/left-out.txt", "x")
	write(t, i.project, "resources/token.txt", token+"\n")
	write(t, i.project, ".mcpbignore", "left-out.txt\n")
	write(t, i.project, "tools/hello/.env", "SECRET=1\n")
	dir := filepath.Join(t.TempDir(), "image")
	r := i.make("umask 077", nil, "-o", dir, "--platform", "linux/"+runtimes.Host.Arch, "--package", "tzdata", "--tag",
		"example.com/team/demo", "--server-name", "io.github.you/demo")
	if r.Tag != "example.com/team/demo:1.0.0" || r.Path != dir || len(r.Platforms) != 1 {
		t.Errorf("%+v", r)
	}
	img, config := i.image(dir)
	headers, content := i.filesOf(img)
	for name, want := range map[string]string{
		"usr/lib/libc.so.6": "repaired", "usr/bin/convert": "convert", "usr/bin/jq": "jq", "usr/share/zoneinfo/UTC": "UTC",
		"etc/ssl/certs/ca-certificates.crt": "A\nB\n", "usr/share/doc/libc6/copyright": "licence",
		"srv/project/resources/a.txt": "a",
	} {
		if content[name] != want {
			t.Errorf("%s: %q, want %q", name, content[name], want)
		}
	}
	for name, target := range map[string]string{
		"usr/bin/awk": "/usr/bin/mawk", "bin": "usr/bin", "lib": "usr/lib", "opt/mcp-bash/bin/mcp-jq": "mcp-bash",
		"usr/local/bin/mcp-bash": "/opt/mcp-bash/bin/mcp-bash",
	} {
		if h := headers[name]; h == nil || h.Typeflag != tar.TypeSymlink || h.Linkname != target {
			t.Errorf("%s: %+v", name, h)
		}
	}
	for name, mode := range map[string]int64{
		"tmp": 0o1777, "srv/project": 0o755, "srv/project/tools/hello/tool.sh": 0o755, "srv/project/resources/a.txt": 0o644,
		"opt/mcp-bash/bin/mcp-bash": 0o755, "opt/mcp-bash/sdk/tool-sdk.sh": 0o644, "usr/bin/bash": 0o755,
		"srv/project/.registry/tools.json": 0o644, "home/nonroot": 0o700,
	} {
		if h := headers[name]; h == nil || h.Mode != mode || h.Uid != 0 && name != "home/nonroot" {
			t.Errorf("%s: %+v", name, h)
		}
	}
	for name, text := range content {
		if strings.Contains(text, "SECRET=1") || strings.Contains(text, token) ||
			strings.HasSuffix(name, "left-out.txt") ||
			strings.Contains(name, "share/man") || strings.HasSuffix(name, "NEWS") {
			t.Errorf("%s is in the image", name)
		}
	}
	c := config.Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/opt/mcp-bash/bin/mcp-bash"}) ||
		!slices.Equal(c.Cmd, []string{"serve"}) || c.Healthcheck == nil ||
		!slices.Equal(c.Healthcheck.Test, []string{"CMD", "/opt/mcp-bash/bin/mcp-bash", "health", "--server"}) ||
		!slices.Contains(c.Env, "MCPBASH_STATIC_REGISTRY=1") || c.StopSignal != "SIGTERM" {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]string{
		"org.opencontainers.image.title": "Demo", "org.opencontainers.image.version": "1.0.0",
		"org.opencontainers.image.authors": "Ada", "io.modelcontextprotocol.server.name": "io.github.you/demo",
		"io.docker.server.metadata": `{"name":"demo","title":"Demo","description":"MCP server built with mcp-bash",` +
			`"type":"server"}`,
	} {
		if c.Labels[name] != want {
			t.Errorf("%s: %q", name, c.Labels[name])
		}
	}
	checkInventory(t, content["opt/mcp-bash/sbom.spdx.json"])
}

// H-607: the inventory lists Debian packages with their source, and Go modules.
func checkInventory(t *testing.T, text string) {
	t.Helper()
	var doc struct {
		SPDXVersion, DocumentNamespace string
		Packages                       []struct {
			SPDXID, Name, VersionInfo, SourceInfo string
			ExternalRefs                          []struct{ ReferenceLocator string }
		}
		Relationships []struct{ RelatedSpdxElement string }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || doc.SPDXVersion != "SPDX-2.3" {
		t.Fatalf("%v %.200s", err, text)
	}
	found := map[string]string{}
	for _, p := range doc.Packages {
		found[p.Name] = p.VersionInfo + " " + p.SourceInfo + " " + p.ExternalRefs[0].ReferenceLocator
	}
	want := "2.41-12+deb13u1 built from the source package glibc 2.41-12 pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=" +
		runtimes.Host.Arch + "&distro=trixie"
	if found["libc6"] != want {
		t.Errorf("%s\nwant %s", found["libc6"], want)
	}
	if !strings.Contains(found["golang.org/x/sys"], "pkg:golang/golang.org/x/sys@v") || found["stdlib"] == "" ||
		len(doc.Relationships) != len(doc.Packages) {
		t.Errorf("%v", slices.Sorted(maps.Keys(found)))
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
}

// H-602: the digest does not depend on the umask, the time, the directory, the mirror or the cache. A change of the
// project changes one small layer.
func TestImageReproducible(t *testing.T) {
	i := newImageTest(t)
	platform := "linux/" + runtimes.Host.Arch
	first := i.make("umask 022", nil, "--platform", platform, "-o", "a.tar")
	i.project = makeProject(t, filepath.Join(t.TempDir(), "another place"))
	i.mirror = debmirror.New(t, debmirror.System()...) // another address, date and key
	i.cache = t.TempDir()
	second := i.make("umask 077; chmod 700 "+i.cache,
		[]string{"TZ=Pacific/Kiritimati", "LC_ALL=de_DE.UTF-8", "GOMAXPROCS=1"},
		"--platform", platform, "-o", "b.tar")
	a, errA := os.ReadFile(first.Path)
	b, errB := os.ReadFile(second.Path)
	if first.Digest != second.Digest || errA != nil || errB != nil || !bytes.Equal(a, b) || int64(len(a)) != first.Size {
		t.Errorf("%s and %s, %d and %d bytes, %v, %v", first.Digest, second.Digest, len(a), len(b), errA, errB)
	}
	layers := func(args ...string) []string {
		dir := filepath.Join(t.TempDir(), "image")
		i.make("true", nil, append(args, "--platform", platform, "-o", dir)...)
		img, config := i.image(dir)
		m, err := img.Manifest()
		if err != nil || !config.Created.Equal(config.Created.UTC()) {
			t.Fatal(err)
		}
		var list []string
		for _, l := range m.Layers {
			list = append(list, l.Digest.Hex)
		}
		return list
	}
	before := layers()
	write(t, i.project, "resources/a.txt", "changed")
	after := layers()
	if len(after) != 3 || !slices.Equal(before[:2], after[:2]) || before[2] == after[2] {
		t.Errorf("%v\n%v", before, after)
	}
}

// H-608: the formats of the result and its paths.
func TestImageFormats(t *testing.T) {
	i := newImageTest(t)
	platform := "linux/" + runtimes.Host.Arch
	r := i.make("true", nil, "--format", "docker", "--platform", platform)
	if filepath.Base(r.Path) != "demo-1.0.0.tar" || r.Tag != "demo:1.0.0" {
		t.Errorf("%+v", r)
	}
	img, err := tarball.ImageFromPath(r.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	dir := filepath.Join(t.TempDir(), "kept")
	write(t, dir, "mine.txt", "x")
	for _, args := range [][]string{{"-o", dir, "--platform", platform}} {
		_, stderr, code := i.run("true", nil, args...)
		if code != 1 || !strings.Contains(stderr, "a directory with other files") {
			t.Errorf("%v: exit %d\n%s", args, code, stderr)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
	layoutDir := filepath.Join(t.TempDir(), "layout")
	for range 2 { // the second replaces the first
		i.make("true", nil, "-o", layoutDir, "--platform", platform)
		i.image(layoutDir)
	}
	if rest, _ := filepath.Glob(filepath.Join(filepath.Dir(layoutDir), ".*")); len(rest) > 0 {
		t.Errorf("left %v", rest)
	}
}

// H-601: one image for both architectures.
func TestImagePlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server for two systems")
	}
	i := newImageTest(t)
	dir := filepath.Join(t.TempDir(), "image")
	i.dir = t.TempDir()
	for _, arch := range []string{"amd64", "arm64"} {
		target := runtimes.Target{OS: "linux", Arch: arch}
		args, env := runtimes.BuildCommand(target, filepath.Join(i.dir, filepath.FromSlash(target.Path())),
			"mcp-bash/cmd/mcp-bash", "")
		build := exec.Command("go", args...)
		build.Env = os.Environ()
		for name, value := range env {
			build.Env = append(build.Env, name+"="+value)
		}
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	r := i.make("true", nil, "-o", dir)
	if len(r.Platforms) != 2 || r.Platforms[0].Platform != "linux/amd64" || r.Platforms[1].Platform != "linux/arm64" ||
		r.Platforms[0].Digest == r.Platforms[1].Digest || r.Digest == r.Platforms[0].Digest {
		t.Errorf("%+v", r)
	}
	i.image(dir)
	if _, stderr, code := i.run("true", nil, "--format", "docker", "--platform", "linux/arm64,linux/amd64"); code != 2 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// H-604, H-605: an error names the missing or wrong input and the remedy, and nothing is written.
func TestImageFailures(t *testing.T) {
	i := newImageTest(t, debmirror.Package{Name: "strange", Version: "1",
		Files: map[string]string{"usr/bin/other": "x"}})
	platform := "linux/" + runtimes.Host.Arch
	for _, tc := range []struct {
		requirements string
		args         []string
		code         int
		want         string
	}{
		{`{"dependencies":[{"name":"unknown"}]}`, nil, 3, `"debian": "PACKAGE"`},
		{`{"dependencies":[{"name":"strange"}]}`, nil, 3, "the Debian package strange does not contain strange"},
		{`{"dependencies":5}`, nil, 1, "dependencies must be an array"},
		{`{}`, []string{"--package", "none"}, 3, "package none is not in Debian"},
		{`{}`, []string{"--keyring", filepath.Join(i.dir, runtimes.Host.Path())}, 1, "larger than"},
		{`{}`, []string{"--keyring", "/nonexistent"}, 1, "--keyring /nonexistent"},
		{`{}`, []string{"--mirror", i.mirror.URL + "/none"}, 3, "HTTP status 404"},
		{`{}`, []string{"--mirror", "ftp://x"}, 2, "--mirror"},
		{`{}`, []string{"--snapshot", "yesterday"}, 1, "not a time such as"},
		{`{}`, []string{"--snapshot", "20261101T000000Z"}, 3, "HTTP status 404"},
		{`{}`, []string{"--tag", "No Name"}, 1, "not a name of an image"},
		{`{}`, []string{"--tag", "r.example.com:99999/demo"}, 1, "the port is not 1 to 65535"},
	} {
		write(t, i.project, "server.d/requirements.json", tc.requirements)
		out := filepath.Join(t.TempDir(), "out.tar")
		r, stderr, code := i.run("true", nil, append([]string{"--platform", platform, "-o", out}, tc.args...)...)
		if code != tc.code || r.OK || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s %v: exit %d, want %d\n%s", tc.requirements, tc.args, code, tc.code, stderr)
		}
		if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) > 0 {
			t.Errorf("%v: left %v", tc.args, entries)
		}
	}
	i.mirror.Asked()
	i.cache = t.TempDir()
	_, stderr, code := i.run("chmod 700 "+i.cache, nil, "--platform", platform, "--offline")
	asked := i.mirror.Asked()
	if code != 3 || len(asked) > 0 || !strings.Contains(stderr, "Run it once without --offline") {
		t.Errorf("--offline: exit %d, %v\n%s", code, asked, stderr)
	}
}

// H-605: a time of snapshot.debian.org selects a directory of the mirror. Signatures must be valid at that time.
func TestImageSnapshot(t *testing.T) {
	i := newImageTest(t)
	_, stderr, code := i.run("true", nil, "--snapshot", "20200101T000000Z", "--platform", "linux/"+runtimes.Host.Arch)
	want := "/debian/20200101T000000Z/dists/trixie/InRelease"
	if asked := i.mirror.Asked(); code != 3 || len(asked) != 1 || asked[0] != want {
		t.Errorf("exit %d, %v\n%s", code, asked, stderr)
	}
}

// H-610: a context has a Containerfile, the server and the files of a bundle. If the project has a Containerfile, it is
// kept, and a stage is inserted before its first one.
func TestImageContext(t *testing.T) {
	i := newImageTest(t)
	write(t, i.project, "server.d/requirements.json", `{"dependencies":[{"or":["rg","grep"]},{"name":"jq"}]}`)
	write(t, i.project, "tools/hello/.env", "SECRET=1\n")
	write(t, i.project, "mcpb.conf", `MCPB_DESCRIPTION='$HOME "x" \'`+"\n")
	platform := "linux/" + runtimes.Host.Arch
	args := []string{"--format", "context", "--platform", platform, "--base", "example.com/base:1", "--package", "tzdata"}
	dir := filepath.Join(t.TempDir(), "context")
	r := i.make("umask 077", nil, append(args, "-o", dir)...)
	if r.Path != dir || r.Format != "context" || r.Digest != "" || r.Size == 0 || len(r.Platforms) != 1 ||
		r.Platforms[0].Platform != platform || r.Tag != "demo:1.0.0" {
		t.Errorf("%+v", r)
	}
	text := read(t, dir, "Containerfile")
	for _, want := range []string{
		"FROM scratch AS mcp-bash\nCOPY .mcp-bash /opt/mcp-bash\n", "COPY [\"tools/\", \"/srv/project/tools/\"]\n",
		"\nFROM example.com/base:1\n", "--no-install-recommends ca-certificates jq ripgrep tzdata \\\n",
		"COPY --from=mcp-bash / /\n", "USER 65532:65532\n", "ENV MCPBASH_TOOL_ALLOWLIST=\"*\"\n",
		"LABEL org.opencontainers.image.description=\"\\$HOME \\\"x\\\" \\\\\"\n",
		"HEALTHCHECK --interval=30s --timeout=10s --start-period=5s --retries=3 CMD [\"/opt/mcp-bash/bin/mcp-bash\", ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if read(t, dir, "Dockerfile") != text {
		t.Error("the Dockerfile is another one")
	}
	for name, mode := range map[string]os.FileMode{
		".": 0o755, "tools/hello": 0o755, "tools/hello/tool.sh": 0o755, "resources/a.txt": 0o644,
		".registry/tools.json": 0o644, ".mcp-bash/bin/" + runtimes.Host.Path(): 0o755, ".mcp-bash/sdk/tool-sdk.sh": 0o644,
	} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "tools/hello/.env")); err == nil {
		t.Error("a secret is in the context")
	}
	if asked := i.mirror.Asked(); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
	i.make("true", nil, append(args, "-o", dir)...) // replaces the context

	write(t, i.project, "Containerfile", "# mine\nARG V=1\nFROM debian:$V\nfrom x\n")
	r = i.make("true", nil, "--format", "context", "--platform", platform, "-o", dir)
	before, after, ok := strings.Cut(read(t, dir, "Containerfile"), "# Files for: COPY --from=mcp-bash / /\n")
	if !ok || before != "# mine\nARG V=1\n" || !strings.HasSuffix(after, "\"]\n\nFROM debian:$V\nfrom x\n") {
		t.Errorf("%q and %q", before, after)
	}
	file := filepath.Join(t.TempDir(), "context.tar")
	i.make("true", nil, "--format", "context", "--platform", platform, "-o", file)
	if out, err := exec.Command("tar", "-tvf", file).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), " Dockerfile\n") || !strings.Contains(string(out), "-rwxr-xr-x") {
		t.Errorf("%v\n%s", err, out)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// H-610: the error names the wrong input. A folder of another origin is kept.
func TestImageContextFailures(t *testing.T) {
	i := newImageTest(t)
	vendored := filepath.Join(t.TempDir(), "vendored") // a project with its own server is not a context
	write(t, vendored, ".mcp-bash/vendor.json", "{}")
	write(t, vendored, "Containerfile", "FROM x\n")
	for _, tc := range []struct {
		own, requirements string
		args              []string
		code              int
		want              string
	}{
		{"", `{}`, []string{"--base", "No Base"}, 1, "--base \"No Base\": not a name of an image"},
		{"", `{}`, []string{"--offline"}, 3, "debian:stable-slim: its digest is not known"},
		{"", `{}`, []string{"--base", "x:1", "--package", "jq; true"}, 1, `"jq; true" is not the name of a Debian package`},
		{"", `{"dependencies":[{"name":"jq","debian":"$(x)"}]}`, []string{"--base", "x:1"}, 1,
			"is not the name of a Debian package"},
		{"FROM x\n", `{}`, []string{"--base", "x:1"}, 1, "Containerfile: it decides about the base"},
		{"RUN x\n", `{}`, nil, 1, "Containerfile: no line begins with FROM"},
		{"FROM x\n" + strings.Repeat("#", 1<<20), `{}`, nil, 1, "Containerfile: larger than"},
		{"", `{}`, []string{"--base", "x:1", "-o", vendored}, 1, "a directory with other files"},
		{"", `{}`, []string{"--base", "x:1", "--snapshot", "20261101T000000Z"}, 2, "not used by --format context"},
		{"", `{}`, []string{"--base", "x:1", "--format", "oci"}, 2, "--base is for --format context"},
	} {
		write(t, i.project, "server.d/requirements.json", tc.requirements)
		os.Remove(filepath.Join(i.project, "Containerfile"))
		if tc.own != "" {
			write(t, i.project, "Containerfile", tc.own)
		}
		out := filepath.Join(t.TempDir(), "out")
		r, stderr, code := i.run("true", nil, append([]string{"--format", "context", "-o", out, "--platform",
			"linux/" + runtimes.Host.Arch}, tc.args...)...)
		if code != tc.code || r.OK || !strings.Contains(stderr, tc.want) {
			t.Errorf("%.20q %s %q: exit %d, want %d\n%s", tc.own, tc.requirements, tc.args, code, tc.code, stderr)
		}
		if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) > 0 {
			t.Errorf("%q: left %v", tc.args, entries)
		}
	}
	if read(t, vendored, "Containerfile") != "FROM x\n" {
		t.Error("a project was replaced")
	}
}
