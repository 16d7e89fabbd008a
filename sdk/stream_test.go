package sdk_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// progressed returns the params of each line.
func progressed(t testing.TB, file string) []string {
	t.Helper()
	const before, after = `{"jsonrpc":"2.0","method":"notifications/progress","params":{`, "}}\n"
	var list []string
	for line := range strings.Lines(read(t, file)) {
		params, ok := strings.CutPrefix(line, before)
		params, ok2 := strings.CutSuffix(params, after)
		if !ok || !ok2 {
			t.Errorf("progress line %q", line)
		}
		list = append(list, params)
	}
	return list
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ clause, env, call, want string }{
		{"SDK-94", "tok", `5 first`, `"progressToken":"tok","progress":5,"message":"first"`},
		{"SDK-94", "tok", `5 'a "b"' 20`, `"progressToken":"tok","progress":5,"total":20,"message":"a \"b\""`},
		{"SDK-94", "tok", `101 m`, `"progressToken":"tok","progress":100,"message":"m"`},
		{"SDK-94", "tok", `-5 m`, `"progressToken":"tok","progress":0,"message":"m"`},
		{"SDK-94", "tok", `abc m many`, `"progressToken":"tok","progress":0,"message":"m"`},
		{"SDK-94", "tok", `'' ''`, `"progressToken":"tok","progress":0,"message":""`},
		{"SDK-94", "tok", `5.5 m 7.25`, `"progressToken":"tok","progress":5.5,"total":7.25,"message":"m"`},
		{"SDK-94", "tok", `.5`, `"progressToken":"tok","progress":0.5`},
		{"SDK-94", "tok", `99.9`, `"progressToken":"tok","progress":99.9`},
		{"SDK-94", "tok", `100.1`, `"progressToken":"tok","progress":100`},
		{"SDK-94", "tok", `5.`, `"progressToken":"tok","progress":0`},
		{"SDK-94", "tok", `007 m 010`, `"progressToken":"tok","progress":7,"total":10,"message":"m"`},
		{"SDK-94", "tok", `123456789012345678901234567890`, `"progressToken":"tok","progress":100`},
		{"SDK-94", "tok", ``, `"progressToken":"tok","progress":0`},
		{"SDK-95", "42", `1`, `"progressToken":42,"progress":1`},
		{"SDK-95", "-4.50", `1`, `"progressToken":-4.50,"progress":1`},
		{"SDK-95", "+7", `1`, `"progressToken":"+7","progress":1`},
		{"SDK-95", "007", `1`, `"progressToken":"007","progress":1`},
		{"SDK-95", `a"b`, `1`, `"progressToken":"a\"b","progress":1`},
	} {
		file := filepath.Join(t.TempDir(), "progress")
		got := tool{script: "mcp_progress " + c.call, env: []string{"MCP_PROGRESS_STREAM=" + file,
			"MCP_PROGRESS_TOKEN=" + c.env}}.run(t)
		if got != out("") || progressed(t, file)[0] != c.want {
			t.Errorf("%s mcp_progress %s: %+v, %s", c.clause, c.call, got, progressed(t, file))
		}
	}
}

func TestProgressStream(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "progress")
	check(t, []way{byTable}, []row{
		{"SDK-94", tool{script: `mcp_progress 5 m`}, out(""), ""},
		{"SDK-94", tool{script: `mcp_progress 5 m`, env: []string{"MCP_PROGRESS_TOKEN=t"}}, out(""), ""},
		{"SDK-94", tool{script: `mcp_progress 5 m`, env: []string{"MCP_PROGRESS_STREAM=/dev/full"}}, out(""), ""},
		{"SDK-94", tool{script: `mcp_progress 5 m`, env: []string{"MCP_PROGRESS_TOKEN=t", "MCP_PROGRESS_STREAM=" +
			absentDir + "/x"}}, out(""), ""},
		{"SDK-94", tool{script: `mcp_progress 5 m`, env: []string{"MCP_PROGRESS_TOKEN=t",
			"MCP_PROGRESS_STREAM=/dev/full"}}, out(""), ""},
	})
	// SDK-9: the shell variables are used, and the token's JSON form only with its own token.
	got := tool{env: []string{"MCP_PROGRESS_STREAM=" + absentDir + "/x", "MCP_PROGRESS_TOKEN=42",
		`MCPBASH_PROGRESS_TOKEN_JSON="42"`},
		script: `MCP_PROGRESS_STREAM=` + file +
			`; mcp_progress 1; MCP_PROGRESS_TOKEN=43; mcp_progress 2; MCP_PROGRESS_TOKEN=42; mcp_progress 3; ` +
			`MCP_PROGRESS_TOKEN=; mcp_progress 4`}.run(t)
	if want := []string{`"progressToken":"42","progress":1`, `"progressToken":43,"progress":2`,
		`"progressToken":"42","progress":3`}; got != out("") ||
		strings.Join(progressed(t, file), "\n") != strings.Join(want, "\n") {
		t.Errorf("SDK-9, SDK-95: %+v\n%s", got, read(t, file))
	}
	// SDK-102: lines of parallel writers stay whole.
	many := filepath.Join(dir, "many")
	got = tool{env: []string{"MCP_PROGRESS_STREAM=" + many, "MCP_PROGRESS_TOKEN=t"}, script: `mcp_progress 0
for w in 1 2 3 4; do for i in {1..50}; do mcp_progress $i "` + strings.Repeat("x",
		3000) + `"; done & done; wait`}.run(t)
	if lines := progressed(t, many); got != out("") || len(lines) != 201 {
		t.Errorf("SDK-102: %+v, %d lines", got, len(lines))
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "cancelled"), "1")
	check(t, []way{byTable}, []row{
		{"SDK-97", tool{script: `if mcp_is_cancelled; then echo yes; else echo "no $?"; fi`}, out("no 1\n"), ""},
		{"SDK-97", tool{script: `mcp_is_cancelled; echo reached`, env: []string{"MCP_CANCEL_FILE=" + dir}},
			outcome{rc: 1}, ""},
		{"SDK-97", tool{script: `mcp_is_cancelled && echo yes`, env: []string{"MCP_CANCEL_FILE=" + file}}, out("yes\n"),
			""},
		{"SDK-9", tool{script: `MCP_TOOL_CANCELLATION_FILE=` + quoted(file) + `; mcp_is_cancelled && echo yes`},
			out("yes\n"), ""},
	})
}

func TestLog(t *testing.T) {
	t.Parallel()
	const warned = "mcp_log: invalid level 'loud', defaulting to 'info'\n"
	for _, c := range []struct{ clause, script, want, err string }{
		{"SDK-100", `mcp_log info lg '"msg"'`, "info lg msg\n", ""},
		{"SDK-100", `mcp_log INFO lg 1; mcp_log Notice lg 1; mcp_log critical lg 1; mcp_log alert lg 1; mcp_log emergency ` +
			`lg 1; mcp_log Error lg 1; mcp_log debug lg 1`,
			"info lg 1\nnotice lg 1\ncritical lg 1\nalert lg 1\nemergency lg 1\nerror lg 1\ndebug lg 1\n", ""},
		{"SDK-100", `mcp_log warn lg 1; mcp_log warning lg 1`, "warning lg 1\nwarning lg 1\n", ""},
		{"SDK-100", `mcp_log loud lg 1`, "info lg 1\n", warned},
		{"SDK-100", `mcp_log info 'l"g' '{"a":[1,{"b":"c, d"}]}'`, "info l\"g {\"a\":[1,{\"b\":\"c, d\"}]}\n", ""},
		{"SDK-100", `mcp_log info lg $'{"a":\n1}'`, "info lg {\"a\": 1}\n", ""},
		{"SDK-100", `mcp_log info lg 'no "JSON"'; mcp_log info lg '1 2'; mcp_log info lg ''`,
			"info lg no \"JSON\"\ninfo lg 1 2\ninfo lg \n", ""},
		{"SDK-100", `mcp_log info lg`, "info lg \n", ""},
		{"SDK-100", `mcp_log info`, "info  \n", ""},
		{"SDK-101", `mcp_log_debug lg m; mcp_log_info lg m; mcp_log_warn lg m; mcp_log_error lg m`,
			"debug lg m\ninfo lg m\nwarning lg m\nerror lg m\n", ""},
		{"SDK-101", `mcp_log_info lg '{"a":1}'`, "info lg {\"a\":1}\n", ""},
		{"SDK-101", `mcp_log_info`, "info  \n", ""},
		{"SDK-185", `MCPBASH_MODE=minimal; mcp_log info lg '{"a":1}'; mcp_log info lg no`,
			"info lg {\"a\":1}\ninfo lg no\n", ""},
	} {
		file := filepath.Join(t.TempDir(), "log")
		got := tool{script: c.script, env: []string{"MCP_LOG_STREAM=" + file}}.run(t)
		if want := (outcome{err: c.err}); got != want || logged(t, file) != c.want {
			t.Errorf("%s %s: %+v\n%s", c.clause, c.script, got, logged(t, file))
		}
	}
	file := filepath.Join(t.TempDir(), "log")
	tool{script: `mcp_log_info lg '{"a":1}'`, env: []string{"MCP_LOG_STREAM=" + file}}.run(t)
	if want := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"lg",` +
		`"data":"{\"a\":1}"}}` + "\n"; read(t, file) != want {
		t.Errorf("SDK-101: %s", read(t, file))
	}
	check(t, []way{byTable}, []row{
		{"SDK-100", tool{script: `mcp_log loud lg 1`}, outcome{err: warned}, ""},
		{"SDK-100", tool{script: `mcp_log_info lg m`, env: []string{"MCP_LOG_STREAM=" + absentDir + "/x"}}, out(""),
			""},
		{"SDK-101", tool{script: `for f in notice warning critical; do declare -F "mcp_log_$f" || echo "no $f"; done`},
			out("no notice\nno warning\nno critical\n"), ""},
	})
}

func TestDebug(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "debug")
	got := tool{script: `IFS=:; mcp_debug a "b  c" d; mcp_debug; unset MCPBASH_DEBUG_LOG; mcp_debug x`,
		env: []string{"MCPBASH_DEBUG_LOG=" + file}}.run(t)
	if want := regexp.MustCompile(`^\[[0-2]\d:[0-5]\d:[0-6]\d\] a b  c d\n\[..:..:..\] \n$`); got != out("") ||
		!want.MatchString(read(t, file)) {
		t.Errorf("SDK-103: %+v, %q", got, read(t, file))
	}
	check(t, []way{byTable}, []row{
		{"SDK-103", tool{script: `mcp_debug x`, env: []string{"MCPBASH_DEBUG_LOG=" + absentDir + "/x"}}, out(""), ""},
	})
}

// SDK-103: lines contain no secrets. Text that cannot contain a secret starts no process.
func TestDebugSecrets(t *testing.T) {
	t.Parallel()
	names := strings.Fields(`token accessToken access-token access.token ACCESSTOKEN clientSecret x-api-key APIKEY userPassword
		PGPASSWORD passwd passphrase privateKey Authorization Cookie session sessionId GITHUB_PAT githubPat smtpPass DB_PWD jwt otp
		awsCredentials creds X-Amz-Signature sig auth bearer`)
	script := ""
	for _, name := range names {
		script += "mcp_debug call " + name + "=Hush1234 done\nmcp_debug '" + name + ": Hush1234'\nmcp_debug run --" + name +
			" Hush1234\nmcp_debug '{\"" + name + "\":\"Hush1234\"}'\n"
	}
	for _, text := range []string{`https://me:Hush1234@example.com/`, `curl -u me:Hush1234`, `curl --user me:Hush1234`,
		`Basic SHVzaDEyHush==`,
		`"ghp"_Hush1234aB3dE5gH7jK9mN1pQ2sT4vW6yZ8b`, `"AK"IAQ3EGRZTV5XKLM2NP`, `'{"env":{"A":"Hush1234"}}'`,
		`$'-----BEGIN PRIVATE KEY-----\nHush1234\n'`} {
		script += "mcp_debug " + text + "\n"
	}
	file := filepath.Join(t.TempDir(), "debug")
	got := tool{script: script + "mcp_debug end", env: []string{"MCPBASH_DEBUG_LOG=" + file}}.run(t)
	text := read(t, file)
	if got != out("") || strings.Contains(text, "Hush") || strings.Contains(text, "EGRZ") ||
		!strings.HasSuffix(text, "] end\n") || !strings.Contains(text, "run --token **redacted**") {
		t.Errorf("%+v\n%s", got, text)
	}
	alone := filepath.Join(t.TempDir(), "debug")
	got = tool{script: `mcp_debug token=Hush1234; mcp_debug fine`, env: []string{"MCPBASH_DEBUG_LOG=" + alone,
		"MCPBASH_HELPER_BIN=", "PATH=/nowhere"}}.run(t)
	if text := read(t, alone); strings.Contains(text, "Hush") || !strings.HasSuffix(text, "] fine\n") {
		t.Errorf("%+v\n%s", got, text)
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	check(t, []way{byTable}, []row{
		{"SDK-130", tool{script: `mcp_roots_list; mcp_roots_count`}, out("0"), ""},
		{"SDK-130", tool{script: `mcp_roots_list; mcp_roots_count`, env: []string{"MCP_ROOTS_PATHS=/a\n/b c",
			"MCP_ROOTS_COUNT=2"}}, out("/a\n/b c2"), ""},
	})
}

func TestPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"root/sub", "root/root/same", "outside", "root/we[i]rd *"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"root/in": "sub", "root/out": "../outside",
		"root/lost": "../nowhere/x", "link": "root", "ring": "ring", "abs": dir + "/root/in", "dangling": "nowhere/at/all"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "root/file"), "")
	var rows []row
	for _, c := range []struct{ clause, args, want string }{
		{"SDK-132", `/a/./b/../c//d/`, "/a/c/d"},
		{"SDK-132", `/../..`, "/"},
		{"SDK-132", ``, "DIR"},
		{"SDK-132", `''`, "DIR"},
		{"SDK-132", `-- --x`, "DIR/--x"},
		{"SDK-132", `root/sub`, "DIR/root/sub"},
		{"SDK-132", `root/in/x`, "DIR/root/sub/x"},
		{"SDK-132", `--physical root/in/../x`, "DIR/root/x"},
		{"SDK-132", `root/out/x`, "DIR/outside/x"},
		{"SDK-132", `root/out/../x`, "DIR/x"},
		{"SDK-132", `--logical root/out/../x`, "DIR/root/x"},
		{"SDK-132", `--logical link/in`, "DIR/link/in"},
		{"SDK-132", `abs/y`, "DIR/root/sub/y"},
		{"SDK-132", `dangling/z`, "DIR/nowhere/at/all/z"},
		{"SDK-132", `ring/z`, "DIR/ring/z"},
		{"SDK-132", `/a/b`, "/a/b"},
		{"SDK-132", `/x`, "/x"},
		{"SDK-132", `$'with new\nline /x'`, "DIR/with new\nline /x"},
		{"SDK-132", `'root/we[i]rd *'`, "DIR/root/we[i]rd *"},
	} {
		rows = append(rows, row{c.clause, tool{dir: dir, script: "mcp_path_normalize " + c.args},
			out(strings.ReplaceAll(c.want, "DIR", dir)), ""})
	}
	for args, want := range map[string]string{`/a/./b/../c`: "/a/c", `../../../../../../../../../../x`: "/x", `''`: dir,
		`link/../x`: dir + "/x"} {
		rows = append(rows, row{"SDK-133", tool{dir: dir, script: "mcp_path_collapse " + args}, out(want), ""})
	}
	rows = append(rows, row{"SDK-10", tool{dir: dir, script: `mcp_path_normalize link`,
		env: []string{"MCP_PATH_DEBUG=1"}}, outcome{out: dir + "/root", err: "\n"}, "mcp_path_normalize: "})
	root := []string{"MCP_ROOTS_COUNT=1", "MCP_ROOTS_PATHS=" + dir + "/root"}
	two := []string{"MCP_ROOTS_COUNT=2", "MCP_ROOTS_PATHS=" + dir + "/root/sub\n" + dir + "/outside"}
	none := []string{"MCP_ROOTS_COUNT=0", "MCP_ROOTS_PATHS=", "MCP_ROOTS_GIVEN=1"} // no roots were given
	for _, c := range []struct {
		path string
		env  []string
		rc   int
	}{
		{dir + "/root", root, 0}, {dir + "/root/", root, 0}, {"root/none/at/all", root, 0},
		{dir + "/rootless", root, 1}, {"..", root, 1},
		{"root/in/x", root, 0}, {"root/out/x", root, 1}, {"root/sub/../../outside", root, 1}, {"link/sub", root, 0},
		{"", root, 1},
		{"root/sub/x", two, 0}, {"outside", two, 0}, {"root/file", two, 1}, {"root", nil, 1}, {"link/sub", nil, 1},
		{"/etc", []string{"MCP_ROOTS_PATHS=/"}, 0},
		{"root/we[i]rd */x", []string{"MCP_ROOTS_PATHS=" + dir + "/root/we[i]rd *"}, 0},
		{"root/weird x/x", []string{"MCP_ROOTS_PATHS=" + dir + "/root/we[i]rd *"}, 1},
		{"root/sub/x", []string{"MCP_ROOTS_PATHS=" + dir + "/link"}, 0},
		{"outside/x", []string{"MCP_ROOTS_PATHS=" + dir + "/link"}, 1},
	} {
		rows = append(rows, row{"SDK-131", tool{dir: dir, env: c.env, script: "mcp_roots_contains " + quoted(c.path)},
			outcome{rc: c.rc}, ""})
	}
	for _, c := range []struct {
		args, call string
		env        []string
		want       outcome
	}{
		{`{"p":"root/in"}`, `.p`, root, out(dir + "/root/sub")}, // relative to the working directory
		{`{"p":"in"}`, `.p`, root, out(dir + "/root/sub")},      // relative to the only root
		{`{"p":"root/same"}`, `.p`, root, out(dir + "/root/root/same")},
		{`{"p":"new/x"}`, `.p`, root, out(dir + "/root/new/x")},
		{`{"p":"sub/.."}`, `.p`, root, out(dir + "/root")},
		{`{"p":"../outside"}`, `.p`, root, rejected(".p is outside configured MCP roots: " + dir + "/root")},
		{`{"p":"out"}`, `.p`, root, rejected(".p is outside configured MCP roots: " + dir + "/root")},
		{`{"p":"root"}`, `.p`, []string{"MCP_ROOTS_COUNT=1", "MCP_ROOTS_PATHS=/"}, out("/root")},
		{`{"p":"root/sub"}`, `.p`, two, out(dir + "/root/sub")},
		{`{"p":"sub"}`, `.p`, two, rejected(".p is relative, and there are several roots; use an absolute path below " +
			"one of them: " + dir + "/root/sub, " + dir + "/outside")},
		{`{"p":"/etc"}`, `.p`, two, rejected(".p is outside configured MCP roots: " + dir + "/root/sub, " + dir +
			"/outside")},
		{`{"p":"new/deep/x.txt"}`, `.p`, root, out(dir + "/root/new/deep/x.txt")}, // to be written
		{`{"p":"./new/../x.txt"}`, `.p`, root, out(dir + "/root/x.txt")},
		{`{"p":"lost/x"}`, `.p`, root, rejected(".p is outside configured MCP roots: " + dir + "/root")}, // through a link
		// leads out from there
		{`{"p":"root/out"}`, `.p`, root, out(dir + "/root/root/out")},
		{`{"p":"/etc"}`, `.p`, none, rejected(".p is outside configured MCP roots: none")},
		{`{"p":"x"}`, `.p`, none, rejected(".p is outside configured MCP roots: none")},
		{`{}`, `.p --allow-empty`, none, out("")},
		{`{"p":"/etc"}`, `.p`, nil, out("/etc")},
		{`{"p":5}`, `.p`, nil, out(dir + "/5")},
		{`{"p":"--logical"}`, `.p`, nil, out(dir + "/--logical")},
		{`{}`, ``, nil, rejected("mcp_require_path: argument pointer is required")},
		{`{}`, `.p`, nil, rejected(".p is required")},
		{`{}`, `.p --allow-empty`, root, out("")},
		{`{}`, `.p --default-to-single-root`, root, out(dir + "/root")},
		{`{}`, `.p --default-to-single-root --allow-empty`, two,
			rejected(".p is required when zero or multiple roots are configured: " + dir + "/root/sub, " + dir +
				"/outside")},
		{`{}`, `.p --default-to-single-root`, nil,
			rejected(".p is required when zero or multiple roots are configured: none")},
		{`{}`, `.p -- --allow-empty`, nil, rejected(".p is required")},
		{`{}`, `.p --bogus --allow-empty`, nil, rejected(".p is required")},
		{`{"p":"root"}`, `.p`, []string{"MCP_ROOTS_COUNT=1"}, rejected(".p is outside configured MCP roots: none")},
		{`{"p":"root"}`, `.p`, []string{"MCPBASH_MODE=minimal"}, rejected(".p is required")},
		// E-12: a home directory, and URIs.
		{`{"p":"~/in"}`, `.p`, append([]string{"HOME=" + dir + "/root"}, root...), out(dir + "/root/sub")},
		{`{"p":"~"}`, `.p`, append([]string{"HOME=" + dir + "/root"}, root...), out(dir + "/root")},
		{`{"p":"~/x"}`, `.p`, append([]string{"HOME=" + dir + "/outside"}, root...),
			rejected(".p is outside configured MCP roots: " + dir + "/root")},
		{`{"p":"~/x"}`, `.p`, append([]string{"HOME="}, root...), rejected(".p: ~ stands for HOME, which is not set")},
		{`{"p":"~bob/x"}`, `.p`, root, rejected(".p: ~bob is not expanded; use the whole path")},
		{`{"p":"~bob"}`, `.p`, root, out(dir + "/root/~bob")},
		{`{"p":"./~/x"}`, `.p`, root, out(dir + "/root/~/x")},
		{`{"p":"file://` + dir + `/root/in"}`, `.p`, root, out(dir + "/root/sub")},
		{`{"p":"FILE://LocalHost` + dir + `/root/a%20b%5c%c3%A9\\n"}`, `.p`, root, out(dir + `/root/a b\é\n`)},
		{`{"p":"file:` + dir + `/root/x"}`, `.p`, nil, out(dir + "/root/x")},
		{`{"p":"file:///etc"}`, `.p`, root, rejected(".p is outside configured MCP roots: " + dir + "/root")},
		{`{"p":"file:///a%zz"}`, `.p`, root, rejected(".p is not a valid URI: file:///a%zz")},
		{`{"p":"file:///a%00b"}`, `.p`, root, rejected(".p is not a valid URI: file:///a%00b")},
		{`{"p":"file://h/x"}`, `.p`, root, rejected(".p is a file of another host: file://h/x")},
		{`{"p":"file://~/x"}`, `.p`, root, rejected(".p is a file of another host: file://~/x")},
		{`{"p":"https://h/x"}`, `.p`, root, rejected(".p is a URL, not a path: https://h/x")},
		{`{"p":"an a: http://h"}`, `.p`, nil, out(dir + "/an a: http:/h")},
	} {
		rows = append(rows, row{"SDK-134", tool{dir: dir, args: c.args, env: c.env, script: "mcp_require_path " +
			c.call}, c.want, ""})
	}
	rows = append(rows, row{"SDK-202", tool{dir: dir, args: `{"p":"root/in"}`, env: root,
		script: `mcp_into x mcp_require_path .p; echo "$x"`}, out(dir + "/root/sub\n"), ""})
	check(t, ways, rows)
}
