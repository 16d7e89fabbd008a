//go:build unix

package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/test/checkout"
)

// where is what the tool of that name found.
type where struct{ SDK, Home, Version, JQ string }

// A single copy of the binary works without a tree around it, without a home, and without jq
// on PATH (P-102).
func TestLoneBinary(t *testing.T) {
	t.Parallel()
	alone := filepath.Join(checkout.Directory(t), "server")
	copyProgram(t, filepath.Join(bin, "mcp-bash"), alone)
	path := checkout.Directory(t)
	for _, program := range []string{"bash", "env"} {
		link(t, program, path)
	}
	s := open(t, checkout.Copy(t, "testdata/family"), opening{
		binary: alone,
		env:    map[string]string{"HOME": "", "XDG_CACHE_HOME": "", "PATH": path},
	})
	got := structured[where](t, s.succeed("where", nil))
	if got.JQ != "2" || got.Version != cli.Version || got.SDK != got.Home+"/sdk" {
		t.Errorf("%+v", got)
	}
	if !strings.HasPrefix(got.Home, s.tmp+"/") { // no cache directory is writable
		t.Errorf("%+v, want it in %s", got, s.tmp)
	}
}

// A single copy of mcp-runtool offers no helper. A filter uses jq, or mcp-bash on PATH, or fails with the remedy
// (P-111).
func TestLoneRunTool(t *testing.T) {
	t.Parallel()
	checkout.Needs(t, "jq")
	alone := filepath.Join(checkout.Directory(t), "mcp-runtool")
	copyProgram(t, filepath.Join(bin, "mcp-runtool"), alone)
	project := checkout.Copy(t, "testdata/family")
	for program, want := range map[string]string{
		"jq": `"text":"a,b"`, "mcp-bash": `"text":"a,b"`, "": "put jq or mcp-bash on PATH",
	} {
		path := checkout.Directory(t)
		for _, name := range []string{"bash", "env", "cat"} {
			link(t, name, path)
		}
		switch program {
		case "jq":
			link(t, program, path)
		case "mcp-bash":
			if err := os.Symlink(filepath.Join(bin, program), filepath.Join(path, program)); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(alone, "keys", "--allow-self", "--args", `{"o":{"a":1,"b":2}}`)
		cmd.Dir = project
		cmd.Env = []string{"PATH=" + path, "HOME=" + checkout.Directory(t), "TMPDIR=" + checkout.Directory(t)}
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) || strings.Contains(string(out), "jq error") {
			t.Errorf("with %q: %s", program, out)
		}
	}
}

// The binary unpacks its SDK into the cache directory, which is private. The next start repairs
// files that were changed there (CLI-303).
func TestUnpackedSDK(t *testing.T) {
	t.Parallel()
	home, project := checkout.Directory(t), checkout.Copy(t, "testdata/family")
	env := map[string]string{"HOME": home, "XDG_CACHE_HOME": ""}
	var first where
	for range 2 {
		s := open(t, project, opening{env: env})
		got := structured[where](t, s.succeed("where", nil))
		if !strings.HasPrefix(got.Home, home+"/.cache/mcp-bash/") || first.Home != "" && got != first {
			t.Errorf("%+v, before %+v", got, first)
		}
		first = got
		if info, err := os.Stat(got.Home); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		sdk := filepath.Join(got.SDK, "tool-sdk.sh")
		os.Chmod(sdk, 0o600)
		if err := os.WriteFile(sdk, []byte("echo damaged; exit 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A link to a binary in a tree leads to that tree (CLI-303).
func TestSymlinkedBinary(t *testing.T) {
	t.Parallel()
	home := installation(t, filepath.Join("testdata", "provider"))
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	copyProgram(t, filepath.Join(bin, "mcp-bash"), filepath.Join(home, "bin", "mcp-bash"))
	links := checkout.Directory(t)
	if err := os.Symlink(filepath.Join(home, "bin", "mcp-bash"), filepath.Join(links, "first")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("first", filepath.Join(links, "second")); err != nil {
		t.Fatal(err)
	}
	s := open(t, checkout.Copy(t, "testdata/family"), opening{binary: filepath.Join(links, "second")})
	if got := structured[where](t, s.succeed("where", nil)); got.Home != home || got.SDK != home+"/sdk" {
		t.Errorf("%+v, want %s", got, home)
	}
}

// copyProgram copies a program that is to be started.
func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = checkout.WriteProgram(to, content)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// link makes a program of PATH available in a directory.
func link(t *testing.T, program, dir string) {
	t.Helper()
	for _, place := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(place, program)); err == nil {
			if err := os.Symlink(filepath.Join(place, program), filepath.Join(dir, program)); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("there is no %s here", program)
}
