package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/confine"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/roots"
)

// A yard is a bench with a mode, and what its tools try to reach.
type yard struct {
	*bench
	root, beside string
}

func newYard(t *testing.T, mode string, env project.Env) *yard {
	t.Helper()
	if confine.Offered().None() {
		t.Skip("the kernel cannot confine")
	}
	y := &yard{bench: newBench(t, env)}
	var ok bool
	if y.tools.Confine, ok = access.ParseConfinement(mode); !ok {
		t.Fatal(mode)
	}
	y.tools.Kernel = confine.Offered
	for _, dir := range []*string{&y.root, &y.beside} {
		physical, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(physical+"/file", []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		*dir = physical
	}
	return y
}

// try runs code as a tool that declares capabilities, "" for one that declares nothing.
func (y *yard) try(capabilities, code string) string {
	y.t.Helper()
	more := []string{}
	if capabilities != "" {
		more = append(more, `"capabilities":`+capabilities)
	}
	name := fmt.Sprintf("t%d", len(y.items))
	y.add(name, code, more...)
	return y.callIt(name)
}

func (y *yard) callIt(name string) string {
	y.t.Helper()
	list := roots.List{{URI: "file://" + y.root, Path: y.root}}
	return y.call(&Request{Name: name, ID: "1", Roots: list})
}

const reached = "REACHED"

// What a call may reach follows from what its tool declares, in each mode (CF-1, CF-3,
// CF-5, CF-10 to CF-16, CF-20).
func TestConfinedCalls(t *testing.T) {
	for _, c := range []struct {
		mode, capabilities, code string
		reaches                  bool
	}{
		{"declared", ``, `cat "$BESIDE/file"`, true},
		{"declared", `[]`, `cat "$BESIDE/file"`, false},
		{"declared", `["Search"]`, `cat "$BESIDE/file"`, false},
		{"declared", `["search"]`, `cat "$ROOT/file"`, true},
		{"declared", `["Search"]`, `cat "$MCPBASH_PROJECT_ROOT/notes"`, true},
		{"declared", `["Search"]`, `echo >"$ROOT/new"`, false},
		{"declared", `["Edit"]`, `echo >"$ROOT/new" && mv "$ROOT/new" "$ROOT/other"`, true},
		{"declared", `["Edit"]`, `echo >"$BESIDE/new"`, false},
		{"declared", `["Edit"]`, `echo >>"$MCPBASH_PROJECT_ROOT/notes"`, false},
		{"declared", `["FileSystem"]`, `cat "$BESIDE/file" && echo >"$BESIDE/new"`, true},
		{"declared", `["FileSystem"]`, `exec 3<>/dev/udp/127.0.0.1/9`, false},
		{"declared", `["FileSystem"]`, `kill -0 $PPID`, false},
		{"declared", `["Network"]`, `exec 3<>/dev/udp/127.0.0.1/9`, true},
		{"declared", `["Network"]`, `cat "$ROOT/file"`, false},
		{"declared", `["Process"]`, `kill -0 $PPID`, true},
		{"declared", `["Process"]`, `cat "$ROOT/file"`, false},
		{"declared", `["FileSystem","Process","Network"]`, `kill -0 $PPID && cat "$BESIDE/file"`, true},
		{"declared", `["Kernel"]`, `cat "$ROOT/file"`, false},
		{"declared", `[]`, `d=$(mktemp -d) && echo x >"$d/y" && [[ $d == "$TMPDIR"/* ]]`, true},
		{"declared", `[]`, `cat <<<x | sort && source "$0.nothing" 2>/dev/null; cat "$0"`, true},
		{"declared", `[]`, `echo x >"$0.new"`, false},
		{"declared", `[]`, `echo x >"$MCPBASH_STATE_DIR/new"`, false},
		{"declared", `[]`, `ls "$MCPBASH_STATE_DIR"`, false},
		{"declared", `[]`, `echo x >"$MCP_PROGRESS_STREAM" && echo x >"$MCPBASH_DEBUG_LOG"`, true},
		{"off", `[]`, `cat "$BESIDE/file" && kill -0 $PPID`, true},
		{"all", ``, `cat "$BESIDE/file"`, false},
		{"all", ``, `cat "$0"`, true},
		{"all,required", ``, `cat "$BESIDE/file"`, false},
		{"all,required", `["FileSystem"]`, `cat "$BESIDE/file"`, true},
	} {
		y := newYard(t, c.mode, nil)
		if err := os.WriteFile(y.tools.project.Root+"/notes", []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		got := y.try(c.capabilities, fmt.Sprintf("ROOT=%s BESIDE=%s\n{ %s; } && echo %s || exit 0", y.root, y.beside,
			c.code, reached))
		if strings.Contains(got, reached) != c.reaches {
			t.Errorf("%s, %s: %s: %s", c.mode, c.capabilities, c.code, got)
		}
	}
}

// With a root that is the project, Edit changes what lies there, but not what runs next (CF-14).
func TestEditOfTheProject(t *testing.T) {
	y := newYard(t, "declared", nil)
	y.root = y.tools.project.Root
	for _, dir := range []string{"notes/deep", "lib", "config", ".git"} {
		if err := os.MkdirAll(filepath.Join(y.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, allowed := range map[string]bool{
		"notes/new": true, "notes/deep/new": true, "tools/new": false, "server.d/new": false, ".registry/new": false,
		"lib/new": false, "config/roots.json": false, ".git/hook": false, "new": false,
	} {
		got := y.try(`["Edit"]`, fmt.Sprintf("echo x >%s/%s && echo %s || exit 0", y.root, path, reached))
		if strings.Contains(got, reached) != allowed {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// A tool of which the kernel cannot hold something is refused where that is required, and
// else runs with one warning, held to what can be (CF-30).
func TestOlderKernelCalls(t *testing.T) {
	for abi := range 3 {
		y := newYard(t, "declared,required", nil)
		y.tools.Kernel = func() confine.Kernel { return confine.Kernel{ABI: abi, Filters: abi > 0} }
		mark := filepath.Join(t.TempDir(), "ran")
		code := "echo >" + mark + "; echo " + reached
		if got := y.try(`[]`, code); !strings.Contains(got, "cannot be confined") || strings.Contains(got, reached) {
			t.Errorf("ABI %d: %s", abi, got)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("ABI %d: it ran", abi)
		}
		if got := y.try(``, code); !strings.Contains(got, reached) {
			t.Errorf("ABI %d, undeclared: %s", abi, got)
		}
		y.tools.Confine.Required = false
		code = "cat " + y.beside + "/file && echo " + reached + " || exit 0"
		for range 3 {
			if got := y.try(`[]`, code); strings.Contains(got, reached) != (abi == 0) {
				t.Errorf("ABI %d: %s", abi, got)
			}
		}
		y.mu.Lock()
		warnings := strings.Count(strings.Join(y.logs, "\n"), "this kernel cannot hold")
		y.mu.Unlock()
		if warnings != 1 {
			t.Errorf("ABI %d: %d warnings", abi, warnings)
		}
	}
}

// A fault in confining fails the call, in every mode, and nothing runs (CF-4).
func TestConfinementFaults(t *testing.T) {
	for _, mode := range []string{"declared", "declared,required", "all"} {
		y := newYard(t, mode, nil)
		mark := filepath.Join(t.TempDir(), "ran")
		y.tools.Kernel = func() confine.Kernel { return confine.Kernel{ABI: 99, Signals: true, Filters: true} }
		state := y.tools.State.Dir
		if err := os.WriteFile(filepath.Join(state, "tool.1"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := y.try(`[]`, "echo >"+mark); !strings.Contains(got, "cannot be started") {
			t.Errorf("%s: %s", mode, got)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: it ran", mode)
		}
	}
}

// The private directories of tools are bounded in number (CF-11).
func TestBoxes(t *testing.T) {
	y := newYard(t, "declared", nil)
	for range mostBoxes + 5 {
		if got := y.try(`[]`, "echo x >$TMPDIR/x && echo "+reached); !strings.Contains(got, reached) {
			t.Fatal(got)
		}
	}
	if n := len(y.tools.boxes.of); n != mostBoxes {
		t.Errorf("%d boxes", n)
	}
	if got := y.callIt("t0"); !strings.Contains(got, reached) {
		t.Error(got)
	}
	if got := y.callIt(fmt.Sprintf("t%d", mostBoxes)); !strings.Contains(got, reached) {
		t.Error(got)
	}
}
