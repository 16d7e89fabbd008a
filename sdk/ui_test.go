package sdk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/lib"
	"mcp-bash/sdk"
)

// The UI functions do not need the fallback.
var uiWays = []way{byTable, byProgram}

func TestClientSupportsUI(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const ask = `mcp_client_supports_ui && echo yes || echo no; mcp_client_supports_extension ` +
		`io.modelcontextprotocol/ui && echo yes || echo no; mcp_client_supports_extension other && echo yes || echo no`
	var rows []row
	for _, c := range []struct {
		clause, state string // content of the state file, or ""
		env           []string
		want          string
	}{
		{"SDK-170", "", nil, "no"},
		{"SDK-170", "", []string{"MCPBASH_CLIENT_SUPPORTS_UI=1"}, "yes"},
		{"SDK-170", "", []string{"MCPBASH_CLIENT_SUPPORTS_UI=0"}, "no"},
		{"SDK-170", "", []string{"MCPBASH_CLIENT_SUPPORTS_UI=true"}, "no"},
		{"SDK-170", "0", []string{"MCPBASH_CLIENT_SUPPORTS_UI=1"}, "yes"},
		{"SDK-170", "1", []string{"MCPBASH_CLIENT_SUPPORTS_UI=0"}, "yes"},
		{"SDK-170", "1", []string{"MCPBASH_CLIENT_SUPPORTS_UI="}, "yes"},
		{"RES-303", "1", nil, "yes"},
		{"RES-303", "1\n", nil, "yes"},
		{"RES-303", "0", nil, "no"},
		{"RES-303", "11", nil, "no"},
	} {
		env := append([]string{"MCPBASH_STATE_DIR=" + filepath.Join(dir, "none")}, c.env...)
		if c.state != "" {
			state := filepath.Join(dir, strings.TrimSpace(c.state)+"x"+strings.Repeat("n", strings.Count(c.state, "\n")))
			if err := os.MkdirAll(state, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(state, "extensions.ui.support"), c.state)
			env[0] = "MCPBASH_STATE_DIR=" + state
		}
		rows = append(rows, row{c.clause, tool{env: env, script: ask}, out(c.want + "\n" + c.want + "\nno\n"), ""})
	}
	alone := `source ` + quoted(sdkDir+"/ui-sdk.sh") + "\n"
	rows = append(rows,
		// SDK-1: ui-sdk.sh alone changes no options.
		row{"SDK-1", tool{bare: true, script: alone + ask + `; mcp_result_with_ui u hello; false; echo "$-"`},
			out("no\nno\nno\n" + `{"content":[{"type":"text","text":"hello"}],"isError":false}` + "\nhB\n"), ""},
		row{"SDK-1", tool{bare: true, script: `cd ` + quoted(sdkDir) +
			`; source ./ui-sdk.sh; cd /; mcp_tool_meta_with_ui u`},
			out(`{"ui":{"resourceUri":"u","visibility":["model","app"]}}` + "\n"), ""},
		// SDK-4: the functions of a tool are kept.
		row{"SDK-4", tool{bare: true, script: `mcp_client_supports_ui() { echo mine; }; source ` +
			quoted(sdkDir+"/tool-sdk.sh") + `; mcp_client_supports_ui; declare -F mcp_ui_form || echo none`},
			out("mine\nnone\n"), ""},
	)
	check(t, uiWays, rows)
}

func TestResultWithUI(t *testing.T) {
	t.Parallel()
	shown := func(text, data string) outcome {
		if data != "" {
			data = `,"structuredContent":` + data
		}
		return out(`{"content":[{"type":"text","text":` + text + `}]` + data + `,"isError":false}` + "\n")
	}
	invalid := failure("Invalid JSON passed to mcp_result_with_ui",
		`{"type":"internal_error","message":"Invalid JSON passed to mcp_result_with_ui"}`)
	with, without := []string{"MCPBASH_CLIENT_SUPPORTS_UI=1"}, []string{"MCPBASH_CLIENT_SUPPORTS_UI=0"}
	check(t, uiWays, []row{
		{"SDK-171", tool{env: with, script: `mcp_result_with_ui ui://x Text '{"a":1}'`}, shown(`"Text"`, `{"a":1}`),
			""},
		{"SDK-171", tool{env: with,
			script: `mcp_result_with_ui_data ui://x $'a "b"\n' '{ "b": [1, "x y"], "a": 1.50 }'`},
			shown(`"a \"b\"\n"`, `{"b":[1,"x y"],"a":1.50}`), ""},
		{"SDK-171", tool{env: with, script: `mcp_result_with_ui ui://x Text`}, shown(`"Text"`, ""), ""},
		{"SDK-171", tool{env: with,
			script: `(mcp_result_with_ui ui://x Text ''); mcp_result_with_ui ui://x Text ' null '`},
			outcome{out: strings.Repeat(shown(`"Text"`, "").out, 2)}, ""},
		{"SDK-171", tool{env: with,
			script: `(mcp_result_with_ui ui://x Text '[1,2]'); mcp_result_with_ui ui://x Text '"s"'`},
			outcome{out: shown(`"Text"`, "[1,2]").out + shown(`"Text"`, `"s"`).out}, ""},
		{"SDK-171", tool{env: with, script: `mcp_result_with_ui ui://x Text '{"a":'`}, invalid, ""},
		{"SDK-171", tool{env: with, script: `mcp_result_with_ui ui://x Text '1 2'`}, invalid, ""},
		{"SDK-171", tool{env: with, script: `mcp_result_with_ui ui://x Text '{"deep":"\ud83d\ude00"}'`},
			shown(`"Text"`, `{"deep":"😀"}`), ""},
		{"SDK-171", tool{env: without, script: `mcp_result_with_ui ui://x Text '{"a":1}'`}, shown(`"Text"`, ""), ""},
		{"SDK-171", tool{env: without, script: `mcp_result_with_ui ui://x '{"t": 1}' '{"a":1}'`},
			result(`{"success":true,"result":{"t":1}}`, `{"success":true,"result":{"t":1}}`, false), ""},
		{"SDK-171", tool{env: without, script: `mcp_result_with_ui`}, shown(`""`, ""), ""},
		{"SDK-185", tool{env: append([]string{"MCPBASH_MODE=minimal"}, with...),
			script: `mcp_result_with_ui ui://x Text '{"a": 1}'`}, shown(`"Text"`, `{"a": 1}`), ""},
	})
}

func TestToolMetaWithUI(t *testing.T) {
	t.Parallel()
	meta := func(uri, visibility string) outcome {
		return out(`{"ui":{"resourceUri":` + uri + `,"visibility":` + visibility + `}}` + "\n")
	}
	check(t, uiWays, []row{
		{"SDK-172", tool{script: `mcp_tool_meta_with_ui ui://x`}, meta(`"ui://x"`, `["model","app"]`), ""},
		{"SDK-172", tool{script: `mcp_tool_meta_with_ui 'ui://x"y' $' app ,\tmodel,,*'`},
			meta(`"ui://x\"y"`, `["app","model","*"]`), ""},
		{"SDK-172", tool{script: `IFS=x; mcp_tool_meta_with_ui uixy axpp`}, meta(`"uixy"`, `["axpp"]`), ""},
	})
}

// Arguments of the template functions, and their output without templates.
func TestUIPages(t *testing.T) {
	t.Parallel()
	const own = `mcp_ui_template_form() { printf 'form %s' "$1"; }; mcp_ui_template_data_table() { printf 'table %s' ` +
		`"$1"; }; `
	field := func(name, kind, label, options string) string {
		return `{"name":"` + name + `","type":"` + kind + `","label":"` + label + `","options":` + options + `}`
	}
	form := func(title, fields, tool string) outcome {
		return out(`form {"title":"` + title + `","fields":[` + fields + `],"submitTool":"` + tool + `"}`)
	}
	check(t, uiWays, []row{
		{"SDK-173", tool{script: own + `mcp_ui_form --title T --field notes --submit-tool st`},
			form("T", field("notes", "text", "Notes", "null"), "st"), ""},
		{"SDK-173", tool{script: own +
			`mcp_ui_form --title 'a "b"' --what --field log_type:select:a,b --field first_name-x:number --field é:textarea ` +
			`-x --submit-tool st`},
			form(`a \"b\"`, field("log_type", "select", "Log Type", `["a","b"]`)+","+field("first_name-x", "number",
				"First Name X", "null")+","+field("é", "textarea", "é", "null"), "st"), ""},
		{"SDK-173", tool{script: own + `mcp_ui_form; mcp_ui_form --title`},
			outcome{out: form("Form", "", "").out + form("", "", "").out}, ""},
		{"SDK-173", tool{script: own + `mcp_ui_form --field '*:select:*,?'`},
			form("Form", field("*", "select", "*", `["*","?"]`), ""), ""},
		{"SDK-173", tool{script: own + `mcp_ui_table --columns a,b`},
			out(`table {"title":"Data","columns":[{"key":"a","label":"a","sortable":true},{"key":"b","label":"b",` +
				`"sortable":true}]}`), ""},
		{"SDK-173", tool{script: own + `mcp_ui_table --title T what --columns ' a ,,"'`},
			out(`table {"title":"T","columns":[{"key":"a","label":"a","sortable":true},{"key":"\"","label":"\"",` +
				`"sortable":true}]}`), ""},
		{"SDK-173", tool{script: own + `mcp_ui_form() { echo mine; }; mcp_ui_form`}, out("mine\n"), ""},
		{"SDK-173", tool{script: `mcp_ui_template_form() { false; echo went on; }; mcp_ui_form || echo "rc $?"`},
			out("went on\n"), ""},
		{"SDK-173", tool{env: []string{"MCPBASH_HELPER_BIN"},
			script: `mcp_ui_form --title T || echo "rc $?"; mcp_ui_table`},
			outcome{out: "rc 1\n", err: "Error: mcp_ui_template_form not available\nError: mcp_ui_template_data_table not " +
				"available\n", rc: 1}, ""},
	})
	// Without functions of the tool, our program renders the template.
	got := tool{script: `mcp_ui_form --title 'A & B' --field log_type:select:a,b --submit-tool st`}.run(t)
	for _, want := range []string{"<!DOCTYPE html>", "<h2>A &amp; B</h2>", `<label for="log_type">Log Type</label>`,
		`<option value="a">a</option>`, `"submitTool":"st"`} {
		if got.rc != 0 || !strings.Contains(got.out, want) {
			t.Errorf("SDK-173: rc %d, no %s", got.rc, want)
		}
	}
	if got := (tool{script: `echo data | mcp_ui_table --columns a`}).run(t); !strings.Contains(got.out,
		`<th scope="col" data-key="a" data-sortable="true"`) {
		t.Errorf("SDK-173: %s", got.out)
	}
}

// RES-3, RES-390: the library file of the Bash edition.
func TestUITemplatesLibrary(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	if err := os.CopyFS(filepath.Join(tree, "lib"), lib.Files); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(tree, "sdk"), sdk.Files); err != nil {
		t.Fatal(err)
	}
	source := `source "` + tree + `/lib/ui-templates.sh"; `
	title := ` | grep -o '<h2>.*</h2>'`
	var rows []row
	for function, want := range map[string]string{"form": "Form", "data_table": "Data", "progress": "Progress",
		"diff_viewer": "Diff Viewer", "tree_view": "Tree View", "kanban": "Kanban Board"} {
		rows = append(rows, row{"RES-390", tool{script: source + `mcp_ui_template_` + function + title +
			`; mcp_ui_template_` + function + ` '{"title":"Mine"}'` + title},
			out("<h2>" + want + "</h2>\n<h2>Mine</h2>\n"), ""})
	}
	rows = append(rows,
		row{"RES-390", tool{script: source + `mcp_ui_generate_from_template kanban '{"title":"Mine"}'` + title},
			out("<h2>Mine</h2>\n"), ""},
		row{"RES-380", tool{script: source + `mcp_ui_generate_from_template chart '{}' || echo "rc $?"`},
			outcome{out: "rc 1\n", err: "Unknown template: chart\nThere are: form, data-table, progress, diff-viewer, " +
				"tree-view, kanban\n"}, ""},
		row{"SDK-173", tool{script: source + `mcp_ui_form --title 'By the library'` + title},
			out("<h2>By the library</h2>\n"), ""},
		row{"RES-390", tool{bare: true, script: `cd "` + tree +
			`/lib"; source ./ui-templates.sh; cd /; mcp_ui_template_form || echo "rc $?"`},
			outcome{out: "rc 1\n", err: "mcp-bash is neither in " + tree + "/lib/./../sdk/../bin nor on PATH\n"}, ""},
	)
	check(t, []way{byTable}, rows)
}
