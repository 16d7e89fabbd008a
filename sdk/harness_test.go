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
	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/sdk"
	"mcp-bash/test/checkout"
)

var (
	mcpJQ    string // our program, as servers pass it to scripts
	sdkDir   string // directory of tool-sdk.sh
	aloneDir string // directory of a copy of the SDK without an installation tree

	absentDir string // a missing directory
	path      string // PATH without mcp-bash
)

// bash is the Bash on PATH, which runs the scripts. "make test BASH_OLD=DIR" selects another one.
var bash = sync.OnceValue(func() string {
	path, err := exec.LookPath("bash")
	if err != nil {
		panic(err)
	}
	return path
})

// bashVersion returns the version of bash: 302 for 3.2.
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

// jsonTool returns the JSON tool of [byJSONTool]: MCPBASH_TEST_JSON_TOOL, or our program.
var jsonTool = sync.OnceValue(func() string {
	if tool := os.Getenv("MCPBASH_TEST_JSON_TOOL"); tool != "" {
		return tool
	}
	return mcpJQ
})

func TestMain(m *testing.M) {
	// Scripts would inherit the ignored signal, for example under nohup. A server prevents that (T-47).
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
	// Paths of tests must not contain links.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return 0, err
	}
	// A separate tree, because the source tree may contain built commands.
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

// pathWithout returns PATH with links to all programs except one.
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

// buildProgram builds a binary with only the helpers. The test binary starts ten times slower.
func buildProgram(dir string) (string, error) {
	source := filepath.Join(dir, "mcp-jq.go")
	if err := os.WriteFile(source, []byte(programSource), 0o600); err != nil {
		return "", err
	}
	return filepath.Join(dir, "mcp-jq"), checkout.Build(dir, source)
}

// A way is a way in which the SDK reads JSON. All ways must agree.
type way int

const (
	byTable    way = iota // flat tables, and our program for other filters
	byProgram             // always our program
	byJSONTool            // a copy of the SDK with a JSON tool, without our program
)

var ways = []way{byTable, byProgram, byJSONTool}

func (w way) String() string { return [...]string{"table", "program", "jsontool"}[w] }

// A tool is a script with the environment of a server.
type tool struct {
	script string // after the line that sources the SDK
	args   string // the arguments; "" is {}
	meta   string // _meta; "" is {}
	way    way
	env    []string // "NAME=value" sets, "NAME" unsets; overrides the rest
	bare   bool     // only PATH is set, and the SDK is not sourced
	dir    string
	stdin  string
}

// An outcome is the result of a tool.
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

// environ returns the environment of a tool.
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
	if table, ok := jqtext.Flat(payload); ok {
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
	clause string // tested clause
	tool
	want outcome
	// errHas replaces want.err if only a part of it is specified.
	errHas string
}

// check runs the rows in all given ways.
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
				if w == byJSONTool { // members may be sorted (SDK-16)
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

// sorted returns a text with sorted members in lines that are JSON, and in strings that contain JSON.
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

// out is a success without output on stderr.
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

// quoted quotes a text for a script.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
