package sdk_test

import "testing"

// SDK-66: an error or a result after other output.
func TestPrintedBefore(t *testing.T) {
	t.Parallel()
	fails := func(before, text, code, message string) outcome {
		return outcome{
			rc: 1, out: text + `{"code":` + code + `,"message":"` + message + `","data":null}` + "\n",
			err: "mcp_fail: " + before + " has printed a result before; the client gets this error instead:\n" +
				message + "\n",
		}
	}
	both := func(before, text, after string, want outcome) outcome {
		want.out = text + want.out
		want.err = after + ": " + before +
			" has printed a result before; the client gets both as one text, and no error\n"
		return want
	}
	alone := func(before, after string, want outcome) outcome {
		want.err = after + ": " + before + " has printed an error before; the client gets that error alone\n"
		return want
	}
	problem := failure("m", `{"type":"t","message":"m"}`)
	one := result(`{"success":true,"result":1}`, `{"success":true,"result":1}`, false)
	var rows []row
	for _, c := range []struct {
		script string
		want   outcome
	}{
		{`mcp_emit_json '{"a":1}'; mcp_fail -1 m`, fails("mcp_emit_json", `{"a":1}`, "-1", "m")},
		{`mcp_emit_text x; mcp_args_require .none`, fails("mcp_emit_text", "x", "-32602", ".none is required")},
		{`mcp_emit_json '{"a": 1}'; mcp_error t m`, both("mcp_emit_json", `{"a":1}`, "mcp_error", problem)},
		{`mcp_emit_text x; mcp_result_error '{"type":"t","message":"m"}'`,
			both("mcp_emit_text", "x", "mcp_result_error", problem)},
		{`mcp_error a b >/dev/null; mcp_result_success 1`, alone("mcp_error", "mcp_result_success", one)},
		{`mcp_result_error '{}' >/dev/null; mcp_error t m`, alone("mcp_result_error", "mcp_error", problem)},
		{`mcp_emit_text x; mcp_result_image none`, both("mcp_emit_text", "x", "mcp_result_image",
			internal("mcp_result_image: not a readable file: none"))},
		// Several parts of one result, and results in variables.
		{`mcp_emit_text '['; mcp_emit_json 1; mcp_emit_text ']'`, out("[1]")},
		{`x=$(mcp_emit_json '{"a":1}'); (mcp_result_success 1 >/dev/null); mcp_result_success 1`, one},
	} {
		rows = append(rows, row{"SDK-66", tool{script: c.script}, c.want, ""})
	}
	check(t, ways, rows)
}
