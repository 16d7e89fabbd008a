//go:build cluster

package cluster

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// A store is a folder with the images of a test. Programs of containers use no other images.
type store struct {
	*testing.T
	dir string
}

// command returns a command of podman or buildah.
func (s store) command(program string, args ...string) *exec.Cmd {
	all := []string{"--root", filepath.Join(s.dir, "root"), "--runroot", filepath.Join(s.dir, "run")}
	if program == "podman" {
		all = append(all, podmanArgs()...)
	}
	return exec.Command(program, append(all, args...)...)
}

// newStore returns an empty store.
func newStore(t *testing.T) store {
	s := store{t, checkout.Directory(t)}
	t.Cleanup(func() { exec.Command("umount", "-l", filepath.Join(s.dir, "root", "overlay")).Run() })
	return s
}

// do runs a command, which must succeed, and returns what it prints.
func (s store) do(program string, args ...string) string {
	s.Helper()
	out, err := s.command(program, args...).CombinedOutput()
	if err != nil {
		s.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// importBase makes a base image of Debian's packages.
func (s store) importBase(name string) {
	s.Helper()
	root := filepath.Join(s.dir, "base")
	if out, err := exec.Command("debootstrap", "--variant=minbase", "bookworm", root).CombinedOutput(); err != nil {
		s.Fatalf("debootstrap: %v\n%s", err, out)
	}
	tar := exec.Command("tar", "-C", root, "-c", ".")
	files, err := tar.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	load := s.command("podman", "import", "-", name)
	load.Stdin = files
	if err := tar.Start(); err != nil {
		s.Fatal(err)
	}
	if out, err := load.CombinedOutput(); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	if err := tar.Wait(); err != nil {
		s.Fatal(err)
	}
	os.RemoveAll(root)
}

// build makes a context of a project, and an image of the context.
func (s store) build(project, image string, args ...string) {
	s.Helper()
	dir := filepath.Join(s.dir, "context")
	s.Log(output(s.T, filepath.Join(bin, "mcp-bundle"), append([]string{"image", project, "--format", "context",
		"-o", dir, "--platform", "linux/" + runtime.GOARCH, "--runtime-dir", programs(s.T)}, args...)...))
	s.do("buildah", "build", "--isolation", "chroot", "--network", "host", "--format", "docker", "-t", image, dir)
}

// calls calls the tools of an image over standard input, with a read-only root directory and as another user.
func (s store) calls(image string) {
	s.Helper()
	for name, input := range stdioCalls {
		for _, tool := range []string{"record", "confined"} {
			cmd := s.command("podman", append(confined, "--user", "12345:12345", image)...)
			cmd.Stdin = strings.NewReader(strings.ReplaceAll(input, `"record"`, `"`+tool+`"`))
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"text":"x-1`) {
				s.Errorf("%s %s: %v\n%s", name, tool, err, out)
			}
		}
	}
}

// H-610: an engine builds an image from the context. The server in it works with a read-only root directory, as any
// user, with a confined tool. A Containerfile of the project is kept.
func TestDeployContainerfile(t *testing.T) {
	needs(t, "podman", "buildah", "runc", "jq", "debootstrap")
	if os.Getuid() != 0 {
		t.Skip("left out: debootstrap needs root")
	}
	s := newStore(t)
	s.importBase("localhost/base:1")
	project := makeProject(t)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(project, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("server.d/requirements.json", `{"dependencies":[{"name":"tree"}]}`)
	write("mcpb.conf", `MCPB_DESCRIPTION='Says "$HOME" and \n'`+"\n")
	s.build(project, "localhost/demo:1", "--base", "localhost/base:1", "--server-name", "io.github.you/demo")
	s.calls("localhost/demo:1")
	var images []struct {
		Config struct {
			User   string
			Labels map[string]string
		}
		Healthcheck struct{ Test []string }
	}
	err := json.Unmarshal([]byte(s.do("podman", "inspect", "localhost/demo:1")), &images)
	if err != nil || len(images) != 1 {
		t.Fatalf("%d images, %v", len(images), err)
	}
	c := images[0].Config
	if c.User != "65532:65532" || len(images[0].Healthcheck.Test) != 4 ||
		c.Labels["org.opencontainers.image.description"] != `Says "$HOME" and \n` ||
		c.Labels["io.modelcontextprotocol.server.name"] != "io.github.you/demo" {
		t.Errorf("%+v", images[0])
	}
	s.do("podman", "run", "--rm", "--network=none", "--entrypoint", "tree", "localhost/demo:1", "--version")
	s.do("podman", "run", "--rm", "--network=none", "--entrypoint", "sh", "localhost/demo:1", "-c",
		"test -r /srv/project/tools/record/tool.sh && ! touch /srv/project/x && ! touch /opt/mcp-bash/x && touch ~/x")
	s.do("podman", "run", "-d", "--name", "served", "--network=none", "--read-only", "localhost/demo:1", "serve", "--http")
	defer func() { s.command("podman", "rm", "-f", "-t", "10", "served").Run() }()
	eventually(t, "the health check succeeds", time.Minute, func() bool {
		return s.command("podman", "healthcheck", "run", "served").Run() == nil
	})

	write("Containerfile", `ARG BASE=localhost/base:1
FROM $BASE
RUN printf '#!/bin/sh\necho special\n' >/usr/local/bin/special && chmod 755 /usr/local/bin/special
COPY --from=mcp-bash / /
ENV MCPBASH_PROJECT_ROOT=/srv/project MCPBASH_TOOL_ALLOWLIST=*
USER 65532
ENTRYPOINT ["/opt/mcp-bash/bin/mcp-bash"]
CMD ["serve"]
`)
	s.build(project, "localhost/demo:2")
	s.calls("localhost/demo:2")
	out := s.do("podman", "run", "--rm", "--network=none", "--entrypoint", "special", "localhost/demo:2")
	if !strings.Contains(out, "special\n") {
		t.Error(out)
	}
}
