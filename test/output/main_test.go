// Package output tests what all commands print, as they are shipped: output that cannot be written
// (CLI-116), messages that stay on their lines (CLI-117), and files called "-" (CLI-118).
package output

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
	"mcp-bash/test/debmirror"
)

// bin holds the commands.
var bin string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		bin = dir
		return checkout.Build(dir, checkout.Commands)
	}))
}

// patience is how long a command may take.
const patience = 5 * time.Minute

// A place is the project, in a new directory, in which a command runs.
type place struct{ dir, home string }

// command is Bash with a script in the project, with the commands on PATH and nothing else of our environment.
func (p place) command(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + p.home, "LANG=C",
		"XDG_CACHE_HOME=" + filepath.Join(bin, "cache"), // shared: the SDK is unpacked once
		"MCPBASH_RUNTIME_DIR=" + filepath.Join(bin, "runtimes"), "GIT_CONFIG_NOSYSTEM=1",
		"PLATFORM=" + runtimes.Host.Platform(), "ARCH=" + runtimes.Host.Arch, "MCPBASH_TOOL_ALLOWLIST=*",
		"MIRROR=" + os.Getenv("MIRROR"), "KEYRING=" + os.Getenv("KEYRING"),
	}
	return cmd
}

// linkRuntime makes the directory of programs for bundles, with the one of this system. It starts a
// mirror of Debian for images.
func linkRuntime(t *testing.T) {
	t.Helper()
	mirror := debmirror.New(t, debmirror.System()...)
	t.Setenv("MIRROR", mirror.URL)
	t.Setenv("KEYRING", mirror.Keyring)
	file := filepath.Join(bin, "runtimes", runtimes.Host.Path())
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(bin, "mcp-bash"), file); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
}

// vendored is the directory of a project that holds the server.
const vendored = ".mcp-bash"

// copied returns a copy of a project, which a command line may change. Only commands about the
// vendored server get that, as it has many files.
func (p place) copied(t *testing.T, line string) place {
	t.Helper()
	home := checkout.Directory(t)
	to := place{filepath.Join(home, filepath.Base(p.dir)), home}
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(p.dir, path)
		target := filepath.Join(to.dir, rel)
		if rel == vendored && !strings.Contains(line, "vendor") {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case info.Size() > 1<<20: // a program or bundle, which nothing changes in place
			return os.Link(path, target)
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(target, text, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// commands are all commands and subcommands of all programs, as they list them to shells.
func commands(t *testing.T, p place) (leaves, groups []string) {
	t.Helper()
	programs, err := os.ReadDir(filepath.Join(checkout.Root(), "cmd"))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(words []string)
	walk = func(words []string) {
		line := append(slices.Insert(slices.Clone(words), 1, "__complete"), "''")
		out, err := p.command(t, strings.Join(line, " ")).Output()
		if err != nil {
			t.Fatalf("%s: %v", strings.Join(line, " "), err)
		}
		var below []string
		for line := range strings.Lines(string(out)) {
			word, brief, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if brief != "" { // a value has no brief text
				below = append(below, word)
			}
		}
		if name := strings.Join(words, " "); below == nil {
			leaves = append(leaves, name)
		} else {
			groups = append(groups, name)
		}
		for _, word := range below {
			walk(append(slices.Clone(words), word))
		}
	}
	for _, program := range programs {
		walk([]string{program.Name()})
	}
	if len(leaves) < 40 {
		t.Fatalf("%d commands: %q", len(leaves), leaves)
	}
	return leaves, groups
}
