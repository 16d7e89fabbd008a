package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
	"mcp-bash/test/pty"
)

// atTerminal runs mcp-bundle in a project as a person would.
func atTerminal(t *testing.T, project string, args ...string) *pty.Session {
	t.Helper()
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("mcp-bundle", args...)
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "MCPBASH_RUNTIME_DIR="+dir,
		"GIT_CONFIG_NOSYSTEM=1")
	return pty.Start(t, cmd)
}

// CLI-109: a bar grows on a terminal while a bundle is packed, and is gone afterwards.
func TestBarOnATerminal(t *testing.T) {
	project := makeProject(t, filepath.Join(t.TempDir(), "p"))
	code, screen := atTerminal(t, project, "bundle", "--output", t.TempDir(), "--platform", runtimes.Host.Platform(),
		"--arch", runtimes.Host.Arch).Wait()
	if code != 0 || !strings.Contains(screen, "Created: ") {
		t.Fatalf("exit code %d\n%s", code, screen)
	}
	begun, grown := strings.Index(screen, "\r[#"), strings.LastIndex(screen, "100% packing")
	if begun < 0 || grown < begun {
		t.Errorf("no bar that grows: %q", screen)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(screen, "\r\n", "\n"), "\n") {
		if left := line[strings.LastIndexByte(line, '\r')+1:]; strings.Contains(left, "packing") {
			t.Errorf("the bar stays: %q", left)
		}
	}
}

// CLI-109: while an image is packed, the bar grows with the bytes of the packages.
func TestBarOfImageOnATerminal(t *testing.T) {
	i := newImageTest(t)
	t.Setenv("XDG_CACHE_HOME", i.cache)
	t.Setenv("PATH", filepath.Join(i.dir, runtimes.Host.String())+":"+os.Getenv("PATH"))
	code, screen := atTerminal(t, i.project, "image", "--mirror", i.mirror.URL, "--keyring", i.mirror.Keyring,
		"--runtime-dir", i.dir, "--output", filepath.Join(t.TempDir(), "image.tar")).Wait()
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, screen)
	}
	steps := regexp.MustCompile(`(\d+)% packing linux/`).FindAllStringSubmatch(screen, -1)
	if len(steps) < 5 || steps[len(steps)-1][1] != "100" {
		t.Errorf("the steps %q in %q", steps, screen)
	}
}

// CLI-1607: vendor asks before it replaces a server. Only the answer yes replaces the server.
func TestVendorAsks(t *testing.T) {
	project := makeProject(t, filepath.Join(t.TempDir(), "p"))
	only := []string{"vendor", "--platform", runtimes.Host.Platform(), "--arch", runtimes.Host.Arch}
	if code, screen := atTerminal(t, project, only...).Wait(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, screen)
	}
	lock := filepath.Join(project, runtimes.Dir, "vendor.json")
	for answer, want := range map[string]bool{"n": false, "": false, "y": true} {
		if err := os.WriteFile(filepath.Join(project, runtimes.Dir, "mine"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		s := atTerminal(t, project, only...)
		s.Expect(`\[y/N\]`)
		s.Type(answer + "\n")
		code, screen := s.Wait()
		_, err := os.Stat(filepath.Join(project, runtimes.Dir, "mine"))
		if replaced := os.IsNotExist(err); code != 0 || replaced != want {
			t.Errorf("%q: exit code %d, replaced %v\n%s", answer, code, replaced, screen)
		}
	}
	if _, err := os.Stat(lock); err != nil {
		t.Error(err)
	}
}

// CLI-1166: the bar grows while a program is downloaded, not only afterwards.
func TestDownloadingOnATerminal(t *testing.T) {
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, filepath.FromSlash(runtimes.Host.Path())) // the program also downloads
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	packed := tar.NewWriter(zipped)
	packed.WriteHeader(&tar.Header{Name: "mcp-bash/bin/mcp-bash", Mode: 0o755, Size: int64(len(program))})
	packed.Write(program)
	packed.Close()
	zipped.Close()
	name := runtimes.Host.Archive(runtimes.Tag)
	seen := make(chan struct{}) // closed when the bar shows half of the bytes
	releases := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "SHA256SUMS" {
			fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(archive.Bytes()), name)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(archive.Len()))
		w.Write(archive.Bytes()[:archive.Len()/2])
		w.(http.Flusher).Flush()
		select {
		case <-seen:
		case <-r.Context().Done():
		}
		w.Write(archive.Bytes()[archive.Len()/2:])
	}))
	t.Cleanup(releases.Close)
	cmd := exec.Command("mcp-bundle", "bundle", "--output", t.TempDir(), "--platform", runtimes.Host.Platform(),
		"--arch", runtimes.Host.Arch)
	cmd.Dir = makeProject(t, filepath.Join(t.TempDir(), "p"))
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "MCPBASH_RUNTIME_DIR=", "MCPBASH_HOME=",
		"XDG_CACHE_HOME="+t.TempDir(), "MCPBASH_RELEASE_BASE_URL="+releases.URL, "GIT_CONFIG_NOSYSTEM=1",
		"PATH="+filepath.Dir(file)+":"+os.Getenv("PATH"))
	s := pty.Start(t, cmd)
	s.Expect(`\r\[-+\]   0% downloading ` + runtimes.Host.String() + ` \(1 of 1\)`)
	s.Expect(`\r\[#+-+\]  (49|50)% downloading ` + runtimes.Host.String())
	close(seen)
	s.Expect(`\r\[#+\] 100% downloading ` + runtimes.Host.String())
	s.Expect(`\r +\r`)
	if code, screen := s.Wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, screen)
	}
}

// CLI-1166: the bar also shows the program that is being built.
func TestBuildingOnATerminal(t *testing.T) {
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	compiler := filepath.Join(t.TempDir(), "go")
	text := "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\nmkdir -p \"${2%/*}\"; cp '" +
		filepath.Join(dir, filepath.FromSlash(runtimes.Host.Path())) + "' \"$2\"\n"
	if err := os.WriteFile(compiler, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("mcp-bundle", "bundle", "--output", t.TempDir(), "--platform", runtimes.Host.Platform(),
		"--arch", runtimes.Host.Arch)
	cmd.Dir = makeProject(t, filepath.Join(t.TempDir(), "p"))
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "MCPBASH_RUNTIME_DIR=",
		"MCPBASH_HOME="+checkout.Root(), "PATH="+filepath.Dir(compiler)+":"+os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1")
	s := pty.Start(t, cmd)
	s.Expect(`\r\[-+\]   0% building ` + runtimes.Host.String() + ` \(1 of 1\)`)
	s.Expect(`\r +\r`)
	if code, screen := s.Wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, screen)
	}
}
