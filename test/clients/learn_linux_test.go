package clients

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/test/checkout"
)

// calls are one call of each example's tool, as options of mcp-runtool.
var calls = map[string]map[string][]string{
	"00-hello": {"hello": {"--args", `{"name":"Ada"}`}},
	"01-arguments": {
		"box": {"--args", `{"text":"hi"}`}, "convert": {"--args", `{"value":-40,"from":"fahrenheit","to":"celsius"}`},
	},
	"02-progress": {"checksums": nil, "countdown": {"--args", `{"from":2,"pause":0.1}`}},
	"03-roots": {
		"list-files": {"--roots", "."}, "read-file": {"--roots", ".", "--args", `{"path":"README.md","lines":2}`},
		"show-roots": {"--roots", "."},
	},
	"04-embedded": {
		"attach": {"--roots", ".", "--args", `{"path":"documents/tides.md"}`}, "swatch": {"--args", `{"color":"#ff8800"}`},
	},
	"05-elicitation": {
		"link-account": {"--elicit", "{}"}, "order-pizza": {"--elicit", `{"size":"small","toppings":[]}`},
		"sign-up": {"--elicit", "{}"},
	},
	"06-wrap-cli":     {"audit": nil, "stock": {"--args", `{"item":"nuts"}`}},
	"08-any-language": {"letters": {"--args", `{"text":"Hello"}`}, "primes": {"--args", `{"limit":100}`}},
	"13-registry":     {"find-note": {"--args", `{"word":"bread"}`}},
	"14-mcp-app": {
		"board": nil, "move-card": {"--args", `{"cardId":"bike","toColumn":"done"}`}, "roll-dice": nil,
	},
	"15-asking": {
		"folders": {"--roots", "tools"}, "summarize": {"--args", `{"text":"It was a dark and stormy night."}`},
		"release": {"--args", `{"version":"1.4.2","changes":"Starts faster."}`, "--elicit", `{"kind":"minor"}`},
	},
	"16-wrapped": {
		"cut":  {"--args", `{"delimiter":",","fields":"1","file":["data/fruit.csv"]}`},
		"find": {"--args", `{"path":["data"],"name":"*.csv"}`},
		"grep": {"--args", `{"patterns":"apple","file":["data/fruit.csv"]}`},
		"sort": {"--args", `{"file":["data/fruit.csv"],"reverse":true}`},
		"wc":   {"--args", `{"lines":true,"stdin":"a\nb\n"}`},
	},
	"17-strangers-tool": {"word-count": {"--args", `{"note":"town"}`}},
	"18-library":        {"find-book": {"--args", `{"word":"compost"}`}},
	"19-plugin":         {"count-files": {"--roots", "tools"}},
	"21-large-results":  {"requests": {"--args", `{"lines":100}`}},
}

// The declaration that --learn suggests for a call of a tool suffices: with it, the same call ends
// alike, and the strictest mode refuses nothing (CF-53, CF-54).
func TestLearned(t *testing.T) {
	t.Parallel()
	if (confine.Offered().Lacks(&confine.Profile{})) != nil {
		t.Skip("this kernel cannot hold all")
	}
	for i, name := range slices.Sorted(maps.Keys(calls)) {
		if testing.Short() && i%3 > 0 && name != "17-strangers-tool" {
			continue
		}
		for tool, options := range calls[name] {
			t.Run(name+" "+tool, func(t *testing.T) {
				t.Parallel()
				dir := checkout.Example(t, name)
				declare(t, filepath.Join(dir, "tools", tool, "tool.meta.json"), tool, nil)
				run := func(mode string, more ...string) (stdout, stderr string) {
					cmd := exec.Command(filepath.Join(bin, "mcp-runtool"),
						slices.Concat([]string{tool, "--allow-self"}, options, more)...)
					cmd.Dir = dir
					cmd.Env = append(os.Environ(), "MCPBASH_CONFINE="+mode)
					var out, err strings.Builder
					cmd.Stdout, cmd.Stderr = &out, &err
					cmd.Run() // the result contains a failure
					return out.String(), err.String()
				}
				free, _ := run("off")
				if learned, output := run("off", "--learn", "--write"); !strings.Contains(learned, `"capabilities"`) {
					t.Fatalf("%s%s", learned, output)
				}
				got, output := run("all,required", "--explain")
				if name == "17-strangers-tool" { // it does what nothing allows
					if !strings.Contains(got, "14 words") {
						t.Error(got, output)
					}
					return
				}
				if strings.Contains(output, "refused: ") || failed(got) != failed(free) {
					t.Errorf("before: %swith what was learned: %s%s", free, got, output)
				}
			})
		}
	}
}

// The same for tools that no metadata file describes: what is learned goes into register.json by
// hand. And for the one that needs the network, with a server to download from.
func TestLearnedByHand(t *testing.T) {
	t.Parallel()
	if (confine.Offered().Lacks(&confine.Profile{})) != nil {
		t.Skip("this kernel cannot hold all")
	}
	net := online(t)
	net["MCP_DOWNLOAD_CONFIG"] = `{"allow":["` + publicHost + `"]}`
	for tool, c := range map[string]struct {
		example, args, want string
		env                 map[string]string
	}{
		"add-note": {"13-registry", `{"title":"x","text":"y"}`, `"text":"notes/x.md"`, nil},
		"archive":  {"13-registry", `{}`, `"text":"notes/archive.gz"`, nil},
		"fetch":    {"07-download", `{"url":"https://` + publicHost + `/page","name":"page"}`, `"bytes":`, net},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			dir := checkout.Example(t, c.example)
			run := func(program, mode string, words ...string) (stdout, stderr string) {
				cmd := exec.Command(filepath.Join(bin, program), words...)
				cmd.Dir = dir
				cmd.Env = append(environment("", checkout.Directory(t), c.env), "MCPBASH_CONFINE="+mode)
				var out, err strings.Builder
				cmd.Stdout, cmd.Stderr = &out, &err
				cmd.Run() // the output contains a failure
				return out.String(), err.String()
			}
			file := filepath.Join(dir, "tools", tool, "tool.meta.json")
			if c.example == "13-registry" {
				file = filepath.Join(dir, "server.d", "register.json")
				run("mcp-registry", "off", "register", "catalog/archive.json")
			}
			declare(t, file, tool, nil)
			call := []string{tool, "--allow-self", "--args", c.args}
			learned, output := run("mcp-runtool", "off", append(call, "--learn")...)
			var declaration map[string]json.RawMessage
			if err := json.Unmarshal([]byte(learned), &declaration); err != nil || declaration["capabilities"] == nil {
				t.Fatalf("%v: %s%s", err, learned, output)
			}
			declare(t, file, tool, declaration)
			got, output := run("mcp-runtool", "all,required", append(call, "--explain")...)
			if !strings.Contains(got, c.want) || failed(got) || strings.Contains(output, "refused: ") {
				t.Errorf("with %s: %s%s", learned, got, output)
			}
		})
	}
}

// declare replaces what a tool declares, in its metadata or in the list of tools of register.json.
func declare(t *testing.T, file, tool string, declaration map[string]json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(file)
	var document map[string]any
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	item := document
	tools, _ := document["tools"].([]any)
	for _, one := range tools {
		if one := one.(map[string]any); one["name"] == tool {
			item = one
		}
	}
	if item["name"] != tool {
		t.Fatalf("%s does not name %s", file, tool)
	}
	delete(item, "capabilities")
	delete(item, "confine")
	for name, value := range declaration {
		item[name] = value
	}
	if text, err = json.Marshal(document); err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func failed(result string) bool {
	return !strings.Contains(result, `"isError":false`)
}

// CF-53, WRAP-27: a tool that was wrapped from help reads nothing of the home directory while it is observed.
// Afterwards it cannot read it either. A listing of the home directory is not proposed.
func TestLearnedOfHelp(t *testing.T) {
	t.Parallel()
	if lacks := confine.Offered().Lacks(&confine.Profile{}); lacks != nil {
		t.Skipf("this kernel cannot hold %v", lacks)
	}
	dir, home := checkout.Copy(t, "testdata/family"), checkout.Directory(t)
	for file, text := range map[string]string{
		dir + "/scripts/show": "#!/bin/bash\nif [[ $1 == --help ]]; then echo 'Usage: show [--all]'; echo; " +
			"echo '  --all  show all'; exit; fi\ncat ~/key 2>/dev/null || echo nothing\n",
		dir + "/tools/lister/tool.sh":        "#!/bin/bash\nls \"$STORE\" /\ncat \"$STORE/key\"\n",
		dir + "/tools/lister/tool.meta.json": `{"name":"lister","description":"Lists files","confine":{"read":["./x"]}}`,
		home + "/key":                        "hunter2",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := checkout.WriteProgram(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(program, mode string, words ...string) (stdout, stderr string) {
		cmd := exec.Command(filepath.Join(bin, program), words...)
		cmd.Dir = dir
		cmd.Env = environment(dir, checkout.Directory(t), map[string]string{
			"MCPBASH_CONFINE": mode, "HOME": home, "STORE": home, "MCPBASH_TOOL_ENV_MODE": "allowlist",
			"MCPBASH_TOOL_ENV_ALLOWLIST": "STORE,GORACE",
		})
		var out, err strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &err
		cmd.Run() // the output contains a failure
		return out.String(), err.String()
	}
	run("mcp-scaffold", "off", "wrap", "./scripts/show", "--no-recipe")
	held := "read " + home + " (ls): " + home + " contains too much to be declared"
	for tool, want := range map[string]struct{ declaration, never string }{
		"show":   {`"exec": [` + "\n" + `      "scripts/show"`, "already declares all of it"},
		"lister": {`"read":["./x","~/key"],"exec":["ls"]`, held},
	} {
		learned, output := run("mcp-runtool", "off", tool, "--learn", "--write")
		text, err := os.ReadFile(filepath.Join(dir, "tools", tool, "tool.meta.json"))
		if err != nil || !strings.Contains(string(text), want.declaration) ||
			strings.Contains(string(text), `"./scripts/show"`) {
			t.Errorf("%s: %v %s\n%s\n%s", tool, err, text, learned, output)
		}
		if !strings.Contains(output, want.never) || strings.Contains(learned, `"`+home) ||
			strings.Contains(learned, `"~"`) {
			t.Errorf("%s: %s\n%s", tool, learned, output)
		}
	}
	_, output := run("mcp-runtool", "off", "lister", "--learn", "--write")
	if !strings.Contains(output, "already declares") {
		t.Error(output)
	}
	if got, output := run("mcp-runtool", "all,required", "show"); strings.Contains(got, "hunter2") ||
		!strings.Contains(got, "nothing") {
		t.Errorf("%s\n%s", got, output)
	}
}

// CF-55, CLI-815: a tool creates entries in the home directory and in the project's directory. The suggested
// declaration has these entries and not the directories. It suffices if the entries exist. Before the tool runs, the
// person is warned that the tool runs unconfined.
func TestLearnedBeforehand(t *testing.T) {
	t.Parallel()
	if lacks := confine.Offered().Lacks(&confine.Profile{}); lacks != nil {
		t.Skipf("this kernel cannot hold %v", lacks)
	}
	dir, home := checkout.Copy(t, "testdata/family"), checkout.Directory(t)
	toolDir := filepath.Join(dir, "tools", "maker")
	if err := os.MkdirAll(toolDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"tool.meta.json": `{"name":"maker","description":"Makes files"}`,
		"tool.sh": "#!/bin/bash\necho 'it runs' >&2\nset -e\nmkdir -p \"$STORE/notes\"\necho a >\"$STORE/notes/a\"\n" +
			"echo b >>\"$STORE/.list\"\necho c >>log.txt\necho done\n",
	} {
		if err := checkout.WriteProgram(filepath.Join(toolDir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(mode string, more ...string) (stdout, stderr string) {
		cmd := exec.Command(filepath.Join(bin, "mcp-runtool"), append([]string{"maker"}, more...)...)
		cmd.Dir = dir
		cmd.Env = environment(dir, checkout.Directory(t), map[string]string{
			"MCPBASH_CONFINE": mode, "HOME": home, "STORE": home, "MCPBASH_TOOL_ENV_MODE": "allowlist",
			"MCPBASH_TOOL_ENV_ALLOWLIST": "STORE,GORACE",
		})
		var out, err strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &err
		cmd.Run() // the output contains a failure
		return out.String(), err.String()
	}
	learned, output := run("off", "--learn", "--write", "--verbose")
	var declaration struct {
		Capabilities []string
		Confine      map[string][]string
	}
	if err := json.Unmarshal([]byte(learned), &declaration); err != nil || len(declaration.Capabilities) != 0 ||
		!slices.Equal(declaration.Confine["write"], []string{"log.txt", "~/.list", "~/notes"}) {
		t.Fatalf("%s, %v\n%s", learned, err, output)
	}
	warning, ran := strings.Index(output, "warning: --learn runs maker unconfined"), strings.Index(output, "it runs")
	if warning < 0 || ran < warning {
		t.Errorf("the warning does not come first:\n%s", output)
	}
	for _, line := range []string{
		"create the directory " + home + "/notes beforehand: mkdir -p " + home + "/notes;",
		"create the file " + home + "/.list beforehand: touch " + home + "/.list;",
		"create the file " + dir + "/log.txt beforehand: touch " + dir + "/log.txt;",
	} {
		if strings.Count(output, line) != 1 {
			t.Errorf("stderr without %q:\n%s", line, output)
		}
	}
	if got, output := run("all,required", "--explain"); failed(got) || !strings.Contains(got, "done") ||
		!strings.Contains(output, "nothing was refused") {
		t.Errorf("with what was learned: %s%s", got, output)
	}
	for _, made := range []string{home + "/notes", home + "/.list"} {
		if err := os.RemoveAll(made); err != nil {
			t.Fatal(err)
		}
	}
	want := `run-tool: refused: change ` + home + `/notes (mkdir): takes FileSystem, or "confine": ` +
		`{"write":["~/notes"]}, and the directory to be created beforehand`
	if got, output := run("all,required", "--explain"); !failed(got) || !strings.Contains(output, want) {
		t.Errorf("without what it needs beforehand: %s%s", got, output)
	}
}
