// Package published publishes packages of projects to registries on this machine. Then it starts their servers with
// npx, pip and pipx.
package published

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
	"mcp-bash/test/page"
)

// A world is a folder with an empty home and the commands, and the environment of a user there.
type world struct {
	*testing.T
	dir      string
	env      []string
	patience time.Duration // for a command, and for the answers of a server
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Getenv("MCPBASH_TEST_LONG") == "" {
		t.Skip("left out: it publishes and installs packages for a minute; set MCPBASH_TEST_LONG=1")
	}
	w := &world{T: t, dir: t.TempDir(), patience: 5 * time.Minute}
	home := filepath.Join(w.dir, "home")
	if err := errors.Join(
		os.Chmod(w.dir, 0o755), os.Mkdir(home, 0o755),
		checkout.Build(filepath.Join(w.dir, "bin"), checkout.Commands),
		checkout.Build(filepath.Join(w.dir, "runtime", filepath.Dir(runtimes.Host.Path())), "mcp-bash/cmd/mcp-bash"),
	); err != nil {
		t.Fatal(err)
	}
	w.env = []string{"HOME=" + home, "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + filepath.Join(w.dir, "bin") + ":" + home + "/.local/bin:" + os.Getenv("PATH"),
		"MCPBASH_RUNTIME_DIR=" + filepath.Join(w.dir, "runtime")}
	return w
}

// commands returns the blocks of docs/PUBLISH.md that the test runs.
func (w *world) commands(number int) (list []string) {
	w.Helper()
	for _, b := range page.ForTest(w.T, "PUBLISH.md") {
		list = append(list, strings.TrimSpace(b.Text))
	}
	if len(list) != number {
		w.Fatalf("%d blocks", len(list))
	}
	return list
}

// example makes a copy of an example in a folder of the world.
func (w *world) example(name, dir string) {
	w.Helper()
	if err := os.Rename(checkout.Example(w, name), filepath.Join(w.dir, dir)); err != nil {
		w.Fatal(err)
	}
}

// shell runs a script in a folder of the world, and returns its output and exit status.
func (w *world) shell(dir, script string) (out string, status int) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), w.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-ec", script)
	cmd.Dir, cmd.Env = filepath.Join(w.dir, dir), w.env
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		w.Fatalf("%s: %v\n%s", script, err, text)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (w *world) must(dir, script string) string {
	w.Helper()
	out, status := w.shell(dir, script)
	if status != 0 {
		w.Fatalf("%s: exit %d\n%s", script, status, out)
	}
	return out
}

// call starts a server with a command, calls a tool and returns the text of its result.
func (w *world) call(command, tool string, arguments map[string]any) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), w.patience)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.Command("bash", "-c", "exec "+command)
	cmd.Dir, cmd.Env, cmd.Stderr = filepath.Join(w.dir, "home"), w.env, &stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx,
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		w.Fatalf("%s: %v\n%s", command, err, &stderr)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || result.IsError || len(result.Content) == 0 {
		w.Fatalf("%s: %+v, %v\n%s", command, result, err, &stderr)
	}
	return fmt.Sprint(result.Content[0].(*mcp.TextContent).Text)
}
