package jq

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// A session is one run of the program.
type session struct {
	clause string
	args   []string
	in     string
	out    string
	code   int
	stderr string // a part of it; "": it must be empty
}

func (s session) run(t *testing.T) {
	t.Helper()
	var out, stderr strings.Builder
	code := Run(s.args, strings.NewReader(s.in), &out, &stderr)
	if out.String() != s.out || code != s.code {
		t.Errorf("%s jq %q < %q: %q, exit %d, want %q, exit %d (%s)", s.clause, s.args, s.in, out.String(), code, s.out,
			s.code, stderr.String())
	}
	if s.stderr == "" && stderr.Len() > 0 || !strings.Contains(stderr.String(), s.stderr) {
		t.Errorf("%s jq %q < %q: on stderr %q, want %q", s.clause, s.args, s.in, stderr.String(), s.stderr)
	}
}

func words(args ...string) []string { return args }

const nested = `{"b":1.0,"a":[1,"x",null,{"z":2,"y":12345678901234567890}],"s":"line\n\n"}`

func TestRun(t *testing.T) {
	for _, s := range []session{
		// Order and digits of simple filters, with all output flags.
		{"SDK-16", words("-c"), nested, nested + "\n", 0, ""},
		{"SDK-16", words("-c", "."), " " + nested, nested + "\n", 0, ""},
		{"SDK-16", words("-c", " . "), nested, nested + "\n", 0, ""},
		{"SDK-16", words("-c", ".\n"), nested, nested + "\n", 0, ""},
		{"SDK-16", words("-c", ""), nested, nested + "\n", 0, ""},
		{"SDK-16", words("-rc", ".a[3]"), nested, `{"z":2,"y":12345678901234567890}` + "\n", 0, ""},
		{"SDK-16", words("-jc", ".a"), nested, `[1,"x",null,{"z":2,"y":12345678901234567890}]`, 0, ""},
		{"SDK-16", words("-Sc", ".a[3]"), nested, `{"y":12345678901234567890,"z":2}` + "\n", 0, ""},
		{"SDK-16", words("--tab", ".a[3]"), nested, "{\n\t\"z\": 2,\n\t\"y\": 12345678901234567890\n}\n", 0, ""},
		{"SDK-16", words("--indent", "1", ".a[3]"), nested, "{\n \"z\": 2,\n \"y\": 12345678901234567890\n}\n", 0, ""},
		{"SDK-16", words(".a[3]"), nested, "{\n  \"z\": 2,\n  \"y\": 12345678901234567890\n}\n", 0, ""},
		{"SDK-16", words("-sc", "."), `{"b":1,"a":2} [1.0]`, `[{"b":1,"a":2},[1.0]]` + "\n", 0, ""},
		{"SDK-17", words("."), "1.0 1.50 1e3 1E-7 -0 12345678901234567890",
			"1\n1.5\n1000\n1e-7\n0\n12345678901234567890\n", 0, ""},
		{"SDK-17", words("-c", ".[]+0"), "[1.0,12345678901234567890,1E-7]", "1\n12345678901234567890\n1e-7\n", 0, ""},
		{"SDK-17", words("-r", `"\(.[0]) \(.[1])", (.[0]|tostring), tojson`), "[1.50,12345678901234567890]",
			"1.5 12345678901234567890\n1.5\n[1.5,12345678901234567890]\n", 0, ""},
		{"SDK-18", words("."), `"\u00e9\/\u007f<>&\ud800"`, "\"é/\\u007f<>&\uFFFD\"\n", 0, ""},
		{"SDK-18", words("-r", "."), `"a\u0000b"`, "a\x00b\n", 0, ""},
		{"SDK-18", words(".+\"\""), "\"a\xff\u2028\x7f\"", "\"a\uFFFD\u2028\\u007f\"\n", 0, ""},
		{"SDK-19", words("-c"), `{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}` + "\n", 0, ""},

		// Filters of the SDK.
		{"SDK-22", words("-rc", ".s"), nested, "line\n\n\n", 0, ""},
		{"SDK-22", words("-rc", ".a[9].k"), nested, "null\n", 0, ""},
		{"SDK-22", words("-rc", ".a[1,0]"), nested, "x\n1\n", 0, ""},
		{"SDK-22", words("-rc", "bad(("), nested, "", 3, "unexpected EOF"},
		{"SDK-22", words("-rc", ".a-b"), nested, "", 3, "function not defined: b/0: .a-b"},
		{"SDK-22", words("-rc", ".x // 'y'"), nested, "", 3,
			`unexpected token "'" at line 1, column 7 of the filter: .x // 'y'`},
		{"SDK-22", words("-rc", ".s.x"), nested, "", 5, `jq: error (at <stdin>:0): Cannot index string with "x"`},
		{"SDK-210", words("-rc", ".s[0]"), nested, "", 5, "jq: error (at <stdin>:0): Cannot index string with number"},
		{"SDK-210", words("-rc", `.s.x // "d"`), nested, "", 5, "Cannot index string"},
		{"SDK-22", words("-rc", ".a"), "not JSON", "", 5,
			"jq: error: <stdin> is not JSON: a value expected at line 1, column 1"},
		{"SDK-24", words("-rc", `.q // "d"`), nested, "d\n", 0, ""},
		{"SDK-24", words("-rc", ".q // empty"), nested, "", 0, ""},
		{"SDK-24", words("-rc", ".s.x?"), nested, "", 0, ""},

		// Exit codes.
		{"SDK-14", words("-e", ".b"), nested, "1\n", exitOK, ""},
		{"SDK-14", words("-e", ".q"), nested, "null\n", exitFalsy, ""},
		{"SDK-14", words("-ne", "1,false"), "", "1\nfalse\n", exitFalsy, ""},
		{"SDK-14", words("-ne", "false,0"), "", "false\n0\n", exitOK, ""},
		{"SDK-14", words("-e", ".q // empty"), nested, "", exitNoResult, ""},
		{"SDK-14", words("-e"), "", "", exitNoResult, ""},
		{"SDK-14", words("-e", "select(.==1)"), "1 2", "1\n", exitOK, ""},
		{"SDK-14", words("-e", ".x"), "1", "", exitError, "Cannot index number"},
		{"SDK-14", words("--bogus"), "", "", exitUsage, "jq: Unknown option --bogus"},
		{"SDK-14", words("-n", "$undefined"), "", "", exitFilter, "variable not defined: $undefined"},
		{"SDK-14", words("1 +\n\n foo bar"), "1", "", exitFilter, "at line 3, column 6 of the filter"},
		{"SDK-14", words(".x"), `"a" {"x":1}`, "1\n", exitOK, "Cannot index string"},
		{"SDK-14", words(".x"), `{"x":1} "a"`, "1\n", exitError, "Cannot index string"},
		{"SDK-14", words("."), "1 x 2", "1\n", exitError, "<stdin> is not JSON: a value expected at line 1, column 3"},
		{"SDK-14", words("-s", "."), "[1", "", exitError, "unexpected end"},
		{"SDK-14", words("-n", "1,halt,2"), "", "1\n", 0, ""},
		{"SDK-14", words("-n", `"bye"|halt_error`), "", "", 5, "bye"},
		{"SDK-14", words("-n", `{"a":1}|halt_error(3)`), "", "", 3, "{\"a\":1}\n"},
		{"SDK-14", words("null|halt_error(7)"), "1 2", "", 7, ""},
		{"SDK-14", words("-n", `"why"|error`), "", "", 5, "jq: error (at <unknown>): why\n"},
		{"SDK-14", words("-n", `{"a":1}|error`), "", "", 5, "jq: error (at <unknown>) (not a string): {\"a\":1}\n"},

		// Variables.
		{"SDK-14", words("-nc", "--arg", "k", "v", "{k:$k}"), "", `{"k":"v"}` + "\n", 0, ""},
		{"SDK-14", words("-nc", "--argjson", "k", `{"b":[1]}`, "$k.b,$ARGS.named"), "",
			"[1]\n" + `{"k":{"b":[1]}}` + "\n", 0, ""},
		{"SDK-14", words("-nc", "--arg", "not-a-name", "v", "$ARGS.named"), "", `{"not-a-name":"v"}` + "\n", 0, ""},
		{"SDK-14", words("-nc", "[$ARGS.positional,$ARGS.named]", "--args", "a", "--arg", "n", "1", "b", "--jsonargs",
			"2"), "", `[["a","b",2],{"n":"1"}]` + "\n", 0, ""},
		{"SDK-14", words("-n", "--argjson", "k", "{", "."), "", "", 2,
			"Invalid JSON text passed to --argjson k: unexpected end"},
		{"SDK-14", words("-nr", "$ENV.JQ_TEST, env.JQ_TEST"), "", "from the environment\nfrom the environment\n", 0,
			""},

		// Input.
		{"SDK-14", words("-R"), "a\nb\r", "\"a\"\n\"b\\r\"\n", 0, ""},
		{"SDK-14", words("-Rr", ". + \"!\""), "a\nb\n", "a!\nb!\n", 0, ""},
		{"SDK-14", words("-Rs"), "a\nb\n", `"a\nb\n"` + "\n", 0, ""},
		{"SDK-14", words("-Rsc", `split("\n")`), "a\nb", `["a","b"]` + "\n", 0, ""},
		{"SDK-14", words("-Rs"), "", `""` + "\n", 0, ""},
		{"SDK-14", words("-sc"), "", "[]\n", 0, ""},
		{"SDK-14", words("-nc", "[inputs]"), "1 [2] {}", "[1,[2],{}]\n", 0, ""},
		{"SDK-14", words("-c", "[.,input]"), "1 2 3", "[1,2]\n", 5, "break"},
		{"SDK-14", words("-n", "input"), "1 x", "1\n", 0, ""},
		{"SDK-14", words("-n", "[inputs]"), "1 x", "", 5, "<stdin> is not JSON"},
		{"SDK-14", words("-nc", "[inputs | input_line_number]"), "1\n2\n\n3", "[1,2,3]\n", 0, ""},
		{"SDK-14", words("-nR", "[inputs]|length"), "a\nb\nc", "3\n", 0, ""},
		{"SDK-14", words("-n", "."), "not read", "null\n", 0, ""},
		{"SDK-14", words("-c"), "\x1e[1]\n", "", 5, "<stdin> is not JSON"},
		{"SDK-14", words("-nc", "fromstream(1|truncate_stream({a:[1],b:[2]}|tostream))"), "", "[1]\n[2]\n", 0, ""},

		// Output.
		{"SDK-14", words("-j", ".[]"), `["a",1,[2],null]`, "a1[\n  2\n]null", 0, ""},
		{"SDK-14", words("--raw-output0", ".[]"), `["a","b\n",1]`, "a\x00b\n\x001\x00", 0, ""},
		{"SDK-14", words("--raw-output0", "."), `"a\u0000b"`, "", 5, "containing NUL"},
		{"SDK-14", words("-a"), `"é😀"`, `"\u00e9\ud83d\ude00"` + "\n", 0, ""},
		{"SDK-14", words("-ra"), `"é"`, `"\u00e9"` + "\n", 0, ""},
		{"SDK-14", words("-Mc"), `[true]`, "[true]\n", 0, ""},
		{"SDK-14", words("--unbuffered"), "1", "1\n", 0, ""},
		{"SDK-14", words("debug"), `"x"`, "\"x\"\n", 0, "[\"DEBUG:\",\"x\"]\n"},
		{"SDK-14", words("stderr"), `"x"`, "\"x\"\n", 0, "x"},

		// Functions of jq that gojq lacks.
		{"SDK-14", words("-c", "keys_unsorted, [leaf_paths]"), `{"a":{"b":[1]}}`, "[\"a\"]\n[[\"a\",\"b\",0]]\n", 0,
			""},
		{"SDK-14", words("-n", "def keys_unsorted: 1; keys_unsorted"), "", "1\n", 0, ""},

		{"P-111", words("--version"), "", version + "\n", 0, ""},
	} {
		t.Setenv("JQ_TEST", "from the environment")
		s.run(t)
	}
}

func TestRunFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, two := file("one.json", `{"b":1,"a":2}`), file("two.json", "[1]\n[2]")
	text, broken := file("text", "a\nb\xff\n"), file("broken", "{} x")
	filter, script := file("filter.jq", "# the filter\n.[0] # first\n"), file("simple.jq", ".\n")
	file("module.jq", "def twice: . * 2;")
	missing := filepath.Join(dir, "missing")
	for _, s := range []session{
		{"SDK-14", words("-c", ".", one, two), "", "{\"b\":1,\"a\":2}\n[1]\n[2]\n", 0, ""},
		{"SDK-14", words("-c", ".", one, "-", one), "7", "{\"b\":1,\"a\":2}\n7\n{\"b\":1,\"a\":2}\n", 0, ""},
		{"SDK-14", words("-sc", ".", one, two), "", "[{\"b\":1,\"a\":2},[1],[2]]\n", 0, ""},
		{"SDK-14", words("-Rsr", ".", text, text), "", "a\nb\uFFFD\na\nb\uFFFD\n\n", 0, ""},
		{"SDK-14", words("-c", ".", missing, two), "", "[1]\n[2]\n", 2, "jq: error: cannot read the input: open "},
		{"SDK-14", words("-c", ".", dir, two), "", "[1]\n[2]\n", 2, "jq: error: cannot read the input: read "},
		{"SDK-14", words("-ce", ".x", missing), "", "", 2, "cannot read the input"},
		{"SDK-14", words("-c", ".", broken, two), "", "{}\n", 5,
			"broken is not JSON: a value expected at line 1, column 4"},
		{"SDK-14", words("-c", "-f", filter, two), "", "1\n2\n", 0, ""},
		{"SDK-16", words("-cf", script, one), "", "{\"b\":1,\"a\":2}\n", 0, ""},
		{"SDK-14", words("-f", missing), "", "", 2, "jq: error: cannot read the filter: open "},
		{"SDK-14", words("-nc", "--slurpfile", "v", two, "$v"), "", "[[1],[2]]\n", 0, ""},
		{"SDK-14", words("-nc", "--argfile", "v", one, "$v"), "", "{\"a\":2,\"b\":1}\n", 0, ""},
		{"SDK-14", words("-nc", "--argfile", "v", two, "$v"), "", "[[1],[2]]\n", 0, ""},
		{"SDK-14", words("-nc", "--rawfile", "v", text, "$v"), "", "\"a\\nb\uFFFD\\n\"\n", 0, ""},
		{"SDK-14", words("-n", "--slurpfile", "v", broken, "."), "", "", 2, "jq: error: cannot set $v: "},
		{"SDK-14", words("-n", "--rawfile", "v", missing, "."), "", "", 2, "jq: error: cannot set $v: open "},
		{"SDK-14", words("-c", "[input_filename, input_line_number]", two), "", fmt.Sprintf("[%q,1]\n[%[1]q,1]\n", two),
			0, ""},
		{"SDK-14", words("-c", "input_filename"), "1", "null\n", 0, ""},
		{"SDK-14", words("-n", "-L", dir, `import "module" as m; 21|m::twice`), "", "42\n", 0, ""},
		{"SDK-14", words("-n", `include "nowhere"; 1`), "", "", 3, "module not found"},
	} {
		s.run(t)
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	if code := Run(words("-h"), nil, &out, io.Discard); code != exitOK {
		t.Errorf("exit %d", code)
	}
	if n := len(flags()); n != 25 {
		t.Errorf("%d flags in the help", n)
	}
	for _, f := range flags() {
		o, name := &options{indent: "  "}, f.names[len(f.names)-1]
		before := *o
		err := o.set(name, []string{"1", "2"})
		if err != nil || reflect.DeepEqual(*o, before) != (name == "--monochrome-output") {
			t.Errorf("%s does nothing, or %v", name, err)
		}
	}
	for line := range strings.Lines(out.String()) {
		if len(strings.TrimSuffix(line, "\n")) > 100 {
			t.Errorf("a long line: %s", line)
		}
	}
}

// SDK-210: a simple filter needs no engine.
func TestSimpleNeedsNoEngine(t *testing.T) {
	p := &program{options: &options{}}
	for _, filter := range []string{"", ".", " .a[0].b\n", `.a // "x"`} {
		if f, err := p.parse(filter); err != nil {
			t.Errorf("%q: %v", filter, err)
		} else if _, ok := f.(Simple); !ok {
			t.Errorf("%q is run by %T", filter, f)
		}
	}
}

// Results are written before the program waits for more input.
func TestRunIsPrompt(t *testing.T) {
	for _, filter := range []string{".a", "[.a][]"} {
		stdin, feed := io.Pipe()
		results, stdout := io.Pipe()
		done := make(chan int)
		go func() {
			defer stdout.Close()
			done <- Run(words("-c", filter), stdin, stdout, io.Discard)
		}()
		lines := bufio.NewReader(results)
		for _, n := range []string{"1", "2"} {
			if _, err := io.WriteString(feed, `{"a":`+n+`}`); err != nil {
				t.Fatal(err)
			}
			if line, err := lines.ReadString('\n'); err != nil || line != n+"\n" {
				t.Fatalf("%s: %q, %v", filter, line, err)
			}
		}
		feed.Close()
		if code := <-done; code != 0 {
			t.Errorf("%s: exit %d", filter, code)
		}
	}
}

// An error of the output ends the program.
func TestRunCannotWrite(t *testing.T) {
	for _, args := range [][]string{words("."), words("--unbuffered", "repeat(1)"), words("-n", "repeat(1)")} {
		var stderr strings.Builder
		code := Run(args, strings.NewReader("1 2"), failingWriter{}, &stderr)
		if code != exitUsage || stderr.String() != "jq: error: writing output failed: no space\n" {
			t.Errorf("%q: exit %d, %q", args, code, stderr.String())
		}
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestRunCannotRead(t *testing.T) {
	var stderr strings.Builder
	stdin := iotest.ErrReader(errors.New("bad disk"))
	if code := Run(words("."), stdin, io.Discard, &stderr); code != exitUsage ||
		stderr.String() != "jq: error: cannot read the input: bad disk\n" {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}

func BenchmarkRun(b *testing.B) {
	for _, filter := range []string{".options.depth", ".options|.depth"} {
		b.Run(filter, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Run(words("-rc", filter), strings.NewReader(`{"name":"x","options":{"depth":3}}`), io.Discard,
					io.Discard)
			}
		})
	}
}
