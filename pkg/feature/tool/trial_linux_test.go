package tool

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/confine"
)

// verdict makes the trial of a tool and returns the outcome as JSON.
func (y *confinedFixture) verdict(code string, more ...string) string {
	y.t.Helper()
	y.add("t", code, more...)
	list := roots.List{{URI: "file://" + y.root, Path: y.root}}
	v := y.tools.Try(y.t.Context(), &Request{Name: "t", Roots: roots.Scope{List: list}, Timeout: 2})
	var b rawjson.Builder
	b.Object()
	v.AppendJSON(&b)
	return string(b.End().Bytes())
}

// T-520, T-522: a trial passes if the script ends as expected and lacks nothing. Its words reach the script.
func TestTry(t *testing.T) {
	y := newConfinedFixture(t, "declared", nil)
	const help = `"capabilities":["Edit"],"trial":{"words":["--help","a b"]}`
	for _, c := range []struct{ code, more, want string }{
		{`[[ $1 == --help && $2 == "a b" && $# == 2 ]]`, help, `{"status":"passed","call":"--help 'a b'"}`},
		{`exit 2`, `"trial":{"words":["-h"],"exitCode":2}`, `{"status":"passed","call":"-h"}`},
		{`[[ $# == 0 && $MCP_TOOL_ARGS_JSON == '{"n":1}' ]]`, `"trial":{"arguments":{"n":1}}`,
			`{"status":"passed","call":"{\"n\":1}"}`},
		{`echo one; echo two >&2; exit 1`, help, `{"status":"failed","call":"--help 'a b'","reason":"two"}`},
		{`exit 1`, help, `{"status":"failed","call":"--help 'a b'","reason":"The program ended with exit status 1 ` +
			`without a message"}`},
		{`true`, `"trial":{"words":["-h"],"exitCode":2}`, `{"status":"failed","call":"-h","reason":"The program ended ` +
			`with exit status 0 without a message"}`},
		{`true`, `"validateInput":true,"inputSchema":{"type":"object","required":["x"]},"trial":{"arguments":{}}`,
			`{"status":"failed","call":"{}","reason":"Invalid arguments: /x: is required"}`},
		{`true`, `"description":"none"`, `{"status":"not tried","reason":"tool.meta.json has no \"trial\", a call that ` +
			`changes nothing"}`},
	} {
		if got := y.verdict(c.code, c.more); !jsontest.Same(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.code, got, c.want)
		}
	}
	if got := y.verdict("sleep 60", help); !strings.Contains(got, `"status":"failed"`) {
		t.Error(got)
	}
	y.add("t", `[[ $MCP_ROOTS_PATHS == `+y.fixture.root+`/tools/t && -r $MCP_ROOTS_PATHS/tool.sh ]]`, help)
	if v := y.tools.Try(t.Context(), &Request{Name: "t"}); v.Status != Passed {
		t.Error(v)
	}
	v := y.tools.Try(t.Context(), &Request{Name: "none"})
	if got := v.String(); got != "not tried: the project has no tool none" {
		t.Error(got)
	}
}

// T-522: a program that the confinement refuses fails a trial, even if the script succeeds.
func TestTryRefusedProgram(t *testing.T) {
	y := newConfinedFixture(t, "declared", nil)
	got := y.verdict("tac /dev/null; true", `"capabilities":["Search"],"trial":{"words":["-h"]}`)
	if !strings.Contains(got, `"status":"failed"`) || !strings.Contains(got, "Permission denied") ||
		!strings.Contains(got, `\"confine\": {\"exec\": [\"tac\"]}`) {
		t.Error(got)
	}
	if got := y.verdict("no-such-program; true", `"trial":{"words":["-h"]}`); !strings.Contains(got, "install it") {
		t.Error(got)
	}
}

// T-521: a trial writes only the private folder, and reaches no network, whatever the tool declares.
func TestTryChangesNothing(t *testing.T) {
	const all = `"capabilities":["Edit","FileSystem","Process","Network"],"confine":{"write":["WRITE"]},`
	for _, declared := range []string{all, ""} {
		y := newConfinedFixture(t, "declared", nil)
		declared = strings.Replace(declared, "WRITE", y.beside, 1)
		for _, to := range []string{y.root + "/new", y.beside + "/new", "/dev/tcp/127.0.0.1/9"} {
			code := "echo x >" + to
			if got := y.verdict(code, declared+`"trial":{"words":["-h"]}`); !strings.Contains(got, "ermission denied") &&
				!strings.Contains(got, "not permitted") {
				t.Errorf("%s: %s", code, got)
			}
		}
		for _, dir := range []string{y.root, y.beside} {
			if _, err := os.Stat(dir + "/new"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", dir, err)
			}
		}
		if got := y.verdict(`echo x >"$TMPDIR/x" && cat "$TMPDIR/x" "$MCP_ROOTS_PATHS/file"`,
			declared+`"trial":{"words":["-h"]}`); !strings.Contains(got, "passed") {
			t.Error(got)
		}
	}
}

// T-521: without a kernel or a setting that confines, a trial is not made.
func TestTryUnconfined(t *testing.T) {
	const want = `{"status":"not tried","call":"-h","reason":"this system cannot confine it"}`
	y := newConfinedFixture(t, "off", nil)
	touch := "echo x >" + y.root + "/new"
	if got := y.verdict(touch, `"trial":{"words":["-h"]}`); got != want {
		t.Error(got)
	}
	y = newConfinedFixture(t, "declared", nil)
	y.tools.Sandbox.Kernel = func() confine.Kernel { return confine.Kernel{ABI: 1} } // cannot block the network
	touch = "echo x >" + y.root + "/new"
	if got := y.verdict(touch, `"trial":{"words":["-h"]}`); got != want {
		t.Error(got)
	}
	if _, err := os.Stat(y.root + "/new"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
