//go:build unix

package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// spies are programs that write their arguments to files next to them, with a NUL after each argument. Their
// help describes two ways to give the value of an option.
var spies = map[string]string{
	"gnu": `Usage: gnu [OPTION]... WORD [FILE]...

  -j, --joined=TEXT    show lines with this text; one word
  -k TEXT              show lines without this text
  -m, --mark[=TEXT]    show this text; a value that may be left out
  -s, --switch         show more
  -w, --when={always,never}  show colours
      --help           display this help and exit
`,
	"go": `Usage of go:
  -name string
    	show lines with this name
  -other string
    	show lines with another one
`,
	"seek": `Usage: seek [-name PATTERN] [WORD]
`,
}

// hostile are 200 values that try to be more than an argument.
func hostile() []string {
	list := []string{
		"", " ", "\n", "\n\n", "a\n", "\na", "\t", "\r\n", "-", "--", "---", "-x", "-rf", "--help", "--version", "--joined=x",
		"-k", "--", "-- -x", "--switch", "-s", "=", "=x", "a=b", "$HOME", "${HOME}", "$(id)", "`id`", "$((1+1))", "\\",
		"\\\\", "\\n",
		"'", "\"", "'\"'\"'", "''", "\"\"", "a b", "a  b", " a", "a ", "*", "?", "[a]", "{a,b}", "~", "~root", "!", "!!",
		"#", "# x",
		"&", "&&", "|", "||", ";", ";;", "<", ">", ">x", "<(x)", ">&2", "2>&1", "(x)", "{ x; }", "%s", "%n%n", "%%", "null",
		"true",
		"false", "0", "-1", "-1.5", "1e3", "é", "日本", "\u202e", "\u0085", "\x01", "\x1b[31m", "\x7f", "\ufeff", "\u2028",
		"a\tb",
		"argv+=(x)", "exec x", "eval x", "source x", "${argv[@]}", "$1", "$@", "$*", "$#", "$?", "$$", "$-", "@", "@x",
		"@/etc/passwd",
		"-n", "-e", "-E", "/etc/passwd", "../../x", "./-x", "file:///x", "http://x/?a=b&c", "a\\", "\\\"", "\\'", "a'b\"c`d",
		strings.Repeat("x", 5000), strings.Repeat("-", 300), strings.Repeat("'", 99), strings.Repeat("\n", 50) + "x",
		"{\"a\":1}", "[1,2]", "\"]}", "a,b", "a:b", "C:\\x", "\\u0041", "&#x41;", "<x>", "--\n", "-\n-x", "x\n--switch",
		"x\n-s\n",
	}
	for _, before := range []string{"", "-", "--", "'", "\"", ";", "\n", "$(", "`", "'; "} {
		for _, after := range []string{"touch PWNED", "touch${IFS}PWNED;", ">PWNED", "$(touch PWNED)", "`touch PWNED`",
			"| touch PWNED",
			"&& touch PWNED #"} {
			list = append(list, before+after)
		}
	}
	for i := 0; len(list) < 200; i++ {
		list = append(list, fmt.Sprintf("-%d$(touch PWNED)\n'%d", i, i))
	}
	return list[:200]
}

// WRAP-31 to WRAP-33: the program gets each value that a client sends as an argument, byte for
// byte, or does not start.
func TestWrappedArguments(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, "mcp-bash new demo --no-hello")
	project := filepath.Join(dir, "demo")
	for name, help := range spies {
		script := fmt.Sprintf("#!/bin/bash\nif [[ $# == 1 && $1 == --help ]]; then cat <<'END'\n%sEND\nexit; fi\n"+
			`printf '%%s\0' "$@" >"$0.argv"; IFS= read -rd '' stdin; printf %%s "$stdin" >"$0.stdin"`+"\n", help)
		write(t, script, project, "bin", name)
		if err := os.Chmod(filepath.Join(project, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
		must(t, project, "mcp-bash wrap ./bin/"+name)
		must(t, project, "mcp-bash test --filter tools/"+name+"/")
		// The program writes next to itself, which a confined tool cannot.
		must(t, project, `jq '.capabilities = ["FileSystem"]' tools/`+name+`/tool.meta.json >new && mv new tools/`+name+
			`/tool.meta.json`)
	}
	s := open(t, project, opening{binary: shipped(t)})
	// called calls a tool, and returns what the program was called with; ok is false where it was not.
	called := func(tool string, args arguments) (argv []string, stdin string, ok bool) {
		t.Helper()
		files := []string{filepath.Join(project, "bin", tool+".argv"), filepath.Join(project, "bin", tool+".stdin")}
		for _, f := range files {
			os.Remove(f)
		}
		result, err := s.request(s.deadline(), tool, args)
		text, errRead := os.ReadFile(files[0])
		if errors.Is(errRead, fs.ErrNotExist) {
			if err == nil && !result.IsError {
				t.Errorf("%s %q: not run, and no error", tool, args)
			}
			return nil, "", false
		}
		if err != nil || result.IsError {
			t.Errorf("%s %q: %v, %s", tool, args, err, compact(t, result))
		}
		in, _ := os.ReadFile(files[1])
		words := strings.Split(string(text), "\x00")
		return words[:len(words)-1], string(in), true
	}
	values := hostile()
	if len(values) != 200 {
		t.Fatal(len(values))
	}
	for i, v := range values {
		// With -short, one of three calls tries each value.
		tries := func(call int) bool { return !testing.Short() || i%3 == call }
		isOption := len(v) > 1 && v[0] == '-'
		if tries(0) {
			argv, _, ok := called("gnu", arguments{"joined": v, "mark": true, "word": "w", "switch": true})
			if !ok || !slices.Equal(argv, []string{"--joined=" + v, "--mark", "--switch", "w"}) {
				t.Errorf("%q: %q", v, argv)
			}
		}
		if tries(1) {
			argv, _, ok := called("go", arguments{"name": v, "other": v})
			if isOption == ok || ok && !slices.Equal(argv, []string{"-name", v, "-other", v}) {
				t.Errorf("%q: %q", v, argv)
			}
		}
		if tries(2) {
			argv, _, ok := called("gnu", arguments{"k": "k", "word": v, "file": []string{v, v}})
			if isOption == ok || ok && !slices.Equal(argv, []string{"-k", "k", v, v, v}) {
				t.Errorf("%q: %q", v, argv)
			}
			argv, stdin, ok := called("seek", arguments{"word": "w", "stdin": v})
			if !ok || !slices.Equal(argv, []string{"w"}) || stdin != v {
				t.Errorf("%q: %q, %q", v, argv, stdin)
			}
		}
	}
	// Arguments that the schema does not allow never reach the script.
	for _, args := range []arguments{
		{"word": "w", "when": "$(touch PWNED)"}, {"word": "w", "switch": "--x"}, {"word": "w", "nothing": "x"},
		{"word": []string{"a"}}, {"word": "a\x00b"},
	} {
		if argv, _, ok := called("gnu", args); ok {
			t.Errorf("%q: %q", args, argv)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), "PWNED") {
			t.Errorf("%s is there", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// examples/16-wrapped: tools that wrap has written, as a person left them.
func TestWrappedExample(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "16-wrapped")
	s := open(t, project, opening{})
	fruit := []string{"data/fruit.csv"}
	for _, c := range []struct {
		tool string
		args arguments
		want string
	}{
		{"sort", arguments{"key": "2", "field_separator": ",", "numeric_sort": true, "file": fruit},
			"banana,2\nlemon,3\napple,4\napple,5\n"},
		{"grep", arguments{"patterns": "-v", "stdin": "-v\nx\n", "line_number": true}, "1:-v\n"},
		{"wc", arguments{"lines": true, "stdin": "a\nb\n"}, "2\n"},
		{"cut", arguments{"delimiter": ",", "fields": "1", "file": fruit}, "lemon\napple\nbanana\napple\n"},
		{"find", arguments{"path": []string{"data"}, "name": "*.csv"}, filepath.Join(project, "data", "fruit.csv") + "\n"},
	} {
		if got := text(t, s.succeed(c.tool, c.args)); strings.TrimLeft(got, " ") != c.want {
			t.Errorf("%s %v: %q", c.tool, c.args, got)
		}
	}
}

// WRAP-39: output that a recipe declares as JSON becomes structured content.
func TestWrappedJSON(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, "mcp-bash new demo --no-hello")
	project := filepath.Join(dir, "demo")
	write(t, `#!/bin/bash
case $* in
  '--json --list') echo '[{"n":1},{"n":2}]' ;;
  --json) echo '{"n":0}' ;;
esac
`, project, "bin", "report")
	if err := os.Chmod(filepath.Join(project, "bin", "report"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, `{"program": "report", "title": "Report", "summary": "Prints a report.",
		"verified": true, "arguments": [{"words": ["--json"]}, {"name": "list", "type": "switch", "option": "--list",
			"description": "Print all of them."}],
		"output": {"type": "json"}, "capabilities": ["Search"],
		"effects": {"readOnly": true, "destructive": false, "idempotent": true, "openWorld": false},
		"examples": [{"description": "Print a report.", "arguments": {}}, {"description": "Print all.",
			"arguments": {"list": true}}]}`, project, "report.json")
	must(t, project, "mcp-bash wrap --recipe report.json ./bin/report")
	s := open(t, project, opening{})
	if got := compact(t, s.succeed("report", nil).StructuredContent); got != `{"n":0}` {
		t.Error(got)
	}
	got := compact(t, s.succeed("report", arguments{"list": true}).StructuredContent)
	if got != `{"result":[{"n":1},{"n":2}]}` {
		t.Error(got)
	}
}
