package sdk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A running is a call of mcp_run_with_progress and its output files.
type running struct {
	outcome
	progress, log string
}

func runWithProgress(t *testing.T, x tool) running {
	t.Helper()
	dir := t.TempDir()
	progress, log := write(t, filepath.Join(dir, "progress"), ""), write(t, filepath.Join(dir, "log"), "")
	x.dir = dir
	x.env = append([]string{"MCP_PROGRESS_TOKEN=t", "MCP_PROGRESS_STREAM=" + progress, "MCP_LOG_STREAM=" + log,
		"TMPDIR=" + dir}, x.env...)
	r := running{outcome: x.run(t)}
	for _, line := range progressed(t, progress) {
		r.progress += strings.TrimPrefix(line, `"progressToken":"t","progress":`) + "\n"
	}
	r.log = logged(t, log)
	left, err := filepath.Glob(filepath.Join(dir, "mcp-sdk.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left behind: %v", left)
	}
	return r
}

// T-48a: processes of mcp_run_with_progress end with it, whether or not the tool ignores SIGTERM.
func TestRunWithProgressLeavesNothing(t *testing.T) {
	t.Parallel()
	for i, script := range []string{
		`CALL true`, `CALL sleep 0.1`, `trap '' TERM; CALL true`, `trap '' TERM; CALL sleep 0.1`,
		`CALL --progress-file lines true`,
	} {
		interval := fmt.Sprintf("600.%d%d", os.Getpid(), i)
		call := "mcp_run_with_progress --pattern x --extract match1 --quiet --interval " + interval
		r := runWithProgress(t, tool{script: strings.Replace(script, "CALL", call, 1),
			env: []string{"MCP_CANCEL_FILE=/nonexistent/file"}})
		if r.rc != 0 {
			t.Fatalf("%s: %+v", script, r)
		}
		running := func() bool {
			lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			return slices.ContainsFunc(lines, func(file string) bool {
				line, _ := os.ReadFile(file)
				return string(line) == "sleep\x00"+interval+"\x00"
			})
		}
		for late := time.Now().Add(20 * time.Second); running(); {
			if time.Now().After(late) {
				t.Fatalf("%s: a sleep runs on", script)
			}
		}
	}
}

func TestRunWithProgress(t *testing.T) {
	t.Parallel()
	const lines = `cmd() { for i in "$@"; do printf '%s\n' "$i" >&2; done; printf 'out\0put\n\n'; }; `
	for _, c := range []struct {
		clause, script string
		want           running
	}{
		{"SDK-115", lines + `mcp_run_with_progress --pattern '^([0-9]+)' --extract match1 --total 100 -- cmd 25 50 75 100`,
			running{out("out\x00put\n\n"),
				"25,\"message\":\"25\"\n50,\"message\":\"50\"\n75,\"message\":\"75\"\n100,\"message\":\"100\"\n", ""}},
		{"SDK-113", lines + `mcp_run_with_progress --pattern '^([0-9]+)' --extract match1 --total 40 cmd 10 010`,
			running{out("out\x00put\n\n"), "25,\"message\":\"10\"\n25,\"message\":\"010\"\n", ""}},
		{"SDK-113", lines + `mcp_run_with_progress --pattern '^([^ ]*)' --extract match1 -- cmd 33 x '7.9 y' 250`,
			running{out("out\x00put\n\n"), "33,\"message\":\"33\"\n7,\"message\":\"7.9 y\"\n100,\"message\":\"250\"\n",
				""}},
		{"SDK-113", lines + `mcp_run_with_progress --pattern '\[([0-9]+)/([0-9]+)\]' --extract ratio -- cmd '[1/3] a' ` +
			`'[3/0] b' '[3/3] c'`,
			running{out("out\x00put\n\n"), "33,\"message\":\"[1/3] a\"\n100,\"message\":\"[3/3] c\"\n", ""}},
		{"SDK-113", lines + `mcp_run_with_progress --pattern 'progress' -- cmd '{"progress":12.7,` +
			`"message":"a\tb\\n\n\"c\""}' '{"progress":"40"}' '{"progress":-1}' '{"progress":"invalid"}' 'progress no JSON' ` +
			`'{"progress":null}'`,
			running{out("out\x00put\n\n"), "12,\"message\":\"a\\tb\\\\n\\n\\\"c\\\"\"\n40,\"message\":\"Working...\"\n",
				"debug mcp_run_with_progress jq parse error on line: progress no JSON\n"}},
		{"SDK-113", lines + `mcp_run_with_progress --pattern '^%' --extract match1 -- cmd 'one' '% x' ' two  x '`,
			running{out("out\x00put\n\n"), "",
				"debug mcp_run_with_progress subprocess output: one\ndebug mcp_run_with_progress subprocess output:  two  x \n"}},
		{"SDK-114", lines + `mcp_run_with_progress --pattern '^%' --extract match1 --quiet --stderr-file others -- cmd ` +
			`'one' '% x' 'two'; cat others`,
			running{out("out\x00put\n\none\ntwo\n"), "", ""}},
		{"SDK-114", lines + `mcp_run_with_progress --pattern '^%' --extract match1 --quiet --stderr-file others -- cmd '% ` +
			`x'; ls -s others`,
			running{out("out\x00put\n\n0 others\n"), "", ""}},
		{"SDK-114", lines + `mcp_run_with_progress --pattern '^%' --extract match1 --quiet --stderr-file none/others -- ` +
			`cmd 'x'`,
			running{out("out\x00put\n\n"), "",
				"warning mcp_run_with_progress cannot write to stderr-file: none/others\n"}},
		{"SDK-115", `cmd() { printf '5\n10' >&2; }; mcp_run_with_progress --pattern '([0-9]+)' --extract match1 -- cmd`,
			running{out(""), "5,\"message\":\"5\"\n10,\"message\":\"10\"\n", ""}},
		{"SDK-115", `cmd() { echo part; return 7; }; mcp_run_with_progress --pattern x --extract match1 -- cmd || echo "rc ` +
			`$?"`,
			running{out("part\nrc 7\n"), "", ""}},
		{"SDK-116a", `cmd() { echo part; return 7; }; mcp_run_with_progress --pattern x --extract match1 -- cmd; echo ` +
			`reached`,
			running{outcome{out: "part\n", rc: 7}, "", ""}},
		{"SDK-116a", `cmd() { false; echo "went on after a failure"; }; mcp_run_with_progress --pattern x --extract match1 ` +
			`-- cmd; echo reached`,
			running{outcome{rc: 1}, "", ""}},
		{"SDK-116b", `trap 'echo exit trap' EXIT; trap 'echo term' TERM; trap 'echo return' RETURN; trap 'echo int' INT
			mcp_run_with_progress --pattern x --extract match1 -- true; trap`,
			running{out("trap -- 'echo exit trap' EXIT\ntrap -- 'echo int' SIGINT\ntrap -- 'echo term' SIGTERM\ntrap -- 'echo " +
				"return' RETURN\nexit trap\n"), "", ""}},
		{"SDK-112", lines + `mcp_run_with_progress --pattern '^%' --extract match1 --quiet --stdout 'to file' -- cmd x; wc ` +
			`-c <'to file'`,
			running{out("9\n"), "", ""}},
		{"SDK-116g", `cmd() { echo '[9/3] "x"' >&2; }; mcp_run_with_progress --pattern '\[([0-9]+)/([0-9]+)\]' --extract ` +
			`ratio --dry-run -- cmd`,
			running{outcome{err: `{"progress":100,"message":"[9/3] \"x\""}` + "\n"}, "", ""}},
		{"SDK-113", `cmd() { printf '25\nhalf' >f; printf 'diag\n' >&2; printf ' line\n50\n' >>f; printf 75 >>f; printf more >&2; echo out; }
			mcp_run_with_progress --pattern '^([0-9]+)$' --extract match1 --interval 0.01 --progress-file f --stderr-file e -- cmd; cat e`,
			running{out("out\nhalf line\n"), "25,\"message\":\"25\"\n50,\"message\":\"50\"\n75,\"message\":\"75\"\n",
				"debug mcp_run_with_progress subprocess output: half line\ndebug mcp_run_with_progress subprocess stderr: diag\n" +
					"debug mcp_run_with_progress subprocess stderr: more\n"}},
		{"SDK-113", `echo 99 >f; cmd() { echo 5 >>f; }; mcp_run_with_progress --pattern '^([0-9]+)$' --extract match1 ` +
			`--quiet --progress-file f -- cmd`,
			running{out(""), "5,\"message\":\"5\"\n",
				"warning mcp_run_with_progress truncating non-empty progress file: f\n"}},
		// mcp_run_with_progress does not wait for background processes that keep stderr open.
		{"SDK-112", `cmd() { sleep 300 & echo $!; }; x=$(mcp_run_with_progress --pattern x --extract match1 -- cmd); kill ` +
			`"$x"; echo done`,
			running{out("done\n"), "", ""}},
	} {
		t.Run(c.clause+"/"+firstLine(c.script), func(t *testing.T) {
			t.Parallel()
			got := runWithProgress(t, tool{script: c.script})
			if got != c.want {
				t.Errorf("%s\n%s\n got %+v\nwant %+v", c.clause, c.script, got, c.want)
			}
		})
	}
	t.Run("stand-in", func(t *testing.T) {
		t.Parallel()
		got := runWithProgress(t, tool{way: byJSONTool, script: lines +
			`mcp_run_with_progress --pattern progress -- cmd '{"progress":12.7,"message":"a\tb\n"}' '{"progress":"40"}' ` +
			`'{"progress":-1}' 'progress no' '[1]progress'`})
		if want := (running{out("out\x00put\n\n"), "12,\"message\":\"a\\tb\\n\"\n40,\"message\":\"Working...\"\n",
			"debug mcp_run_with_progress jq parse error on line: progress no\ndebug mcp_run_with_progress jq parse error on " +
				"line: [1]progress\n"}); got != want {
			t.Errorf("SDK-113: %+v", got)
		}
	})
}

func TestRunWithProgressUsage(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, c := range [][2]string{
		{``, "--pattern is required"},
		{`--pattern ""`, "--pattern is required"},
		{`--extract q --pattern x`, "unknown extract mode 'q'"},
		{`--extract q --pattern x --total x`, "unknown extract mode 'q'"},
		{`--pattern x --total 0`, "--total must be positive integer"},
		{`--pattern x --total 1.5`, "--total must be positive integer"},
		{`--pattern x --total x --interval x`, "--total must be positive integer"},
		{`--pattern x --interval x`, "--interval must be a positive number"},
		{`--pattern x --interval 0`, "--interval must be a positive number"},
		{`--pattern x --interval .0`, "--interval must be a positive number"},
		{`--pattern x --interval 0.00`, "--interval must be a positive number"},
	} {
		rows = append(rows, row{"SDK-111", tool{script: "mcp_run_with_progress " + c[0] + " -- echo ran"},
			outcome{rc: 1, err: "mcp_run_with_progress: " + c[1] + "\n"}, ""})
	}
	rows = append(rows,
		row{"SDK-111", tool{script: `MCPBASH_JSON_TOOL_BIN=; mcp_run_with_progress --pattern x -- echo ran`},
			outcome{rc: 1, err: "mcp_run_with_progress: MCPBASH_JSON_TOOL_BIN required for json extraction mode\n"},
			""},
		row{"SDK-111", tool{script: `MCPBASH_JSON_TOOL_BIN=; mcp_run_with_progress --pattern x --extract ratio -- echo ran`},
			out("ran\n"), ""},
		row{"SDK-111", tool{script: `mcp_run_with_progress --pattern x; mcp_run_with_progress --pattern x --`}, out(""),
			""})
	check(t, []way{byTable}, rows)
}

// SDK-112: the command is ended, and its output is dropped.
func TestRunWithProgressCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := runWithProgress(t, tool{env: []string{"MCP_CANCEL_FILE=" + dir + "/cancel"},
		script: `cmd() { echo partial; : >` + dir + `/cancel; exec sleep 300; }
mcp_run_with_progress --pattern x --extract match1 --interval 0.01 -- cmd || echo "rc $?"`})
	if want := (running{out("rc 130\n"), "", ""}); got != want {
		t.Errorf("SDK-112: %+v", got)
	}
}

// SDK-113, T-106: a matching line shows that the command is alive.
func TestRunWithProgressTouches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stream := write(t, filepath.Join(dir, "progress"), "")
	old := write(t, filepath.Join(dir, "old"), "")
	got := tool{env: []string{"MCP_PROGRESS_STREAM=" + stream}, script: fmt.Sprintf(`
touch -t 200001010000 %[1]s %[2]s
cmd() { echo alive >&2; }
mcp_run_with_progress --pattern nothing --extract match1 -- cmd; [[ ! %[1]s -nt %[2]s ]] || echo too early
mcp_run_with_progress --pattern alive --extract match1 --dry-run -- cmd; [[ ! %[1]s -nt %[2]s ]] || echo in a dry run
mcp_run_with_progress --pattern alive --extract match1 -- cmd; [[ %[1]s -nt %[2]s ]] && echo touched`, stream,
		old)}.run(t)
	if got != out("touched\n") {
		t.Errorf("SDK-113: %+v", got)
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	const count = `n=0; fails() { n=$((n+1)); echo "try $n"; echo err >&2; return "$1"; }; `
	check(t, []way{byTable}, []row{
		{"SDK-120", tool{script: count + `mcp_with_retry 3 0 fails 0; echo $n`},
			outcome{out: "try 1\n1\n", err: "err\n"}, ""},
		{"SDK-120", tool{script: count + `mcp_with_retry 3 0 -- fails 3 || echo "rc $? n $n"`},
			outcome{out: "try 1\ntry 2\ntry 3\nrc 3 n 3\n", err: "err\nerr\nerr\n"}, ""},
		{"SDK-120", tool{script: count +
			`mcp_with_retry 3 0 fails 1 || echo "rc $?"; mcp_with_retry 3 0 fails 2 || echo "rc $?"`},
			outcome{out: "try 1\nrc 1\ntry 2\nrc 2\n", err: "err\nerr\n"}, ""},
		{"SDK-120", tool{script: count + `mcp_with_retry 0 0 fails 9 || echo "rc $?"`},
			outcome{out: "try 1\nrc 9\n", err: "err\n"}, ""},
		{"SDK-120", tool{script: `mcp_with_retry 2 0 no-such-program-at-all 2>/dev/null || echo "rc $?"`},
			out("rc 127\n"), ""},
		{"SDK-120", tool{script: `n=0; f() { ((++n > 2)) || return 3; }; mcp_with_retry 99999999999999999999 0 f; ` +
			`IFS=0123456789; mcp_with_retry 003 0.000001 true`}, out(""), ""},
		{"SDK-120", tool{script: `n=0; f() { n=$((n+1)); ((n == 3)) || return 5; echo ok; }; mcp_with_retry 5 0.001 f`},
			out("ok\n"), ""},
		{"SDK-121", tool{script: `mcp_with_retry x 0 true || echo $?`},
			outcome{out: "1\n", err: "mcp_with_retry: max_attempts must be a positive integer\n"}, ""},
		{"SDK-121", tool{script: `mcp_with_retry || echo $?; mcp_with_retry 3 || echo $?`},
			outcome{out: "1\n1\n", err: "mcp_with_retry: max_attempts must be a positive integer\nmcp_with_retry: " +
				"max_attempts must be a positive integer\n"}, ""},
		{"SDK-121", tool{script: `mcp_with_retry 3 x true || echo $?; mcp_with_retry 3 . true || echo $?`},
			outcome{out: "1\n1\n", err: "mcp_with_retry: base_delay must be a number\nmcp_with_retry: base_delay must be a " +
				"number\n"}, ""},
		{"SDK-121", tool{script: `mcp_with_retry 3 .5 true; mcp_with_retry 3 1. true; mcp_with_retry 3 0; mcp_with_retry 3 ` +
			`0 --`}, out(""), ""},
		{"SDK-123", tool{script: `f() { false; return 4; }; mcp_with_retry 2 0 f || case $- in *e*) echo "on $?" ;; esac; ` +
			`set +e; mcp_with_retry 2 0 f; case $- in *e*) echo on ;; *) echo off ;; esac`}, out("on 4\noff\n"), ""},
		{"SDK-123", tool{script: `f() { return 4; }; mcp_with_retry 2 0 f; echo reached`}, outcome{rc: 4}, ""},
	})
	log := filepath.Join(t.TempDir(), "log")
	got := tool{script: `f() { return 3; }; mcp_with_retry 2 0.002 f || :`,
		env: []string{"MCP_LOG_STREAM=" + log}}.run(t)
	if text := logged(t, log); got != out("") || !strings.HasPrefix(text,
		"debug retry Attempt 1/2 failed (exit 3), retrying in 0.00") || !strings.HasSuffix(text, "s\n") ||
		strings.Count(text, "\n") != 1 {
		t.Errorf("SDK-122: %+v %q", got, text)
	}
	dir := t.TempDir()
	got = tool{script: `f() { echo try; : >` + dir + `/cancel; return 6; }; mcp_with_retry 9 600 f || echo "rc $?"`,
		env: []string{"MCP_CANCEL_FILE=" + dir + "/cancel"}}.run(t)
	if got != out("try\nrc 6\n") {
		t.Errorf("SDK-123: %+v", got)
	}
	// The waits are random: d to 1.5 d, then 2 d to 3 d.
	got = tool{script: `sleep() { echo "$1"; }; f() { return 3; }; mcp_with_retry 4 1 f || :`}.run(t)
	var a, b, c float64
	if n, err := fmt.Sscanf(got.out, "%f\n%f\n%f\n", &a, &b, &c); n != 3 || a < 1 || a >= 1.5 || b < 2 || b >= 3 ||
		c < 4 || c >= 6 {
		t.Errorf("SDK-120: %q %v", got.out, err)
	}
}

func TestDetectCLI(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	tools := map[string]string{}
	for _, name := range []string{".pyenv/shims/two", ".local/bin/two", ".cargo/bin/my-tool",
		".nvm/versions/node/v1/bin/noded", "path/onpath", ".local/bin/noexec"} {
		tools[name] = write(t, filepath.Join(home, name), "#!/bin/sh\n")
		if !strings.HasSuffix(name, "noexec") {
			if err := os.Chmod(tools[name], 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	env := []string{"HOME=" + home, "PATH=" + home + "/path:" + os.Getenv("PATH")}
	missing := func(name, hint, variable string) outcome {
		return outcome{rc: 1, err: fmt.Sprintf("ERROR: %[1]s not found.%[2]s Or set %[3]s=/path/to/%[1]s\n", name, hint,
			variable)}
	}
	check(t, []way{byTable}, []row{
		{"SDK-90", tool{env: env, script: `mcp_detect_cli two`}, out(tools[".pyenv/shims/two"] + "\n"), ""},
		{"SDK-90", tool{env: env, script: `mcp_detect_cli my-tool`}, out(tools[".cargo/bin/my-tool"] + "\n"), ""},
		{"SDK-90", tool{env: env, script: `MY_TOOL_CLI=/x/y; mcp_detect_cli my-tool`}, out("/x/y\n"), ""},
		{"SDK-90", tool{env: env, script: `shopt -s failglob nullglob; set -f; IFS=/; mcp_detect_cli noded`},
			out(tools[".nvm/versions/node/v1/bin/noded"] + "\n"), ""},
		{"SDK-90", tool{env: env, script: `mcp_detect_cli onpath`}, out(tools["path/onpath"] + "\n"), ""},
		{"SDK-90", tool{env: env, script: `mcp_detect_cli noexec`}, missing("noexec", "", "NOEXEC_CLI"), ""},
		{"SDK-90", tool{env: env, script: `mcp_detect_cli no-such 'apt install it.'`},
			missing("no-such", " Install: apt install it.", "NO_SUCH_CLI"), ""},
		{"SDK-90", tool{env: append(env, "HOME"), script: `mcp_detect_cli no-such`},
			missing("no-such", "", "NO_SUCH_CLI"), ""},
		{"SDK-90", tool{env: env, script: `mcp_detect_cli`}, missing("", "", "_CLI"), ""},
		{"SDK-90", tool{env: env,
			script: `mcp_detect_cli() { echo mine; }; source "$MCP_SDK/tool-sdk.sh"; mcp_detect_cli`}, out("mine\n"),
			""},
	})
}
