package wrap

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold/recipe"
)

// brew is a recipe with each kind of argument.
const brew = `{"program":"brew","aliases":["tea"],"title":"Brew tea","summary":"Brews tea.","verified":true,
"environment":{"POT":"a b"},"arguments":[
{"words":["--quiet"]},
{"name":"hot","option":"--hot","aliases":["-h"],"negation":"--cold","type":"switch","default":true,"description":"Hot."},
{"name":"stir","option":"-s","type":"switch","repeat":true},
{"name":"sugar","option":"--sugar","form":"equals","type":"integer","minimum":0,"maximum":9,"default":2},
{"name":"note","option":"-n","form":"attached","type":"string","pattern":"[a-z]+"},
{"name":"milk","option":"--milk","type":"choice","choices":["oat","cow"],"unconfirmed":["type","repeat"]},
{"name":"recipe","option":"--recipe","aliases":["-f"],"type":"path","only":true},
{"name":"leaf","option":"--leaf","type":"string","required":true,"dashes":true},
{"words":["--"]},
{"name":"pots","type":"path","default":"."},
{"name":"rest","type":"string","repeat":true,"dashes":true}],
"stdin":{"name":"water","description":"Water.","word":"-"},
"requires":[["rest","water"]],"excludes":[["stir","sugar"]],
"output":{"type":"text","exitCodes":{"2":"Cold.","1":"Empty."}},
"capabilities":["Search"],"starts":["kettle"],
"effects":{"readOnly":true,"destructive":false,"idempotent":true},"timeoutSecs":60,
"dangers":{"--recipe":"runs a program","--fire":"burns","-F":"burns"},
"examples":[{"description":"Brew.","arguments":{"leaf":"green","water":"1"}}]}`

func tool(t *testing.T, text string, s Selection) *Tool {
	t.Helper()
	r, err := recipe.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	made, err := New(Tool{Name: "brew", Words: []string{"brew"}, Program: "./bin/brew", Recipe: r,
		Source: Source{File: "brew.json"}}, s)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// WRAP-31 to WRAP-33: tool.sh has a line for each argument, in the recipe's order.
func TestScript(t *testing.T) {
	want := `export POT='a b'
argv=(./bin/brew --quiet)
mcp_argv_need .rest .water
mcp_argv_switch argv .hot --hot --cold true
mcp_argv_switch argv .stir -s
mcp_argv_option argv .sugar --sugar= --default 2
mcp_argv_option argv .note -n --attached
mcp_argv_option argv .milk --milk # unconfirmed: type, repeat
mcp_argv_option argv .leaf --leaf --any
argv+=(--)
mcp_argv_operand argv .pots --path --default .
mcp_argv_operand argv .rest --any

input=()
mcp_argv_operand input .water --any
if ((${#input[@]})); then
  argv+=(-)
  printf '%s' "${input[0]}" | "${argv[@]}"
else
  exec "${argv[@]}"
fi
`
	if got := tool(t, brew, Selection{}).body(); got != want {
		t.Errorf("%s", got)
	}
	got := tool(t, brew, Selection{Without: []string{"water"}}).body()
	if !strings.HasSuffix(got, "\nexec \"${argv[@]}\"\n") || strings.Contains(got, "mcp_argv_need") {
		t.Errorf("%s", got)
	}
}

// WRAP-31, WRAP-32: a program that runs in the root and prints results to standard error. A path can be a remote.
func TestInRoot(t *testing.T) {
	text := strings.NewReplacer(`"timeoutSecs":60`, `"inRoot":true,"stderr":true`,
		`"default":"."`, `"unless":"[a-z]+:.*"`).Replace(brew)
	got := tool(t, text, Selection{}).body()
	for _, line := range []string{"argv=(\"$PWD\"/bin/brew --quiet)\n" + inRoot + "mcp_argv_need",
		"\nmcp_argv_operand argv .pots --path --unless '^([a-z]+:.*)$'\n",
		`| "${argv[@]}" 2>&1`, `exec "${argv[@]}" 2>&1`} {
		if !strings.Contains(got, line) {
			t.Errorf("%s\nlacks %s", got, line)
		}
	}
}

// WRAP-31, WRAP-34: a program that shows its progress.
func TestProgress(t *testing.T) {
	made := tool(t, strings.Replace(brew, `"timeoutSecs":60`, `"timeoutSecs":60,"progress":"rsync"`, 1), Selection{})
	if got := made.body(); !strings.HasSuffix(got, `  printf '%s' "${input[0]}" | mcp_argv_progress rsync "${argv[@]}"
else
  mcp_argv_progress rsync "${argv[@]}"
fi
`) {
		t.Error(got)
	}
	if got := string(made.metadata("")); !strings.Contains(got, `"progressExtendsTimeout": true`) {
		t.Error(got)
	}
}

// WRAP-34 to WRAP-36: the metadata of a tool.
func TestMetadata(t *testing.T) {
	want := `{"name":"brew","title":"Brew tea","description":"Brews tea. Needs rest or water.\n\nRuns brew.",
"inputSchema":{"type":"object","properties":{
"hot":{"type":"boolean","default":true,"description":"Hot. (--hot)"},
"stir":{"type":"integer","minimum":0,"maximum":9,"description":"(-s)"},
"sugar":{"type":"integer","minimum":0,"maximum":9,"default":2,"description":"(--sugar)"},
"note":{"type":"string","pattern":"^(?:[a-z]+)$","description":"(-n)"},
"milk":{"type":"string","enum":["oat","cow"],"description":"(--milk)"},
"leaf":{"type":"string","description":"(--leaf)"},
"pots":{"type":"string","minLength":1,"default":"."},
"rest":{"type":"array","items":{"type":"string"},"maxItems":100},
"water":{"type":"string","description":"Water."}},
"required":["leaf"],
"dependentSchemas":{"stir":{"properties":{"sugar":{"not":{}}}},"sugar":{"properties":{"stir":{"not":{}}}}},
"additionalProperties":false},
"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true},
"capabilities":["Search"],"confine":{"exec":["bin/brew","kettle"]},
"output":{"type":"text","exitCodes":{"1":"Empty.","2":"Cold."}},"timeoutSecs":60,"validateInput":true}`
	same(t, tool(t, brew, Selection{}).metadata(""), want)
}

// same compares JSON by meaning.
func same(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	canonical := func(doc json.RawMessage) string { return string(rawjson.AppendCanonical(nil, rawjson.Normal(doc))) }
	if canonical(got) != canonical(json.RawMessage(want)) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// WRAP-6, WRAP-35: the options that a tool gets, the reasons for the rest, and what makes the tool
// destructive.
func TestSelection(t *testing.T) {
	for name, c := range map[string]struct {
		Selection
		want, left  string
		destructive bool
	}{
		"all": {Selection{}, "hot stir sugar note milk leaf pots rest", "--recipe --fire -F", false},
		"two": {Selection{Max: 2}, "hot stir leaf pots rest", "--sugar -n --milk --recipe --fire -F", false},
		"only": {Selection{Only: []string{"-h", "f"}}, "hot recipe leaf pots rest",
			"-s --sugar -n --milk --fire -F", true},
		"without": {Selection{Without: []string{"--stir", "rest"}}, "hot sugar note milk leaf pots",
			"-s rest --recipe --fire -F", false},
	} {
		made := tool(t, brew, c.Selection)
		var got, left []string
		for _, a := range made.offer.Properties() {
			if a.Name != "water" {
				got = append(got, a.Name)
			}
		}
		for _, l := range made.LeftOut {
			first, _, _ := strings.Cut(l.Option, ",")
			left = append(left, first)
		}
		slices.Sort(left)
		want := strings.Fields(c.left)
		slices.Sort(want)
		if strings.Join(got, " ") != c.want || !slices.Equal(left, want) || made.Destructive() != c.destructive {
			t.Errorf("%s: %q, left out %q, destructive %v", name, got, left, made.Destructive())
		}
		if meta := string(made.metadata("")); strings.Contains(meta, `"destructiveHint": true`) != c.destructive {
			t.Errorf("%s: %s", name, meta)
		}
	}
	r, _ := recipe.Parse([]byte(brew))
	for names, want := range map[string]string{
		"fire": "does not offer --fire: it burns", "F": "-F: it burns", "suger": "sugar", "leaf": "each call needs leaf",
	} {
		_, err := New(Tool{Words: []string{"brew"}, Program: "brew", Recipe: r}, Selection{Without: []string{names}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", names, err)
		}
	}
}

// WRAP-34: an optional operand requires the one before it, up to a list or fixed words.
func TestOrder(t *testing.T) {
	made := tool(t, strings.Replace(brew, `{"name":"pots","type":"path","default":"."}`,
		`{"name":"pots","type":"path"},{"name":"lid","type":"string"}`, 1), Selection{})
	var schema struct {
		InputSchema struct{ DependentRequired map[string][]string }
	}
	if err := json.Unmarshal(made.metadata(""), &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.InputSchema.DependentRequired; len(got) != 2 || !slices.Equal(got["lid"], []string{"pots"}) {
		t.Errorf("%v", got)
	}
}
