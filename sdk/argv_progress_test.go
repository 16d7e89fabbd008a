package sdk_test

import (
	"fmt"
	"path/filepath"
	"testing"
)

// SDK-98: the progress of programs becomes reports, and the rest of their output stays as it is.
func TestArgvProgress(t *testing.T) {
	t.Parallel()
	report := func(percent int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok",`+
			`"progress":%d,"total":100,"message":"%s"}}`+"\n", percent, message)
	}
	for _, c := range []struct {
		kind, program string // the body of a function in place of the program
		out, err      string
		rc            int
		reports       string
	}{
		{kind: "rsync", program: `printf 'list\n\r     32,768  45%%    2.84MB/s    0:00:02  \r\nfile\nlast'; ` +
			`echo no >&2; exit 23`, out: "list\n\nfile\nlast", err: "no\n", rc: 23, reports: report(45, "2.84MB/s")},
		{kind: "rsync", program: `printf '      9,000 100%%    2.92MB/s    0:00:02 (xfr#3, to-chk=0/4)\nnext\n'`,
			out: "next\n", reports: report(100, "2.92MB/s")},
		{kind: "rsync", program: `printf '%5000s\n' x`, out: fmt.Sprintf("%5000s\n", "x")},
		{kind: "rsync", program: `printf 'caf\351 mcp-end-1-2=0\r45%%\n'`, out: "caf\xe9 mcp-end-1-2=045%\n"},
		{kind: "rsync", program: `echo "$@"`, out: "--info=progress2 --outbuf=L -a b c\n"},
		{kind: "curl", program: `printf '\r######   7.5%%\r#=O=-  ' >&2; echo body; echo 'curl: (6) no host' >&2; exit 6`,
			out: "body\n", err: "#=O=-  curl: (6) no host\n", rc: 6, reports: report(7, "7.5%")},
		{kind: "curl", program: `printf '\r#=O=-#    \r' >&2; printf 'a\0b'; echo "$1" >&2`, out: "a\x00b",
			err: "--progress-bar\n", reports: "\n"},
		{kind: "ffmpeg", program: `printf '  Duration: 00:00:20.50, start: 0\n  Duration: 00:00:10.00\nframe=1\n` +
			`out_time_us=N/A\nout_time_us=5000000\nspeed=1x\nprogress=end\nout_time_x\n' >&2; echo out; exit 1`, out: "out\n",
			err: "  Duration: 00:00:20.50, start: 0\n  Duration: 00:00:10.00\nout_time_x\n", rc: 1,
			reports: report(25, "5 s of 20 s")},
		{kind: "ffmpeg", program: `printf 'out_time_us=5000000\n' >&2`, reports: "\n"},
		{kind: "ffmpeg", program: `echo "$@"`, out: "-nostats -progress pipe:2 -a b c\n"},
		{kind: "ffmpeg", program: `cat`, out: "input"},
		{kind: "ffmpeg", program: `sleep 30 >/dev/null & echo on >&2; exit 200`, err: "on\n", rc: 200}, // no wait
		{kind: "dd", program: `:`, err: "mcp_argv_progress: unknown kind dd; the kinds are ffmpeg, rsync and curl\n", rc: 2},
	} {
		stream := filepath.Join(t.TempDir(), "stream")
		write(t, stream, "")
		write(t, stream+".sh", c.program)
		got := tool{env: []string{"MCP_PROGRESS_TOKEN=tok", "MCP_PROGRESS_STREAM=" + stream}, script: fmt.Sprintf(
			`program() { %s %s "$@"; }; printf input | mcp_argv_progress %s program -a b c`, quoted(bash()),
			quoted(stream+".sh"), c.kind)}.run(t)
		if want := (outcome{c.out, c.err, c.rc}); got != want {
			t.Errorf("%s: %s\n got %+v\nwant %+v", c.kind, c.program, got, want)
		}
		if got := read(t, stream); got != c.reports {
			t.Errorf("%s: %s\n got %q\nwant %q", c.kind, c.program, got, c.reports)
		}
	}
}
