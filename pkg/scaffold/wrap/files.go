package wrap

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
)

// The templates of a wrapped tool.
var (
	//go:embed files/tool.sh
	wrappedScript string
	//go:embed files/README.md
	wrappedReadme string
)

// A File is one of the files of a tool.
type File struct {
	Name   string
	Text   string
	Script bool // it is executable
}

// Files returns the files of the tool. schemas is the path to the schemas of the project, or
// "".
func (t *Tool) Files(schemas string) []File {
	by := "mcp-bash wrap"
	if t.Source.Script {
		by = "mcp-bash add"
	}
	texts := strings.NewReplacer(
		"__NAME__", t.Name, "__BY__", by, "__COMMAND__", t.commandLine(), "__SOURCE__", t.Source.String(),
		"__SUMMARY__", t.Recipe.Summary, "__BODY__", t.body(),
		"__REVIEW__", items(t.Review, "- [ ] ", "Nothing was guessed.\n"), "__LEFT__", t.leftOut(),
		"__EXAMPLES__", t.examples())
	tidy := func(s string) string { return strings.TrimRight(texts.Replace(s), "\n") + "\n" }
	return []File{
		{"tool.sh", tidy(wrappedScript), true},
		{"tool.meta.json", string(t.metadata(schemas)) + "\n", false},
		{"README.md", tidy(wrappedReadme), false},
	}
}

// examples returns the commands of the README: the examples that need only offered arguments, or else one with the
// required arguments.
func (t *Tool) examples() string {
	var b strings.Builder
	run := "    mcp-bash run-tool " + t.Name + " --allow-self"
	offers := func(name string) bool { return Has(t.offer, name) }
	for _, e := range t.Recipe.Examples {
		if len(slices.DeleteFunc(slices.Collect(maps.Keys(e.Arguments)), offers)) == 0 {
			b.WriteString(e.Description + "\n\n" + run + " --args " + inQuotes(string(recipe.Encode(e.Arguments))) + "\n\n")
		}
	}
	if b.Len() == 0 {
		b.WriteString(run)
		for _, a := range t.offer.Properties() {
			if t.offer.Needs(a) {
				b.WriteString(" " + a.Name + "=" + strings.ToUpper(a.Name))
			}
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// items makes a list of lines.
func items(list []string, before, none string) string {
	if len(list) == 0 {
		return none
	}
	return before + strings.Join(list, "\n"+before) + "\n"
}

// leftOut lists the options that the tool does not offer, by reason.
func (t *Tool) leftOut() string {
	names := map[string][]string{}
	for _, l := range t.LeftOut {
		names[l.Why] = append(names[l.Why], "`"+l.Option+"`")
	}
	var lines []string
	for _, why := range slices.Sorted(maps.Keys(names)) {
		lines = append(lines, strings.Join(names[why], ", ")+": "+why)
	}
	return items(lines, "- ", "Nothing.\n")
}
