package wrap

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/scaffold/usage"
)

// plan plans a tool from a help text.
func plan(t *testing.T, help string, c Command) *Plan {
	t.Helper()
	words := c.Words
	if words == nil {
		words = []string{"brew"}
	}
	prog := usage.Help([]byte(help), words)
	c.Words, c.Program = words, words[0]
	p, err := New("brew", c, prog, Selection{Max: 15})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// WRAP-36: capabilities that are declared, and the reviews of those that are not.
func TestCapabilities(t *testing.T) {
	const gnu = "Usage: brew [OPTION]... [FILE]\n\nBrew tea.\n\n  -a, --all     all\n"
	runs := gnu + "  --exec=CMD   run a command\n"
	for name, c := range map[string]struct {
		help    string
		command Command
		want    string
	}{
		"files":              {gnu, Command{}, "FileSystem"},
		"starts others":      {gnu, Command{Starts: true}, "FileSystem Process"},
		"a script":           {gnu, Command{Script: true, Starts: true}, "FileSystem Process"},
		"an option needs it": {runs, Command{Starts: true}, "FileSystem"},
		"looks up hosts":     {gnu, Command{Connects: true}, "FileSystem Network"},
		"a host":             {gnu + "  --imap-host=NAME   the server\n", Command{}, "FileSystem Network"},
		"a compressor":       {gnu + "  -z, --gzip    filter through gzip\n", Command{}, "FileSystem Process"},
		"git clone": {"usage: git clone [<options>] <dir>\n", Command{Words: []string{"git", "clone"}},
			"FileSystem Network Process"},
		"git log": {"usage: git log [<options>] [<path>]\n", Command{Words: []string{"git", "log"}},
			"FileSystem Process"},
		"nothing":   {"Usage: brew [OPTION]...\n\n  -a, --all   all\n", Command{Starts: true}, ""},
		"a command": {"Usage: brew [OPTION]... COMMAND [ARG]...\n\n  -a, --all   all\n", Command{}, "Process"},
	} {
		p := plan(t, c.help, c.command)
		var got []string
		for _, one := range p.Capabilities {
			got = append(got, string(one))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		meta := string(p.metadata(""))
		if wants := p.Capabilities != nil && !slices.Contains(p.Capabilities, access.Process); strings.Contains(meta,
			`"confine"`) != wants {
			t.Errorf("%s: %s", name, meta)
		}
	}
}

// WRAP-33, WRAP-34: an optional operand requires those before it. "-" precedes "--" if there
// is input. Colours that are always printed are turned off.
func TestOrder(t *testing.T) {
	p := plan(t, "usage: brew [-h] [--color {always,never}] [leaf] [pot] [-]\n\nReads from standard input.\n\n"+
		"options:\n  -h, --help       show this help message and exit\n"+
		"  --color {always,never}  when (default: always)\n", Command{})
	var schema struct {
		InputSchema struct{ DependentRequired map[string][]string }
	}
	if err := json.Unmarshal(p.metadata(""), &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.InputSchema.DependentRequired; len(got) != 1 || !slices.Equal(got["pot"], []string{"leaf"}) {
		t.Errorf("%v", got)
	}
	body := p.body()
	first, last := strings.Index(body, "argv+=(-)\n"), strings.Index(body, "argv+=(--)\n")
	if first < 0 || last < first || !strings.Contains(body, "argv=(brew --color=never)\n") {
		t.Error(body)
	}
}
