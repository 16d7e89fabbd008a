// Package checkout is the repository as tests use it: where it is, its commands, built, and its
// projects, copied.
package checkout

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
)

// Root is the directory of the repository, in which the package that is tested lies. Outside of
// it, it panics.
var Root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "mcp-bash")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("the tests are not run in the repository")
		}
	}
})

// Commands are the import paths of all commands.
const Commands = "mcp-bash/cmd/..."

// Build builds commands, named by import paths or files, as they are shipped. All tests build them so,
// that packages are compiled once.
func Build(dir, packages string) error {
	args, env := runtimes.BuildCommand(runtimes.Host, dir+string(filepath.Separator), packages)
	return compile(args, env)
}

// BuildLikeTests builds commands with the race detector where the tests have it.
func BuildLikeTests(dir, packages string) error {
	if !Race {
		return Build(dir, packages)
	}
	return compile([]string{"build", "-race", "-o", dir + string(filepath.Separator), packages}, nil)
}

func compile(args []string, env map[string]string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = Root(), os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Main runs tests, before them build with a directory for what they share. It returns the exit
// code of TestMain.
func Main(m *testing.M, build func(dir string) error) int {
	dir, err := os.MkdirTemp("", "mcp-bash-test.")
	if err == nil {
		defer os.RemoveAll(dir)
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Directory makes a directory that no one else may write to, and returns its physical name.
func Directory(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Example copies a project of examples/, so that the repository stays as it is.
func Example(t testing.TB, name string) string {
	t.Helper()
	return Copy(t, filepath.Join(Root(), "examples", name))
}

// Copy copies a project without its registry. Modes are those of a checkout with the usual umask:
// a script that others may write to would not be run (T-41).
func Copy(t testing.TB, project string) string {
	t.Helper()
	target := Directory(t)
	err := filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(project, path)
		to := filepath.Join(target, rel)
		if d.IsDir() {
			if d.Name() == ".registry" {
				return filepath.SkipDir
			}
			return os.MkdirAll(to, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return os.WriteFile(to, data, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	return target
}
