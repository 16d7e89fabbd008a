package helper

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
)

func run(t testing.TB, input string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = Run(args, strings.NewReader(input), &out, &errOut)
	return out.String(), errOut.String(), code
}

// CLI-208.
func TestCommandLines(t *testing.T) {
	const usage = 2
	for _, c := range []struct {
		line string // words divided by blanks
		out  string
		code int
	}{
		{"mcp-jq -c .a", "[1,2]\n", 0},
		{"mcp-bash --helper jq -c .a", "[1,2]\n", 0},
		{"mcp-jq --helper get .a[1]", "i2", 0},
		{"mcp-bash --helper get bad((", "", 3},
		{"mcp-bash --helper", "", usage},
		{"mcp-bash --helper no-such", "", usage},
		{"mcp-bash --helper get", "", usage},
		{"mcp-bash --helper get a b", "", usage},
		{"mcp-bash --helper success many", "", usage},
		{"mcp-bash --helper truncate x", "", usage},
		{"mcp-bash --helper config 100 a b c", "", usage},
		{"mcp-bash --helper path", "", usage},
		{"mcp-bash --helper media image 100", "", usage},
		{"mcp-bash --helper media image many f", "", usage},
	} {
		var out, errOut bytes.Buffer
		code := Main(strings.Fields(c.line), strings.NewReader(`{"a":[1,2]}`), &out, &errOut)
		if code != c.code || out.String() != c.out || (errOut.Len() > 0) != (code == usage) {
			t.Errorf("%s: %q %q %d", c.line, out.String(), errOut.String(), code)
		}
	}
	if _, stderr, _ := run(t, "", "providers"); stderr != "--helper: unknown helper \"providers\"\n" {
		t.Errorf("unknown helper: %q", stderr)
	}
}

type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error)  { return 0, errors.New("broken") }
func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestStreamsThatFail(t *testing.T) {
	var errOut bytes.Buffer
	if code := Run([]string{"json"}, brokenPipe{}, io.Discard, &errOut); code != exitUsage ||
		errOut.String() != "--helper json: broken\n" {
		t.Errorf("reading: %d %q", code, errOut.String())
	}
	errOut.Reset()
	if code := Run([]string{"quote"}, strings.NewReader("x"), brokenPipe{}, &errOut); code != exitUsage ||
		errOut.String() != "--helper quote: broken\n" {
		t.Errorf("writing: %d %q", code, errOut.String())
	}
}

func TestGet(t *testing.T) {
	const doc = `{"s":"a\u0000b\n","n":5,"f":1.50,"e":1e3,"t":true,"x":false,"z":null,"o":{"b":1.0,"a":[]},"a":["p",` +
		`"q\nr"],"i":"1"}`
	for filter, want := range map[string]string{
		".s": "sab\n", ".n": "i5", ".f": "f1.5", ".e": "i1000", ".t": "ttrue", ".x": "xfalse", ".z": "znull",
		".none": "znull",
		".o":    `o{"b":1.0,"a":[]}`, ".a": `a["p","q\nr"]`, ".a[]": "mp\nq\nr", "empty": "e", `.i, .z`: "m1\nnull",
		"-1": "i-1", `"--x"`: "s--x",
	} {
		if got, stderr, code := run(t, doc+"\n", "get", filter); got != want || stderr != "" || code != 0 {
			t.Errorf("get %s: %q %q %d, want %q", filter, got, stderr, code, want)
		}
	}
	for _, c := range []struct {
		input, filter, want string
		code                int
	}{
		{doc, "", "o" + strings.ReplaceAll(doc, "1.50", "1.50"), 0},
		{doc, "bad((", "", 3},
		{doc, ".s.x", "", 5},
		{doc, ".n, .t, .s.x", "m5\ntrue", 5},
		{doc, ".n, .s.x", "i5", 5},
		{"no", ".", "", 5},
		{"\"\xff\"", ".", "s\uFFFD", 0},
		{`"\ud800"`, ".", "s\uFFFD", 0},
	} {
		if got, _, code := run(t, c.input, "get", c.filter); got != c.want || code != c.code {
			t.Errorf("get %q of %q: %q %d, want %q %d", c.filter, c.input, got, code, c.want, c.code)
		}
	}
}

func TestSmall(t *testing.T) {
	for _, c := range []struct {
		args  []string
		input string
		want  string
		code  int
	}{
		{[]string{"json"}, " {\"b\" : 1.0, \"a\":[ \"x y\" ], \"b\":2}\n", `{"b":2,"a":["x y"]}`, 0},
		{[]string{"json"}, `"\u00e9\u0001\ud800\/"`, "\"é\\u0001\uFFFD/\"", 0},
		{[]string{"json"}, "\"a\xffb\"", "\"a\uFFFDb\"", 0},
		{[]string{"json"}, `1 2`, "", 1},
		{[]string{"json"}, ``, "", 1},
		{[]string{"json"}, `{}x`, "", 1},
		{[]string{"quote"}, "a\"\n\n", `"a\"\n"`, 0},
		{[]string{"quote"}, "\xff\xc3\x01\x7f", `"` + "\uFFFD\uFFFD" + `\u0001\u007f"`, 0},
		{[]string{"success", "5"}, `"` + strings.Repeat("é", 101) + `"`,
			`{"content":[{"type":"text","text":"Success: ` + strings.Repeat("é", 100) +
				`"}],"structuredContent":{"success":true,"result":"` + strings.Repeat("é", 101) + `"},"isError":false}`,
			0},
		{[]string{"success", "5"}, `x`, "", 1},
		{[]string{"error"}, `x`, "", 1},
		{[]string{"cli-error"}, `{"error":{"message":"a\u0000b"}}`, "ab", 0},
		{[]string{"cli-error"}, `{"status":"error","message":false}`, "false", 0},
		{[]string{"progress"}, `{"progress":12.9,"message":"m\n"}`, "12\nm\n.", 0},
		{[]string{"progress"}, `{"progress":"250"}`, "100\nWorking....", 0},
		{[]string{"progress"}, `{"progress":1e999,"message":false}`, "100\nWorking....", 0},
		{[]string{"progress"}, `{"progress":1e-999,"message":{"a":1}}`, "0\n{\"a\":1}.", 0},
		{[]string{"progress"}, `{"progress":"inf"}`, "", 1},
		{[]string{"progress"}, `{"progress":"0x10"}`, "", 1},
		{[]string{"progress"}, `{"progress":"e"}`, "", 1},
		{[]string{"progress"}, `{"progress":-0.1}`, "", 1},
		{[]string{"progress"}, `[1]`, "", 1},
		{[]string{"progress"}, `{} {}`, "", 5},
	} {
		if got, stderr, code := run(t, c.input, c.args...); got != c.want || code != c.code || stderr != "" {
			t.Errorf("%v of %q: %q %d %q, want %q %d", c.args, c.input, got, code, stderr, c.want, c.code)
		}
	}
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.json")
	if err := os.WriteFile(file, []byte(`{ "a": {"x": 1}, "b": "é" }`), 0o600); err != nil {
		t.Fatal(err)
	}
	const defaults = `{"a":0,"c":[1]}`
	got, _, _ := run(t, defaults+"\n", "config", "15", "", "", "")
	if want := "loaded\nkeep\njson {\"a\":0,\"c\":[1]}\n.\to{\"a\":0,\"c\":[1]}\n" +
		".a\ti0\n.c\ta[1]\n.c[0]\ti1\n"; got != want {
		t.Errorf("defaults: %q", got)
	}
	got, _, _ = run(t, defaults+`{"c":null}`, "config", "15", file, "", "CFG")
	if want := "debug \"Loaded example config: " + file +
		"\"\ndebug \"Loaded config from env var: CFG (JSON)\"\nloaded\n" +
		"json {\"a\":{\"x\":1},\"c\":null,\"b\":\"é\"}\n.\to{\"a\":{\"x\":1},\"c\":null,\"b\":\"é\"}\n.a\to{\"x\":1}\n" +
		".a.x\ti1\n.c\tznull\n.b\tsé\n"; got != want {
		t.Errorf("merged: %q", got)
	}
	// A value that cannot be a table leaves only the JSON, and no other line.
	got, _, _ = run(t, `{"a\nb":"c\nd"}`, "config", "15", dir, filepath.Join(dir, "none"), "")
	if want := "loaded\nkeep\njson {\"a\\nb\":\"c\\nd\"}\n"; got != want {
		t.Errorf("no table: %q", got)
	}
}

func TestPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"up": "..", "abs": dir + "/real", "chain": "abs", "ring": "gnir",
		"gnir": "ring"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for path, want := range map[string]string{
		"": dir, ".": dir, "real/../none/x/": dir + "/none/x", "up": filepath.Dir(dir),
		"up/../x": filepath.Dir(filepath.Dir(dir)) + "/x",
		"chain/y": dir + "/real/y", "ring/../z": dir + "/z", "ring/z": dir + "/ring/z", "/": "/", "/..//../a": "/a",
	} {
		if got, _, code := run(t, "", "path", path); got != want || code != 0 {
			t.Errorf("path %q: %q %d, want %q", path, got, code, want)
		}
	}
	for _, c := range []struct {
		args []string
		code int
	}{{[]string{"chain", dir + "/real"}, 0}, {[]string{"chain", "up/nowhere", "abs"}, 0}, {[]string{"up", dir}, 1},
		{[]string{"realm", "real"}, 1}, {[]string{"/x", "/"}, 0}} {
		if _, _, code := run(t, "", append([]string{"path"}, c.args...)...); code != c.code {
			t.Errorf("path %q: %d", c.args, code)
		}
	}
}

func TestMIME(t *testing.T) {
	dir := t.TempDir()
	var files []string
	var want strings.Builder
	for _, c := range [][3]string{
		{"a.md", "x", "text/markdown"}, {"empty.json", "", "text/plain"}, {"shot.PNG", "x", "image/png"},
		{"plain", "text", "text/plain"},
		{"gif", "GIF89a\x00", "image/gif"}, {"latin1", "caf\xe9", "application/octet-stream"},
		{"cut", strings.Repeat("a", sniffed-1) + "é", "text/plain"}, {"none", "", ""},
	} {
		file := filepath.Join(dir, c[0])
		files = append(files, file)
		if c[2] == "" {
			want.WriteString("application/octet-stream\n")
			continue
		}
		if err := os.WriteFile(file, []byte(c[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		want.WriteString(c[2] + "\n")
	}
	if got, _, _ := run(t, "", append([]string{"mime"}, files...)...); got != want.String() {
		t.Errorf("%s", got)
	}
}

// FuzzHelpers passes random bytes to the helpers that read them. Output that should be JSON is JSON,
// and no output breaks Bash.
func FuzzHelpers(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x"],"message":"m","progress":5}`, `1 2`, ``, `{"error":{"message":"e"}}`,
		`{"results":[1,2,3]}`, "\"\xff\\u0000\\ud800\"", `[[]]`, `{"a":{"b":[1,2,3]}}`} {
		f.Add([]byte(seed), 10, "a.b")
	}
	f.Fuzz(func(t *testing.T, input []byte, limit int, path string) {
		answers := map[string][]string{
			"json": {"json"}, "quote": {"quote"}, "success": {"success", "10"}, "error": {"error"},
			"truncate": {"truncate", "12"}, "truncate at": {"truncate", "12", "." + path},
			"get": {"get", ".a"}, "cli-error": {"cli-error"}, "progress": {"progress"},
		}
		for name, args := range answers {
			got, stderr, code := run(t, string(input), args...)
			if stderr != "" || strings.Contains(got, "\x00") || !utf8.ValidString(got) {
				t.Fatalf("%s of %q: %q %q", name, input, got, stderr)
			}
			switch name {
			case "json", "quote", "success", "error", "truncate", "truncate at":
				if code == exitOK && !json.Valid([]byte(got)) {
					t.Fatalf("%s of %q is no JSON: %q", name, input, got)
				}
			}
		}
		length := strconv.Itoa(max(0, min(limit,
			len(bytes.TrimSuffix([]byte(string([]rune(string(input)))), []byte("\n"))))))
		got, _, code := run(t, string(input), "config", length, "", "", "V")
		if code != exitOK {
			t.Fatalf("config: %d", code)
		}
		for line := range strings.Lines(got) {
			word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			switch {
			case word == "warning" || word == "debug" || word == "json":
				if _, err := rawjson.Check([]byte(rest)); err != nil {
					t.Fatalf("config of %q: %q", input, line)
				}
			case word == "loaded" || word == "keep" || strings.HasPrefix(word, "."):
			default:
				t.Fatalf("config of %q: %q", input, line)
			}
		}
	})
}

// T-30: the check of a path for policy.sh.
func TestToolPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(dir, "tools")
	inside, outside := filepath.Join(tools, "t.sh"), filepath.Join(dir, "t.sh")
	os.Mkdir(tools, 0o755)
	os.WriteFile(inside, nil, 0o755)
	os.WriteFile(outside, nil, 0o755)
	for path, want := range map[string]int{inside: exitOK, outside: exitNo, filepath.Join(tools, "none"): exitNo} {
		if out, _, code := run(t, "", "tool-path", dir, tools, path); out != "" || code != want {
			t.Errorf("%s: %q, %d", path, out, code)
		}
	}
}

// T-33: the built-in policy, as policy.sh asks for it.
func TestToolPolicy(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(dir, "tools")
	os.Mkdir(tools, 0o755)
	for _, c := range []struct {
		path, list, byDefault, context, want string
		code                                 int
	}{
		{"a.sh", "a", "", "", "", exitOK},
		{"a.sh", "", "allow", "", "", exitOK},
		{"a.sh", "b", "allow", "", "Tool 'a' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)\n", exitNo},
		{"a.sh", "b", "", "run-tool", "Tool 'a' blocked by policy. Try: mcp-bash run-tool a --allow-self ...\n", exitNo},
		{"../a.sh", "a", "", "", "Tool 'a' path rejected by policy\n" +
			`{"reason":"a.sh (leads out of tools)"}`, exitNo},
	} {
		out, _, code := run(t, `{"name":"a","path":"`+c.path+`"}`, "tool-policy", "a", c.list, c.byDefault, c.context,
			dir, tools)
		if out != c.want || code != c.code {
			t.Errorf("T-33: %+v: %q, %d", c, out, code)
		}
	}
}
