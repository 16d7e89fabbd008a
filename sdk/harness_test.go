package sdk_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"mcp-bash/lib"
	"mcp-bash/pkg/json/jq"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/sdk"
	"mcp-bash/test/checkout"
)

var (
	mcpJQ    string // a binary that is our program, as servers hand it to scripts
	sdkDir   string // where tool-sdk.sh is
	aloneDir string // where a copy of the SDK is, with nothing around

	absentDir string // a directory that is not there
	path      string // PATH without any mcp-bash, which the SDK would find
)

// bash is what runs the scripts, the one on PATH: "make test BASH_OLD=DIR" puts
// another there.
var bash = sync.OnceValue(func() string {
	path, err := exec.LookPath("bash")
	if err != nil {
		panic(err)
	}
	return path
})

// bashVersion is its version, 302 for 3.2.
var bashVersion = sync.OnceValue(func() int {
	out, err := exec.Command(bash(), "-c", "echo $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))").Output()
	if err != nil {
		panic(err)
	}
	version, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		panic(err)
	}
	return version
})

// jsonTool is the JSON tool of [byJSONTool]: MCPBASH_TEST_JSON_TOOL, else our
// program again.
var jsonTool = sync.OnceValue(func() string {
	if tool := os.Getenv("MCPBASH_TEST_JSON_TOOL"); tool != "" {
		return tool
	}
	return mcpJQ
})

func TestMain(m *testing.M) {
	// Started by nohup, say, scripts would ignore it too; a server sees to it
	// that they do not (T-47).
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "mcp-sdk-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	// A link in a test's directory must not make its paths impure.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return 0, err
	}
	// A tree of its own: in that of the sources the commands may have been built.
	sdkDir = filepath.Join(dir, "tree", "sdk")
	for to, files := range map[string]fs.FS{sdkDir: sdk.Files, filepath.Join(dir, "tree", "lib"): lib.Files} {
		if err := os.CopyFS(to, files); err != nil {
			return 0, err
		}
	}
	aloneDir = filepath.Join(dir, "alone")
	absentDir = filepath.Join(dir, "absent")
	if err := os.CopyFS(aloneDir, sdk.Files); err != nil {
		return 0, err
	}
	if mcpJQ, err = buildProgram(dir); err != nil {
		return 0, err
	}
	if path, err = pathWithout("mcp-bash", dir); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// pathWithout is PATH, with links to all but that program where it is installed.
func pathWithout(program, dir string) (string, error) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for i, from := range dirs {
		if _, err := os.Stat(filepath.Join(from, program)); err != nil {
			continue
		}
		dirs[i] = filepath.Join(dir, fmt.Sprintf("path%d", i))
		entries, err := os.ReadDir(from)
		if err != nil {
			return "", err
		}
		if err := os.Mkdir(dirs[i], 0o700); err != nil {
			return "", err
		}
		for _, e := range entries {
			if e.Name() == program {
				continue
			}
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dirs[i], e.Name())); err != nil {
				return "", err
			}
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator)), nil
}

const programSource = `package main

import (
	"os"

	"mcp-bash/pkg/helper"
)

func main() { os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
`

// buildProgram builds a binary that does nothing but help. The test binary
// itself would do, but starts ten times as slowly.
func buildProgram(dir string) (string, error) {
	source := filepath.Join(dir, "mcp-jq.go")
	if err := os.WriteFile(source, []byte(programSource), 0o600); err != nil {
		return "", err
	}
	return filepath.Join(dir, "mcp-jq"), checkout.Build(dir, source)
}

// A way is one of the ways in which the SDK gets at JSON. They have to agree.
type way int

const (
	byTable    way = iota // flat tables, and our program for what they do not tell
	byProgram             // our program for everything
	byJSONTool            // a copy of the SDK alone, with a JSON tool but none of our programs
)

var ways = []way{byTable, byProgram, byJSONTool}

func (w way) String() string { return [...]string{"table", "program", "jsontool"}[w] }

// A tool is a script and what a server would hand it.
type tool struct {
	script string // after the line that sources the SDK
	args   string // the arguments; "" is {}
	meta   string // _meta; "" is {}
	way    way
	env    []string // "NAME=value" sets, "NAME" unsets; wins over what the rest sets
	bare   bool     // neither the SDK is sourced nor anything set but PATH
	dir    string
	stdin  string
}

// An outcome is what became of a tool.
type outcome struct {
	out, err string
	rc       int
}

func (x tool) command(t testing.TB) *exec.Cmd {
	t.Helper()
	text := x.script
	if !x.bare {
		text = "source \"${MCP_SDK}/tool-sdk.sh\"\n" + text
	}
	file := filepath.Join(t.TempDir(), "tool.sh")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash(), file)
	cmd.Env = x.environ()
	cmd.Dir = x.dir
	cmd.Stdin = strings.NewReader(x.stdin)
	return cmd
}

func (x tool) run(t testing.TB) outcome {
	t.Helper()
	return runCommand(t, x.command(t))
}

func runCommand(t testing.TB, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// environ is the environment of a tool as a server makes it.
func (x tool) environ() []string {
	env := map[string]string{"PATH": path, "TMPDIR": os.TempDir()}
	if !x.bare {
		args, meta := orNone(x.args), orNone(x.meta)
		env["HOME"] = absentDir
		env["LANG"] = "C.UTF-8"
		env["MCP_SDK"] = sdkDir
		env["MCPBASH_MODE"] = "full"
		env["MCPBASH_JSON_TOOL"] = "jq"
		env["MCPBASH_JSON_TOOL_BIN"] = mcpJQ
		env["MCPBASH_HELPER_BIN"] = mcpJQ
		env["MCP_TOOL_ARGS_JSON"] = args
		env["MCP_TOOL_META_JSON"] = meta
		switch x.way {
		case byTable:
			setTable(env, "MCPBASH_ARGS_FLAT", args)
			setTable(env, "MCPBASH_META_FLAT", meta)
		case byJSONTool:
			env["MCP_SDK"] = aloneDir
			env["MCPBASH_JSON_TOOL_BIN"] = jsonTool()
			delete(env, "MCPBASH_HELPER_BIN")
		}
	}
	for _, setting := range x.env {
		if name, value, ok := strings.Cut(setting, "="); ok {
			env[name] = value
		} else {
			delete(env, name)
		}
	}
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func setTable(env map[string]string, name, text string) {
	payload, err := rawjson.Check([]byte(text))
	if err != nil {
		return
	}
	if table, ok := jq.Flat(payload); ok {
		env[name] = table
	}
}

func orNone(text string) string {
	if text == "" {
		return "{}"
	}
	return text
}

// A row is one expectation of the contract.
type row struct {
	clause string // what it proves
	tool
	want outcome
	// errHas stands for want.err when only a part of it is laid down.
	errHas string
}

// check runs the rows, each in all the ways given.
func check(t *testing.T, ways []way, rows []row) {
	t.Helper()
	for _, r := range rows {
		for _, w := range ways {
			t.Run(fmt.Sprintf("%s/%s/%s", r.clause, w, firstLine(r.script)), func(t *testing.T) {
				t.Parallel()
				x, want := r.tool, r.want
				x.way = w
				got := x.run(t)
				if r.errHas != "" && strings.Contains(got.err, r.errHas) {
					got.err = want.err
				}
				if w == byJSONTool { // it may sort members (SDK-16)
					got.out, want.out = sorted(got.out), sorted(want.out)
				}
				if got != want {
					t.Errorf("%s\n%s\nout %q\nwant %q\nerr %q\nwant %q%s\nrc %d want %d",
						r.clause, r.script, got.out, want.out, got.err, want.err, r.errHas, got.rc, want.rc)
				}
			})
		}
	}
}

// sorted is a text with the members of objects sorted in the lines that are
// JSON, also in strings that are JSON themselves.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if v, err := rawjson.Check([]byte(line)); err == nil {
			lines[i] = string(sortedJSON(v))
		}
	}
	return strings.Join(lines, "\n")
}

func sortedJSON(v json.RawMessage) json.RawMessage {
	var b rawjson.Builder
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		members := rawjson.Members(v)
		slices.SortFunc(members, func(a, b rawjson.Member) int { return strings.Compare(a.Name, b.Name) })
		b.Object()
		for _, m := range members {
			b.Name(m.Name).Raw(sortedJSON(m.Value))
		}
		return b.End().Bytes()
	case rawjson.Array:
		b.Array()
		for element := range rawjson.Elements(v) {
			b.Raw(sortedJSON(element))
		}
		return b.End().Bytes()
	case rawjson.String:
		text, _ := rawjson.Text(v)
		return b.String(sortedText(text)).Bytes()
	}
	return v
}

func sortedText(text string) string {
	if v, err := rawjson.Check([]byte(text)); err == nil && strings.HasPrefix(text, "{") {
		return string(sortedJSON(v))
	}
	return text
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line[:min(len(line), 50)]
}

// out is a success with nothing on stderr.
func out(text string) outcome { return outcome{out: text} }

func write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// quoted is a text as one word of a script.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
