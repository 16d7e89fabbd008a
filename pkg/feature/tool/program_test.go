//go:build unix

package tool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
)

// A shown result has the members that the tests of this file look at.
type shown struct {
	texts      []string
	blob       []byte
	mimeType   string
	isError    bool
	structured string
	exitCode   int
	stderr     string
}

// parseResult parses the response of a call.
func parseResult(t *testing.T, response string) shown {
	t.Helper()
	var r struct {
		Content []struct {
			Type, Text string
			Resource   struct{ URI, MIMEType, Blob string }
		}
		IsError           bool
		StructuredContent json.RawMessage
		Meta              struct {
			ExitCode int
			Stderr   string
		} `json:"_meta"`
	}
	if err := json.Unmarshal([]byte(response), &r); err != nil {
		t.Fatalf("%v: %s", err, response)
	}
	s := shown{isError: r.IsError, structured: string(r.StructuredContent), exitCode: r.Meta.ExitCode,
		stderr: r.Meta.Stderr}
	for _, item := range r.Content {
		if item.Type == "text" {
			s.texts = append(s.texts, item.Text)
			continue
		}
		data, err := base64.StdEncoding.DecodeString(item.Resource.Blob)
		if err != nil || item.Resource.URI == "" {
			t.Errorf("%v: %s", err, response)
		}
		s.blob, s.mimeType = data, item.Resource.MIMEType
	}
	return s
}

// T-501 to T-507: tools that declare the output of their program.
func TestProgramOutput(t *testing.T) {
	b := newFixture(t, nil)
	const codes = `"output":{"type":"text","exitCodes":{"1":"No lines matched.","3":""}}`
	for _, tc := range []struct {
		name, body, more string
		want             shown
	}{
		{"text", `echo hi`, codes, shown{texts: []string{"hi\n"}}},
		{"a code without output", `exit 1`, codes, shown{texts: []string{"No lines matched."}, exitCode: 1}},
		{"a code with output", `echo diff; exit 1`, codes, shown{texts: []string{"diff\n"}, exitCode: 1}},
		{"a code with messages", `echo skipped x >&2; exit 1`, codes,
			shown{texts: []string{"No lines matched.", "skipped x"}, exitCode: 1, stderr: "skipped x"}},
		{"a code without a text", `exit 3`, codes, shown{texts: []string{noOutput}, exitCode: 3}},
		{"stderr", `echo done >&2`, codes, shown{texts: []string{"done"}, stderr: "done"}},
		{"nothing", `:`, codes, shown{texts: []string{noOutput}}},
		{"white space", `echo`, codes, shown{texts: []string{"\n"}}},
		{"both streams", `echo out; echo note >&2`, codes, shown{texts: []string{"out\n"}, stderr: "note"}},
		{"another code", `echo out; echo bad pattern >&2; exit 2`, codes, shown{
			texts: []string{"bad pattern", "out\n", "The program ended with exit status 2."}, isError: true, exitCode: 2,
			stderr: "bad pattern"}},
		{"a reason on stdout", `echo why; exit 2`, codes, shown{
			texts: []string{"why\n", "The program ended with exit status 2."}, isError: true, exitCode: 2}},
		{"silent", `exit 2`, codes, shown{texts: []string{"The program ended with exit status 2 without a message"},
			isError: true, exitCode: 2}},
		{"a signal", `kill -KILL $$`, `"output":{"exitCodes":{"137":"no"}}`,
			shown{texts: []string{"The program was ended by signal 9 (killed) without a message"}, isError: true,
				exitCode: 137}},
		{"no result of the SDK", `echo '{"content":[{"type":"text","text":"x"}],"isError":true}'`, codes,
			shown{texts: []string{`{"content":[{"type":"text","text":"x"}],"isError":true}` + "\n"}}},
		{"no error of the SDK", `echo '{"code":-32602,"message":"x"}'; exit 2`, codes, shown{texts: []string{
			`{"code":-32602,"message":"x"}` + "\n", "The program ended with exit status 2."}, isError: true, exitCode: 2}},
		{"an object as text", `echo '{"a":1}'`, codes, shown{texts: []string{`{"a":1}` + "\n"}}},
		{"JSON", `echo '{"a": 1}'`, `"output":{"type":"json"}`,
			shown{texts: []string{`{"a": 1}` + "\n"}, structured: `{"a":1}`}},
		{"a list", `echo '[1,{}]'`, `"output":{"type":"json"}`,
			shown{texts: []string{"[1,{}]\n"}, structured: `{"result":[1,{}]}`}},
		{"lines of JSON", `echo '{"a":1}'; echo '{"a":2}'`, `"output":{"type":"json"}`,
			shown{texts: []string{"{\"a\":1}\n{\"a\":2}\n"}, structured: `{"result":[{"a":1},{"a":2}]}`}},
		{"no JSON", `echo '{"a":1} x'`, `"output":{"type":"json"}`, shown{texts: []string{"{\"a\":1} x\n"}}},
		{"binary", `printf 'PK\003\004\000\377'`, codes,
			shown{texts: []string{"The output is 6 bytes of application/zip."}, blob: []byte("PK\003\004\000\377"),
				mimeType: "application/zip"}},
		{"binary of a type", `printf 'a\377\000'`, `"output":{"type":"binary","mimeType":"application/x-tar"}`,
			shown{texts: []string{"The output is 3 bytes of application/x-tar."}, blob: []byte("a\377\000"),
				mimeType: "application/x-tar"}},
		{"binary that looks like text", `printf 'abcdefg\377'`, `"output":{"type":"binary"}`,
			shown{texts: []string{"The output is 8 bytes of application/octet-stream."}, blob: []byte("abcdefg\377"),
				mimeType: "application/octet-stream"}},
		{"text of a binary tool", `echo usage`, `"output":{"type":"binary","mimeType":"image/png"}`,
			shown{texts: []string{"usage\n"}}},
		{"Latin-1", `printf 'caf\351 ol\351\n'`, codes, shown{texts: []string{`caf\xE9 ol\xE9` + "\n", escapedBytes}}},
		{"binary of a failure", `printf '\000\001'; exit 2`, codes, shown{texts: []string{
			"[2 bytes of application/octet-stream]", "The program ended with exit status 2."}, isError: true, exitCode: 2}},
	} {
		got := parseResult(t, b.run(tc.body, tc.more))
		if strings.Join(got.texts, "|") != strings.Join(tc.want.texts, "|") || !bytes.Equal(got.blob, tc.want.blob) ||
			got.mimeType != tc.want.mimeType || got.isError != tc.want.isError || got.structured != tc.want.structured ||
			got.exitCode != tc.want.exitCode || got.stderr != tc.want.stderr {
			t.Errorf("%s:\n got %+v\nwant %+v", tc.name, got, tc.want)
		}
	}
	if got := b.run(`printf '{"code":7,"message":"m"}' >"$MCP_TOOL_ERROR_FILE"; exit 1`, codes); got !=
		`{"code":7,"message":"m"}` {
		t.Error("T-91:", got)
	}
	if got := b.run(`printf '{"code":-32602,"message":".p is empty"}' >"$MCP_TOOL_ERROR_FILE"; exit 1`, codes); got !=
		`{"name":"t","content":[{"type":"text","text":"Invalid arguments: .p is empty"}],"isError":true,`+
			`"structuredContent":{"success":false,"error":{"type":"validation_error","message":"Invalid arguments: .p is `+
			`empty"}},"_meta":{"exitCode":1}}` {
		t.Error("T-509:", got)
	}
	old := newFixture(t, project.Env{"MCPBASH_TOOL_FAILURE_MODE": "error"})
	if got := old.run(`echo why >&2; exit 2`, codes); !strings.HasPrefix(got, `{"code":-32603,"message":"why"`) {
		t.Error("T-187:", got)
	}
}

// T-504, T-507: parts of a result are bounded.
func TestProgramLimits(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "40000", "MCPBASH_TOOL_STDERR_TAIL_LIMIT": "5",
		"MCPBASH_MAX_RESOURCE_BYTES": "1000"})
	const output = `"output":{"type":"text"}`
	got := parseResult(t, b.run(`printf '\000%1000s'`, output))
	if len(got.texts) != 1 || !got.isError || !strings.Contains(got.texts[0],
		"1001 bytes of application/octet-stream, and a result can have 1000. Let the program write it to a file") {
		t.Errorf("%+v", got)
	}
	if got := parseResult(t, b.run(`printf '\000%999s'`, output)); len(got.blob) != 1000 || got.isError {
		t.Errorf("%+v", got)
	}
	got = parseResult(t, b.run(`printf 'é%.0s' {1..10000}; exit 2`, output))
	if len(got.texts) != 2 || len(got.texts[0]) > maxFailureHead+maxFailureTail+100 ||
		!strings.Contains(got.texts[0], "\n[11808 bytes left out]\n") || strings.Contains(got.texts[0], `\x`) {
		t.Errorf("%+v", got)
	}
	got = parseResult(t, b.run(`printf 1234567 >&2`, output))
	if len(got.texts) != 1 || got.texts[0] != "[2 bytes left out]\n34567" {
		t.Errorf("%+v", got)
	}
	got = parseResult(t, b.run(`printf 'x%.0s' {1..40001}`, output))
	if len(got.texts) != 3 || !got.isError || !strings.HasPrefix(got.texts[1], "Ask for less in one call") ||
		!strings.HasPrefix(got.texts[2], "Output until then:\n[") || len(got.texts[2]) > maxPartial+100 {
		t.Errorf("%+v", got)
	}
}

// T-508: a program that exceeds its time. The model gets a remedy and the output until then.
func TestProgramTimeout(t *testing.T) {
	b := newFixture(t, nil)
	began := time.Now()
	got := parseResult(t, b.run(`echo one; sleep 60`, `"timeoutSecs":1,"output":{"type":"text"}`))
	if len(got.texts) != 3 || !got.isError || !strings.Contains(got.texts[1],
		`a person can raise "timeoutSecs" (1 now) in the tool.meta.json next to tools/t/tool.sh`) ||
		got.texts[2] != "Output until then:\none\n" || time.Since(began) < time.Second {
		t.Errorf("%+v", got)
	}
}

// T-402: a program that is not installed, started by exec as the generated scripts do.
func TestProgramMissing(t *testing.T) {
	b := newFixture(t, nil)
	got := parseResult(t, b.run(`exec no-such-program`, `"output":{"type":"text"}`))
	if !got.isError || !strings.Contains(strings.Join(got.texts, "|"),
		"starts no-such-program in line 2, which is not on the PATH of tools") {
		t.Errorf("%+v", got)
	}
}

// T-506: all bytes of text in another encoding can be recovered, and binary content is not such a text.
func FuzzOtherEncoding(f *testing.F) {
	f.Add([]byte("caf\xe9"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		text := escapeInvalid(content)
		if !json.Valid([]byte(`"`+strings.Map(func(r rune) rune {
			if r < ' ' || r == '"' || r == '\\' {
				return '.'
			}
			return r
		}, string(text))+`"`)) || bytes.Count(content, []byte{0}) > 0 && inOtherEncoding(content) {
			t.Errorf("%q: %q", content, text)
		}
		if cut := excerpt(content, 10, 10); len(cut) > 4*20+100 {
			t.Errorf("%q", cut)
		}
	})
}
