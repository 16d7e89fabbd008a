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
	by, again := "mcp-bash wrap", "mcp-bash wrap --update"
	if t.Source.Script {
		by, again = "mcp-bash add", "mcp-bash add --update"
	}
	texts := strings.NewReplacer(
		"__NAME__", t.Name, "__BY__", by, "__AGAIN__", again, "__COMMAND__", t.commandLine(), "__SOURCE__", t.Source.String(),
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

// inQuotes quotes a word for the shell, even if it needs no quotes.
func inQuotes(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// calls returns the examples of the recipe that need only offered arguments.
func (t *Tool) calls() []recipe.Example {
	lacks := func(name string) bool { return !t.Offers(name) }
	return slices.DeleteFunc(slices.Clone(t.Recipe.Examples), func(e recipe.Example) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(e.Arguments)), lacks)
	})
}

// examples returns the commands of the README.
func (t *Tool) examples() string {
	var b strings.Builder
	run := "    mcp-bash run-tool " + t.Name + " --allow-self --args "
	for _, e := range t.calls() {
		b.WriteString(e.Description + "\n\n" + run + inQuotes(string(encoded(e.Arguments))) + "\n\n")
	}
	if b.Len() == 0 {
		b.WriteString(run + inQuotes(string(t.sample())) + "\n\n")
	}
	return b.String()
}

// sample returns arguments that satisfy the schema: an example, or the required ones.
func (t *Tool) sample() []byte {
	if calls := t.calls(); len(calls) > 0 {
		return encoded(calls[0].Arguments)
	}
	values := map[string]any{}
	for _, a := range t.properties() {
		if a.Required || slices.ContainsFunc(t.requires, func(group []string) bool { return group[0] == a.Name }) {
			values[a.Name] = sampleOf(a)
		}
	}
	return encoded(values)
}

// samples are values of each type. They ignore patterns.
var samples = map[recipe.Type]any{recipe.Switch: true, recipe.Integer: 1, recipe.Number: 1, recipe.String: "sample",
	recipe.Path: "README.md", recipe.URL: "https://example.com/"}

// sampleOf returns a value of an argument.
func sampleOf(a *recipe.Argument) any {
	value := samples[a.Type]
	switch {
	case a.Type == recipe.Choice:
		value = a.Choices[0]
	case a.Minimum != nil:
		value = *a.Minimum
	}
	if a.IsList() {
		return []any{value}
	}
	return value
}

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
