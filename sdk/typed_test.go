package sdk_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// misuse is the outcome of a wrong call.
func misuse(message string) outcome {
	return outcome{
		rc: 1, err: message + "\n",
		out: `{"code":-32603,"message":` + string(rawjson.Quote(message)) + `,"data":null}` + "\n",
	}
}

// SDK-45, SDK-46: members and elements with types.
func TestTypedBuilders(t *testing.T) {
	t.Parallel()
	const big = 20000
	pretty := `{ "text" : "` + strings.Repeat("x, ", big) + `" }`
	compact := `{"text":"` + strings.Repeat("x, ", big) + `"}`
	object := func(message string) outcome { return misuse("mcp_json_typed_obj: " + message) }
	array := func(message string) outcome { return misuse("mcp_json_typed_arr: " + message) }
	var rows []row
	for _, c := range []struct {
		clause, script string
		want           outcome
	}{
		{"SDK-45", `mcp_json_typed_obj name string 'a "b"' n number -3.50e+2 i integer 42 yes boolean true no boolean false`,
			out(`{"name":"a \"b\"","n":-3.50e+2,"i":42,"yes":true,"no":false}`)},
		{"SDK-45", `mcp_json_typed_obj list json '[1, {"a" : null}]' z json null`,
			out(`{"list":[1,{"a":null}],"z":null}`)},
		{"SDK-45", `mcp_json_typed_obj; mcp_json_typed_obj 'k:"json' string json json string number`,
			out(`{}{"k:\"json":"json","json":"number"}`)},
		{"SDK-45", `mcp_json_typed_obj lines integer "   12"$'\n' t boolean $' true\t'`, out(`{"lines":12,"t":true}`)},
		{"SDK-45", "mcp_json_typed_obj big json " + quoted(pretty), out(`{"big":` + compact + "}")},
		{"SDK-45", `MCPBASH_MODE=minimal; mcp_json_typed_obj k json '{ "a": 1 }' n number 5`,
			out(`{"k":{"a":1},"n":5}`)},
		{"SDK-46", `mcp_json_typed_arr; mcp_json_typed_arr string '' number 1 json ' "x" ' integer -0`,
			out(`[]["",1,"x",-0]`)},
		{"SDK-202", `mcp_into a mcp_json_typed_arr integer 1; mcp_into x mcp_json_typed_obj l json "$a"; echo "$x"`,
			out(`{"l":[1]}` + "\n")},
		{"SDK-45", `mcp_json_typed_obj a b; echo reached`, object("expected KEY TYPE VALUE ..., got 2 words")},
		{"SDK-45", `mcp_json_typed_obj k int 5`,
			object("k: 'int' is not a type; there are string, number, integer, boolean, json")},
		{"SDK-45", `mcp_json_typed_obj ok integer 1 k number 12a`, object("k: '12a' is not a number")},
		{"SDK-45", `mcp_json_typed_obj k integer 1.0`, object("k: '1.0' is not an integer")},
		{"SDK-45", `mcp_json_typed_obj k boolean yes`, object("k: 'yes' is neither true nor false")},
		{"SDK-45", `mcp_json_typed_obj k json '1 2'`, object("k: '1 2' is not one JSON value")},
		{"SDK-45", `mcp_json_typed_obj k json ''`, object("k: '' is not one JSON value")},
		{"SDK-46", `mcp_json_typed_arr a; echo reached`, array("expected TYPE VALUE ..., got 1 words")},
		{"SDK-46", `mcp_json_typed_arr json 1 json '{"a":'`, array(`value 2: '{"a":' is not one JSON value`)},
	} {
		rows = append(rows, row{c.clause, tool{script: c.script}, c.want, ""})
	}
	check(t, ways, rows)
	// The failure is reported even if the substitution is only a word of a command.
	file := write(t, filepath.Join(t.TempDir(), "error"), "")
	got := tool{
		env:    []string{"MCP_TOOL_ERROR_FILE=" + file},
		script: `mcp_emit_json "$(mcp_json_typed_obj n number many)"`,
	}.run(t)
	if want := object("n: 'many' is not a number"); read(t, file) != want.out || got.rc != 0 {
		t.Errorf("SDK-45: %+v, error file %q", got, read(t, file))
	}
}

// SDK-45: JSON numbers are numbers, and stay unchanged.
func TestTypedNumbers(t *testing.T) {
	t.Parallel()
	words := []string{
		"", "-", "+1", "0", "-0", "00", "01", "-01", "1.", ".5", "0.5", "1.5.5", "1e5", "1E+05", "1e", "1e+", "e5",
		"0x10",
		"1_000", "1,5", "NaN", "Infinity", "--1", "1-1", "123456789012345678901234567890", "1.0", "-1.25e-7", "true",
		"null",
		`"1"`, "1 2", "[1]", "١",
	}
	var script strings.Builder
	for _, w := range words {
		for _, kind := range []string{"number", "integer"} {
			fmt.Fprintf(&script, "x=$(mcp_json_typed_arr %s %s 2>/dev/null) || x=refused; echo \"$x\"\n", kind,
				quoted(w))
		}
	}
	got := tool{script: script.String()}.run(t)
	lines := strings.Split(got.out, "\n")
	if len(lines) != 2*len(words)+1 {
		t.Fatalf("%d lines: %+v", len(lines), got)
	}
	for i, w := range words {
		isNumber := json.Valid([]byte(w)) && strings.IndexByte("-0123456789", w[0]) >= 0
		for j, allowed := range []bool{isNumber, isNumber && !strings.ContainsAny(w, ".eE")} {
			want := "refused"
			if allowed {
				want = "[" + w + "]"
			}
			if line := lines[2*i+j]; line != want {
				t.Errorf("SDK-45 %q: %s, want %s", w, line, want)
			}
		}
	}
}
