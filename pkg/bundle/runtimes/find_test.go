package runtimes

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
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
		places, ways   []string
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
			if !errors.As(err, &missing) || !slices.Equal(missing.Places, tc.places) || !slices.Equal(missing.Ways, tc.ways) {
				t.Errorf("%v\n%q\nwant %q\n%q\nwant %q", err, missing.Places, tc.places, missing.Ways, tc.ways)
			}
			if got := missing.Searched(); !strings.HasSuffix(got, " in: "+strings.Join(tc.places, ", ")) {
				t.Errorf("%q", got)
			}
		})
	}
}
