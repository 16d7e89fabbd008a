package wrap

import (
	"strings"
	"testing"

	"mcp-bash/pkg/scaffold/usage"
)

// WRAP-6: the options that a tool gets, and the reasons for the rest.
func TestChoose(t *testing.T) {
	help := "Usage: brew [OPTION]... --must=X FILE\n\n" +
		"  -a, --all          all\n      --color[=WHEN]  in colour\n      --exec=CMD      run a command\n" +
		"      --old           deprecated\n      --pair A B      two\n      --must=X        needed\n" +
		"      --rare          seldom\n  -v, --verbose       more\n      --delete        delete the files\n" +
		"      --help          help\n\nExamples:\n  brew --rare --rare\n  brew --rare\n"
	p := usage.Help([]byte(help), []string{"brew"})
	for name, c := range map[string]struct {
		Selection
		want, left string
	}{
		"all": {Selection{Max: 15}, "all must rare verbose delete", "--color --exec --old --pair --help"},
		"two": {Selection{Max: 2}, "must rare", "--color --exec --old --pair --help -a --delete -v"},
		"only": {Selection{Max: 1, Only: []string{"exec", "--old"}}, "exec old must",
			"-a --color --pair --rare -v --delete --help"},
		"without": {Selection{Max: 15, Without: []string{"-a", "delete"}}, "must rare verbose",
			"-a --color --exec --old --pair --delete --help"},
	} {
		plan, err := New("brew", Command{Words: []string{"brew"}, Program: "brew"}, p, c.Selection)
		if err != nil {
			t.Fatal(err)
		}
		var got, left []string
		for _, a := range plan.Arguments {
			if a.option != nil {
				got = append(got, a.Property)
			}
		}
		for _, l := range plan.LeftOut {
			first, _, _ := strings.Cut(l.Term, ",")
			left = append(left, first)
		}
		if strings.Join(got, " ") != c.want || strings.Join(left, " ") != c.left {
			t.Errorf("%s: %q, left out %q", name, got, left)
		}
		// --delete deletes, and --exec can do anything (WRAP-35, WRAP-36).
		if wants := name == "all" || name == "only"; plan.Destructive != wants {
			t.Errorf("%s: destructive is %v", name, plan.Destructive)
		}
	}
	if _, err := choose(p, Selection{Only: []string{"nothing"}}); err == nil {
		t.Error("an unknown option was taken")
	}
}
