// Package checkout gives tests the repository: its folder, its commands, built, and copies of
// its projects.
package checkout

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/files/atomicfile"
)

// Root returns the folder of the repository that contains the tested package. It panics outside
// of a repository.
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

// Commands is the pattern of all commands.
const Commands = commandsFolder + "..."

const commandsFolder = "mcp-bash/cmd/"

// Build builds commands as they are shipped and puts them into dir. It takes an import path, the
// pattern [Commands] or a Go file.
func Build(dir, packages string) error {
	args, env := runtimes.BuildCommand(runtimes.Host, "", packages, "")
	return build(dir, packages, "shipped", args, env)
}

// BuildFor builds commands for another system.
func BuildFor(t runtimes.Target, dir, packages string) error {
	args, env := runtimes.BuildCommand(t, "", packages, "")
	return compile(dir, args, env)
}

// BuildLikeTests builds commands with the race detector where the tests have it.
func BuildLikeTests(dir, packages string) error {
	if !Race {
		return Build(dir, packages)
	}
	return build(dir, packages, "race", []string{"build", "-race", "-o", "", packages}, nil)
}

// build runs go with args, which have an empty value for -o. Linking a command takes about a second, and many
// packages test the commands. So they are built in a shared folder of the repository and
// copied to dir. The go command does nothing for a command that is up to date.
func build(dir, packages, variant string, args []string, env map[string]string) error {
	if !strings.HasPrefix(packages, commandsFolder) {
		return compile(dir, args, env)
	}
	shared := filepath.Join(Root(), "bin", ".test", variant)
	if err := os.MkdirAll(shared, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(shared, ".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := atomicfile.Lock(context.Background(), lock, "commands", 10*time.Minute); err != nil {
		return err
	}
	if err := compile(shared, args, env); err != nil {
		return err
	}
	return copyCommands(dir, shared, packages)
}

// compile runs go with args, and with dir as the value of -o.
func compile(dir string, args []string, env map[string]string) error {
	args = slices.Clone(args)
	args[slices.Index(args, "-o")+1] = dir + string(filepath.Separator)
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

// copyCommands copies the built commands of packages, so that a test may change its own.
func copyCommands(dir, shared, packages string) error {
	names := []string{path.Base(packages)}
	if packages == Commands {
		names = nil
		list, err := os.ReadDir(filepath.Join(Root(), "cmd"))
		if err != nil {
			return err
		}
		for _, d := range list {
			names = append(names, d.Name())
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		name += executableSuffix()
		program, err := os.ReadFile(filepath.Join(shared, name))
		if err != nil {
			return err
		}
		if err := WriteProgram(filepath.Join(dir, name), program); err != nil {
			return err
		}
	}
	return nil
}

// WriteProgram writes a file that is to be started. No child of another test inherits the file while it is written.
// Otherwise it cannot be started ("text file busy").
func WriteProgram(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o755)
}

func executableSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// Main calls build with a folder that all tests share, and then runs the tests. It returns the exit
// code for TestMain.
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

// Needs ends a test at its beginning if programs are missing. Their packages in Debian have the same names.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	missing := slices.DeleteFunc(programs, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
	if len(missing) > 0 {
		t.Fatalf("this test needs more programs; on Debian: apt-get install %s", strings.Join(missing, " "))
	}
}

// Directory returns the physical path of a new folder that only its owner may change.
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

// Example returns the path of a copy of a project in examples/.
func Example(t testing.TB, name string) string {
	t.Helper()
	return Copy(t, filepath.Join(Root(), "examples", name))
}

// Copy copies a project without its registry. Files get the modes of a checkout with the usual
// umask, because a script that other users may change does not run (T-41).
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
