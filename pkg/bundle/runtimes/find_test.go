package runtimes

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/test/ownprogram"
)

// CLI-1166, CLI-1422: if a program is missing, the error has the directories that were searched, and only ways that
// work for this installation.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	home, checkout := filepath.Join(dir, "home"), filepath.Join(dir, "my sources")
	write("my sources/go.mod", "module mcp-bash\n", 0o644)
	write("my sources/cmd/mcp-bash/main.go", "", 0o644)
	write("home/RELEASES", "https://example.com/r\n", 0o644)
	write("go/go", "#!/bin/sh\nexit 1\n", 0o755)
	cache := filepath.Join(dir, "cache")
	target := Target{OS: "windows", Arch: "arm64"}
	installed := []string{filepath.Join(home, "runtimes"), filepath.Join(home, "bin"),
		filepath.Join(cache, "mcp-bash", cli.Version)}
	const (
		archive = "unpack mcp-bash-" + Tag + "-runtimes.tar.gz of the release, " +
			"and pass its directory runtimes with --runtime-dir"
		download = "set MCPBASH_RELEASE_BASE_URL=https://example.com/r, to download them"
		fewer    = "or leave systems out with --platform and --arch"
		anywhere = "run the command again with MCPBASH_HOME=DIR, where DIR is a checkout of mcp-bash"
	)
	known := "run the command again with MCPBASH_HOME='" + checkout + "', to build them from the sources"
	for _, tc := range []struct {
		name, checkout string
		goes           bool // whether go is on PATH
		s              Source
		dirs, ways     []string
	}{
		{"known sources", checkout, true, Source{Home: home}, installed, []string{known, archive, download, fewer}},
		{"known sources without go", checkout, false, Source{Home: home}, installed,
			[]string{"install Go (https://go.dev/dl), and " + known, archive, download, fewer}},
		{"sources that are gone", filepath.Join(dir, "gone"), true, Source{Home: home}, installed,
			[]string{anywhere, archive, download, fewer}},
		{"unknown sources", "", true, Source{Home: home}, installed, []string{anywhere, archive, download, fewer}},
		{"no installation", "", true, Source{}, installed[2:], []string{anywhere, archive,
			"set MCPBASH_RELEASE_BASE_URL to the address of the releases, to download them", fewer}},
		{"the sources", "", false, Source{Home: checkout}, []string{filepath.Join(checkout, "runtimes"),
			filepath.Join(checkout, "bin"), installed[2]}, []string{"install Go (https://go.dev/dl), and run the command " +
			"again, to build them from " + checkout, archive,
			"set MCPBASH_RELEASE_BASE_URL to the address of the releases, to download them", fewer}},
		{"sources that cannot be built", "", true, Source{Home: checkout}, []string{filepath.Join(checkout, "runtimes"),
			filepath.Join(checkout, "bin"), installed[2]}, []string{"run go build ./cmd/mcp-bash in '" + checkout +
			"' to see why it fails", archive,
			"set MCPBASH_RELEASE_BASE_URL to the address of the releases, to download them", fewer}},
		{"a chosen directory", checkout, true, Source{Home: home, RuntimeDir: filepath.Join(dir, "mine")},
			[]string{filepath.Join(dir, "mine")}, []string{archive, "leave out --runtime-dir to search elsewhere", fewer}},
		{"a directory of the environment", checkout, true, Source{Home: home,
			Env: project.Env{"MCPBASH_RUNTIME_DIR": filepath.Join(dir, "mine")}}, []string{filepath.Join(dir, "mine")},
			[]string{archive, "unset MCPBASH_RUNTIME_DIR to search elsewhere", fewer}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			record, _ := json.Marshal(map[string]any{"managed": true, "checkout": tc.checkout})
			write("home/INSTALLER.json", string(record), 0o644)
			s := tc.s
			env := project.Env{"XDG_CACHE_HOME": cache, "PATH": filepath.Join(dir, "none")}
			if tc.goes {
				env["PATH"] = filepath.Join(dir, "go")
			}
			for name, value := range s.Env {
				env[name] = value
			}
			s.Env = env
			s.Runner, s.Work, s.Note = &script.Runner{}, dir, func(string) {}
			_, err := s.Find(t.Context(), []Target{target})
			var missing *MissingError
			if !errors.As(err, &missing) || !slices.Equal(missing.Dirs, tc.dirs) || !slices.Equal(missing.Ways, tc.ways) {
				t.Errorf("%v\n%q\nwant %q\n%q\nwant %q", err, missing.Dirs, tc.dirs, missing.Ways, tc.ways)
			}
			if got := missing.Searched(); !strings.HasSuffix(got, " in: "+strings.Join(tc.dirs, ", ")) {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestMain makes the test binary a mcp-bash that sends requests.
func TestMain(m *testing.M) { ownprogram.Main(m) }

// ours returns the server's binary for this machine.
var ours = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "runtimes-test.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "mcp-bash")
	args, env := BuildCommand(Host, file, "mcp-bash/cmd/mcp-bash", "")
	build := exec.Command("go", args...)
	build.Env = os.Environ()
	for name, value := range env {
		build.Env = append(build.Env, name+"="+value)
	}
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.New(string(out))
	}
	return os.ReadFile(file)
})

// released returns an archive of a release.
func released(t *testing.T, name string, program []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if strings.HasSuffix(name, ".zip") {
		z := zip.NewWriter(&b)
		w, err := z.Create("mcp-bash/bin/mcp-bash.exe")
		if err != nil {
			t.Fatal(err)
		}
		w.Write(program)
		z.Close()
		return b.Bytes()
	}
	g := gzip.NewWriter(&b)
	a := tar.NewWriter(g)
	for _, h := range []tar.Header{
		{Name: "mcp-bash/bin/", Typeflag: tar.TypeDir}, {Name: "../../evil", Typeflag: tar.TypeSymlink,
			Linkname: "/etc/passwd"},
		{Name: "mcp-bash/bin/mcp-bash", Typeflag: tar.TypeReg, Size: int64(len(program)), Mode: 0o755},
	} {
		if err := a.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			a.Write(program)
		}
	}
	a.Close()
	g.Close()
	return b.Bytes()
}

// CLI-1422: a release is accepted if its checksum matches, and is then cached.
func TestDownload(t *testing.T) {
	program, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	name := "mcp-bash-v" + cli.Version + "-" + Host.String() + ".tar.gz"
	good := released(t, name, program)
	sum := fmt.Sprintf("%x", sha256.Sum256(good))
	for _, tc := range []struct {
		name, sums string
		archive    []byte
		offline    bool
		reason     string
	}{
		{"good", sum + "  " + name + "\n", good, false, ""},
		{"a star before the name", sum + " *" + name + "\n", good, false, ""},
		{"offline", sum + "  " + name + "\n", good, true, "--offline"},
		{"no sums", "", good, false, "404"},
		{"no line", sum + "  other\n", good, false, "SHA256SUMS missing entry for " + name},
		{"another sum", strings.Repeat("0", 64) + "  " + name + "\n", good, false,
			"SHA256 checksum verification failed for: " + name},
		{"no program", fmt.Sprintf("%x  %s\n", sha256.Sum256(good[:0]), name), nil, false, "EOF"},
		{"no archive", sum + "  " + name + "\n", nil, false, "checksum verification failed"},
		{"sums without end", strings.Repeat("x", maxSums+1), good, false, "larger than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				switch r.URL.Path {
				case "/v" + cli.Version + "/SHA256SUMS":
					if tc.sums == "" {
						http.NotFound(w, r)
					}
					w.Write([]byte(tc.sums))
				case "/v" + cli.Version + "/" + name:
					w.Write(tc.archive)
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			cache := t.TempDir()
			s := &Source{Web: web.Client{Program: ownprogram.Path(t)},
				Env:     project.Env{"MCPBASH_RELEASE_BASE_URL": server.URL, "XDG_CACHE_HOME": cache},
				Offline: tc.offline, Runner: new(script.Runner), Note: func(string) {}}
			b, err := s.download(t.Context(), Host)
			if tc.reason != "" {
				if err == nil || !strings.Contains(err.Error(), tc.reason) {
					t.Errorf("%v", err)
				}
				left, _ := filepath.Glob(filepath.Join(cache, "mcp-bash", "*", "*", "*"))
				if len(left) > 0 {
					t.Errorf("left %v", left)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(b.File); !bytes.Equal(got, program) {
				t.Error("another program")
			}
			server.Close()
			if again, err := s.download(t.Context(), Host); err != nil || again.File != b.File || asked != 2 {
				t.Errorf("not kept: %v", err)
			}
		})
	}
}

func TestExtractZip(t *testing.T) {
	text := released(t, "x.zip", []byte("program"))
	if got, err := extract(text, "mcp-bash/bin/mcp-bash.exe", true); err != nil || string(got) != "program" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := extract(text, "other", true); err == nil {
		t.Error("found what is not there")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// The size of a program in an archive is limited.
func TestReadBinary(t *testing.T) {
	want := "a program larger than 134217728 bytes"
	if _, err := readBinary(zeros{}); err == nil || err.Error() != want {
		t.Error(err)
	}
	if got, err := readBinary(io.LimitReader(zeros{}, maxBinary)); err != nil || len(got) != maxBinary {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A checkout has the go.mod of this module.
func TestIsSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cmd", "mcp-bash"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{1 << 20: true, 1<<20 + 1: false} {
		text := "module mcp-bash\n"
		text += strings.Repeat("\n", n-len(text))
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if isSource(dir) != want {
			t.Errorf("%d bytes: %t", n, !want)
		}
	}
}

// For any archive, at most one file of limited size is extracted.
func FuzzExtract(f *testing.F) {
	f.Add([]byte("PK\x05\x06"+strings.Repeat("\x00", 18)), true)
	f.Add([]byte("\x1f\x8b\x08\x00"), false)
	f.Fuzz(func(t *testing.T, text []byte, isZip bool) {
		if got, err := extract(text, "mcp-bash/bin/mcp-bash", isZip); err == nil && len(got) > maxBinary {
			t.Errorf("%d bytes", len(got))
		}
	})
}

// The system and version of our program are read without running it. Other programs are
// rejected.
func TestCheck(t *testing.T) {
	program, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mcp-bash")
	older := bytes.ReplaceAll(program, []byte(cli.Stamp()), []byte(strings.Replace(cli.Stamp(), "2", "1", 1)))
	for name, tc := range map[string]struct {
		content []byte
		target  Target
		reason  string
	}{
		"ours":           {program, Host, ""},
		"another system": {program, Target{"darwin", "riscv64"}, "for " + Host.String()},
		"older":          {older, Host, "not of version " + cli.Version},
		"text":           {[]byte("#!/bin/sh\n" + cli.Stamp()), Host, "not mcp-bash"},
		"cut":            {program[:len(program)/8], Host, "not "},
		"empty":          {nil, Host, "not mcp-bash"},
	} {
		if err := os.WriteFile(file, tc.content, 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := check(file, tc.target)
		if tc.reason == "" && err != nil || tc.reason != "" && (err == nil ||
			!strings.Contains(err.Error(), tc.reason)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := check(t.TempDir(), Host); err == nil {
		t.Error("a directory passed")
	}
}

func TestSelect(t *testing.T) {
	for want, got := range map[string][]Target{
		"[darwin-amd64 darwin-arm64 linux-amd64 linux-arm64 windows-amd64]": Select("all", nil),
		"[linux-amd64 linux-arm64]":                                         Select("linux", nil),
		"[windows-arm64]":                                                   Select("win32", []string{"arm64"}),
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
