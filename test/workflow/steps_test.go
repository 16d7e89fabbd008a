//go:build unix

package workflow

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/test/checkout"
	"mcp-bash/test/reach"
)

// A runner runs commands of steps as GitHub's runner does. The programs of other people are scripts that record their
// arguments.
type runner struct {
	t            *testing.T
	dir          string // of the checkout
	home, others string
	env          []string
}

// others are programs that steps call. curl copies files from $SERVED.
const (
	recorder = "#!/bin/sh\necho \"${0##*/} $*\" >>\"$HOME/called\"\n"
	curl     = `#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in -o) file=$2 ;; esac
  shift
done
cp "$SERVED/${1#https://releases.example/}" "$file"
`
	skopeo = recorder + "while [ $# -gt 0 ]; do case $1 in --digestfile) echo sha256:abc >\"$2\" ;; esac; shift; done\n"
)

func newRunner(t *testing.T, dir string, env ...string) *runner {
	t.Helper()
	home := checkout.Directory(t)
	r := &runner{t: t, dir: dir, home: home, others: filepath.Join(home, "others")}
	r.env = append(env, "HOME="+home, "PATH="+r.others+":"+os.Getenv("PATH"), "RUNNER_TEMP="+filepath.Join(home, "temp"),
		"GITHUB_ENV="+filepath.Join(home, "env"), "GITHUB_PATH="+filepath.Join(home, "path"),
		"GITHUB_OUTPUT="+filepath.Join(home, "output"), "GITHUB_REPOSITORY_OWNER=Ada", "GITHUB_REPOSITORY=Ada/demo",
		"GITHUB_REF_NAME=v0.1.0", "GITHUB_ACTOR=ada", "SERVER_NAME=io.github.Ada/demo")
	for name, value := range reach.Guard(t) {
		r.env = append(r.env, name+"="+value)
	}
	for name, text := range map[string]string{"temp/.keep": "", "others/curl": curl, "others/npm": recorder,
		"others/docker": recorder, "others/sleep": "#!/bin/sh\n", "others/gh": recorder, "others/skopeo": skopeo} {
		r.write(filepath.Join(home, name), text)
	}
	return r
}

func (r *runner) write(file, text string) {
	r.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), checkout.WriteProgram(file, []byte(text))); err != nil {
		r.t.Fatal(err)
	}
}

// read returns the content of a file of the home directory, and removes the file.
func (r *runner) read(name string) string {
	r.t.Helper()
	file := filepath.Join(r.home, name)
	text, _ := os.ReadFile(file)
	os.Remove(file)
	return string(text)
}

// run runs the command of a step, and changes the environment as the step requests.
func (r *runner) run(command string, env ...string) (output string, err error) {
	r.t.Helper()
	script := filepath.Join(r.home, "step.sh")
	r.write(script, command)
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
	cmd.Dir, cmd.Env = r.dir, slices.Concat(r.env, env)
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(r.read("env")) {
		r.env = append(r.env, strings.TrimSpace(line))
	}
	for line := range strings.Lines(r.read("path")) {
		r.env = append(r.env, "PATH="+r.others+":"+strings.TrimSpace(line)+":"+os.Getenv("PATH"))
	}
	return string(out), err
}

// needs runs the command of a step, which must succeed.
func (r *runner) needs(command string, env ...string) string {
	r.t.Helper()
	out, err := r.run(command, env...)
	if err != nil {
		r.t.Fatalf("%v\n%s\n%s", err, command, out)
	}
	return out
}

// command returns the command of a step.
func (j job) command(t *testing.T, name string) string {
	t.Helper()
	for _, s := range j.Steps {
		if s.Name == name {
			return s.Run
		}
	}
	t.Fatalf("no step %q", name)
	return ""
}

// release makes the files of a release of mcp-bash for this system.
func release(t *testing.T) (dir string) {
	t.Helper()
	dir = checkout.Directory(t)
	at := filepath.Join(dir, "v"+cli.Version)
	name := fmt.Sprintf("mcp-bash-v%s-%s-%s.tar.gz", cli.Version, runtime.GOOS, runtime.GOARCH)
	script := `mkdir "$2" && sh release/tree.sh "$1" "$2/mcp-bash" && cp install.sh "$2" &&
		tar -czf "$2/$3" -C "$2" mcp-bash`
	cmd := exec.Command("sh", "-c", script, "sh", bin, at, name)
	cmd.Dir = checkout.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, err := os.ReadFile(filepath.Join(at, name))
	if err != nil {
		t.Fatal(err)
	}
	sums := fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), name)
	if err := os.WriteFile(filepath.Join(at, "SHA256SUMS"), []byte(sums), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// CLI-612: the commands of the jobs build, check and publish a project. Programs for other systems are left out. So is
// the image, which needs a mirror of Debian.
func TestSteps(t *testing.T) {
	checkout.Needs(t, "bash", "jq")
	root := project(t, "demo")
	meta := filepath.Join(root, "server.d", "server.meta.json")
	if err := os.WriteFile(meta, []byte(`{"name":"demo","version":"0.1.0","description":"Shows","author":"Ada",`+
		`"license":"MIT","repository":"https://github.com/Ada/demo"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, jobs := scaffold(t, root)
	r := newRunner(t, root, "SERVED="+release(t))
	install := jobs["build"].command(t, "Install mcp-bash")
	if out, err := r.run(install); err == nil || !strings.Contains(out, "::error::Set MCPBASH_RELEASE_BASE_URL or ") {
		t.Errorf("%v, %s", err, out)
	}
	r.needs(install, "RELEASES=https://releases.example")
	if out := r.needs("command -v mcp-bundle"); out != filepath.Join(r.home, ".local/bin/mcp-bundle")+"\n" {
		t.Errorf("%s", out)
	}
	check := jobs["build"].command(t, "Check")
	r.needs(check)
	r.needs("mcp-registry lock")
	r.needs(check)
	tool := filepath.Join(root, "tools", "hello", "tool.sh")
	text, err := os.ReadFile(tool)
	if err != nil {
		t.Fatal(err)
	}
	r.write(tool, string(text)+"# changed\n")
	if out, err := r.run(check); err == nil {
		t.Errorf("a change after the lock: %s", out)
	}
	r.write(tool, string(text))
	only := strings.NewReplacer(" --strict", " --platform "+runtimes.Host.Platform()+" --arch "+runtimes.Host.Arch)
	bundle := only.Replace(jobs["build"].command(t, "Bundle"))
	if out, err := r.run(bundle, "GITHUB_REF_NAME=v9.9.9"); err == nil || !strings.Contains(out,
		"::error::The tag is v9.9.9, and the project has version 0.1.0") {
		t.Errorf("%v, %s", err, out)
	}
	r.needs(`rm -r "$RUNNER_TEMP/release"`)
	r.needs(bundle)
	r.needs(only.Replace(jobs["build"].command(t, "Make the npm packages")))
	r.needs(only.Replace(jobs["build"].command(t, "Make the wheels")))
	r.needs(jobs["build"].command(t, "Keep the programs that announce the release"))
	r.dir = filepath.Join(r.home, "temp", "release") // as the other jobs download it

	r.needs(jobs["github"].command(t, "Make the release"))
	if got := r.read("called"); got != "gh release create v0.1.0 --verify-tag --generate-notes ./demo-0.1.0.mcpb\n" {
		t.Errorf("%s", got)
	}
	r.needs(jobs["npm"].command(t, "Publish, the packages with the programs first"))
	published := strings.Split(strings.TrimSpace(r.read("called")), "\n")
	if last := len(published) - 1; last != 1 || published[last] !=
		"npm publish --access public --provenance ./npm/ada-demo-0.1.0.tgz" {
		t.Errorf("%q", published)
	}
	// The action for PyPI publishes all files of its folder.
	folder := jobs["pypi"].Steps[1].With["packages-dir"]
	if wheels := r.needs(fmt.Sprintf("cd %v && ls", folder)); !strings.HasPrefix(wheels, "demo-0.1.0-py3-none-") ||
		strings.Count(wheels, "\n") != 1 {
		t.Errorf("%v: %q", folder, wheels)
	}
	r.needs(jobs["image"].command(t, "Push"), "TOKEN=hush")
	if got := r.read("called"); got != "docker login ghcr.io --username ada --password-stdin\n"+
		"skopeo copy --all --preserve-digests --digestfile digest oci-archive:image.tar docker://ghcr.io/ada/demo:0.1.0\n" {
		t.Errorf("%s", got)
	}
	if got := r.read("output"); got != "image=ghcr.io/ada/demo\ndigest=sha256:abc\n" {
		t.Errorf("%s", got)
	}

	_, jobs = scaffold(t, root, "--no-image")
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		requests = append(requests, q.URL.Path+" "+string(body))
		io.WriteString(w, `{"value":"a.b.c","registry_token":"token"}`)
	}))
	defer server.Close()
	announce := jobs["announce"].command(t, "Announce in the MCP registry")
	r.needs(announce, "MCP_REGISTRY_URL="+server.URL, "ACTIONS_ID_TOKEN_REQUEST_URL="+server.URL+"/id?x=y",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN=t")
	last := requests[len(requests)-1]
	for _, want := range []string{"/v0/publish ", `"io.github.Ada/demo"`, `"@ada/demo"`,
		`"registryType": "pypi"`,
		`"https://github.com/Ada/demo/releases/download/v0.1.0/demo-0.1.0.mcpb"`} {
		if !strings.Contains(last, want) {
			t.Errorf("%s lacks %s", last, want)
		}
	}
}
