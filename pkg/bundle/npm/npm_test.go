package npm

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/json/jsontest"

	"github.com/klauspost/compress/gzip"
)

var (
	linux   = runtimes.Target{OS: "linux", Arch: "amd64"}
	windows = runtimes.Target{OS: "windows", Arch: "arm64"}
)

func sample(files ...mcpb.File) *Package {
	return &Package{
		Identity: stage.Identity{Name: "@me/my-tools", Version: "1.2.3", Description: "Tools & more", License: "MIT",
			RegistryName: "io.github.me/my-tools", Author: "Ada", Repository: "https://example.com/me/tools",
			RepositoryType: "git"},
		Targets: []runtimes.Target{linux, windows}, Files: files,
		Start: &Start{Command: "my-tools", Prefix: RuntimePrefix, Version: "2.0.0", Project: "server",
			Env: map[string]string{"MCPBASH_TOOL_ALLOWLIST": "*"}},
	}
}

// packed returns the archive of a package, and its headers and contents by name.
func packed(t *testing.T, p *Package) (archive []byte, headers []*tar.Header, contents map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	contents = map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return b.Bytes(), headers, contents
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		headers, contents[h.Name] = append(headers, h), string(text)
	}
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if !jsontest.Same(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// PKG-101, PKG-103: the manifest chooses the program by the system. The launcher sets the same variables as bundles.
func TestManifest(t *testing.T) {
	_, _, contents := packed(t, sample(mcpb.Bytes("server/tools/hello.sh", true, nil), mcpb.Bytes("LICENSE", false, nil)))
	same(t, contents["package/package.json"], `{
		"name": "@me/my-tools", "version": "1.2.3", "description": "Tools & more", "license": "MIT",
		"author": {"name": "Ada"}, "repository": {"type": "git", "url": "https://example.com/me/tools"},
		"mcpName": "io.github.me/my-tools", "bin": {"my-tools": "start.js"},
		"files": ["LICENSE", "server/", "start.js"], "engines": {"node": ">=18"},
		"os": ["linux", "win32"], "cpu": ["arm64", "x64"],
		"optionalDependencies": {"@mcp-bash/runtime-linux-x64": "2.0.0", "@mcp-bash/runtime-win32-arm64": "2.0.0"},
		"mcpBash": {"project": "server", "env": {"MCPBASH_TOOL_ALLOWLIST": "*"}}}`)
	if !strings.HasPrefix(contents["package/start.js"], "#!/usr/bin/env node\n") {
		t.Error(contents["package/start.js"])
	}
	p := Runtime(RuntimePrefix, windows, stage.Identity{Version: "2.0.0", License: "MIT"},
		[]mcpb.File{mcpb.Bytes("bin/mcp-bash.exe", true, []byte("MZ"))})
	_, _, contents = packed(t, p)
	same(t, contents["package/package.json"], `{
		"name": "@mcp-bash/runtime-win32-arm64", "version": "2.0.0", "license": "MIT",
		"description": "The server of mcp-bash for win32-arm64", "files": ["README.md", "bin/"],
		"os": ["win32"], "cpu": ["arm64"], "preferUnplugged": true}`)
	if p.FileName() != "mcp-bash-runtime-win32-arm64-2.0.0" || contents["package/bin/mcp-bash.exe"] != "MZ" {
		t.Error(p.FileName(), contents)
	}
}

// PKG-102: the same files make the same bytes. Owner, times and modes are fixed, and nothing is setuid.
func TestDeterministic(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a": 0o600, "b": 0o4711&^0o4000 | os.ModeSetuid, "c/d": 0o664} {
		file := filepath.Join(dir, "server", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(name), 0o600),
			os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files, err := mcpb.Folder(root)
	if err != nil {
		t.Fatal(err)
	}
	first, headers, _ := packed(t, sample(files...))
	slices.Reverse(files)
	if again, _, _ := packed(t, sample(files...)); !bytes.Equal(first, again) {
		t.Error("other bytes for the same files")
	}
	var names []string
	for _, h := range headers {
		names = append(names, h.Name)
		mode := int64(0o644)
		if strings.HasSuffix(h.Name, "/start.js") || strings.HasSuffix(h.Name, "/b") && runtime.GOOS != "windows" {
			mode = 0o755
		}
		if h.Mode != mode || h.Uid != 0 || h.Uname != "" || h.ModTime.Unix() != 499162500 || h.Typeflag != tar.TypeReg {
			t.Errorf("%+v", h)
		}
	}
	if want := []string{"package/package.json", "package/server/a", "package/server/b", "package/server/c/d",
		"package/start.js"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if err := os.Symlink("a", filepath.Join(dir, "server", "link")); err != nil {
		t.Skip(err)
	}
	if _, err := mcpb.Folder(root); err == nil || err.Error() != "server/link: not a regular file" {
		t.Error(err)
	}
}

// PKG-104: npm refuses or changes these packages.
func TestRefusals(t *testing.T) {
	long := strings.Repeat("a", 214)
	for name, valid := range map[string]bool{
		"my-tools": true, "@me/my.tools_2": true, "a": true, long: true, long + "a": false, "": false, "My-Tools": false,
		".hidden": false, "_x": false, "-x": false, "@me/": false, "@/x": false, "@me/.x": false, "me/tools": false,
		"@me/a/b": false, "../x": false, "a b": false, "é": false, "a~b": false, "node_modules": false, "a\n": false,
	} {
		if err := checkName(name); (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		} else if err != nil && !strings.Contains(err.Error(), "such as @you/my-tools") {
			t.Error(err)
		}
	}
	for version, valid := range map[string]bool{
		"1.2.3": true, "1.2.3-beta.1": true, "1.2": false, "v1.2.3": false, "01.2.3": false, "1.2.3+build": false, "": false,
	} {
		if err := checkVersion(version); (err == nil) != valid {
			t.Errorf("%q: %v", version, err)
		}
	}
	for name, want := range map[string]string{
		"../x": "leads out of the bundle", "/etc/x": "an absolute path", "server/a/../../../b": "leads out of the bundle",
		"package.json": "twice", "start.js": "twice", `server\a`: "a backslash", "server/.gitignore": "npm leaves out",
		"server/x/.npmrc": "npm leaves out", "server/CVS/x": "npm leaves out", "server/a.orig": "npm leaves out",
		"server/.a.swp": "npm leaves out", "server/._a": "npm leaves out", "server/.npmignore": "npm leaves out",
	} {
		if err := sample(mcpb.Bytes(name, false, nil)).Write(t.Context(), io.Discard); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, size := range []int64{1, 3} { // the file changed while it was packed
		f := mcpb.Bytes("server/a", false, []byte("ab"))
		f.Size = size
		if err := sample(f).Write(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "server/a: ") {
			t.Errorf("%d: %v", size, err)
		}
	}
}
