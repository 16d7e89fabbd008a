package wrap

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold/recipe"
)

// The templates of a wrapped tool.
var (
	//go:embed files/tool.sh
	wrappedScript string
	//go:embed files/README.md
	wrappedReadme string
	//go:embed files/smoke.sh
	wrappedSmoke string
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
	arguments := string(t.sample())
	texts := strings.NewReplacer(
		"__NAME__", t.Name, "__COMMAND__", t.commandLine(), "__SOURCE__", t.Source.String(),
		"__SUMMARY__", t.Recipe.Summary, "__BODY__", t.body(),
		"__REVIEW__", items(t.Review, "- [ ] ", "Nothing was guessed.\n"), "__LEFT__", t.leftOut(),
		"__EXAMPLES__", t.examples(), "__PROGRAM__", inQuotes(t.argv[0]), "__ARGUMENTS__", inQuotes(arguments))
	tidy := func(s string) string { return strings.TrimRight(texts.Replace(s), "\n") + "\n" }
	return []File{
		{"tool.sh", tidy(wrappedScript), true},
		{"tool.meta.json", string(t.metadata(schemas)) + "\n", false},
		{"README.md", tidy(wrappedReadme), false},
		{"smoke.sh", tidy(wrappedSmoke), true},
	}
}

// inQuotes quotes a word for the shell, even if it needs no quotes.
func inQuotes(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// calls returns the examples of the recipe that need only offered arguments.
func (t *Tool) calls() (list []recipe.Example) {
next:
	for _, e := range t.Recipe.Examples {
		for name := range e.Arguments {
			if !t.Offers(name) {
				continue next
			}
		}
		list = append(list, e)
	}
	return list
}

// examples returns the commands of the README.
func (t *Tool) examples() string {
	var b strings.Builder
	run := "    mcp-bash run-tool " + t.Name + " --allow-self --args "
	for _, e := range t.calls() {
		text, _ := json.Marshal(e.Arguments)
		b.WriteString(e.Description + "\n\n" + run + inQuotes(string(text)) + "\n\n")
	}
	if b.Len() == 0 {
		b.WriteString(run + inQuotes(string(t.sample())) + "\n\n")
	}
	return b.String()
}

// sample returns arguments that satisfy the schema: an example, or the required ones.
func (t *Tool) sample() []byte {
	if calls := t.calls(); len(calls) > 0 {
		text, _ := json.Marshal(calls[0].Arguments)
		return text
	}
	var b rawjson.Builder
	b.Object()
	needs := func(name string) bool {
		return slices.ContainsFunc(t.requires, func(group []string) bool { return group[0] == name })
	}
	for i := range t.arguments {
		if a := &t.arguments[i]; a.Name != "" && (a.Required || needs(a.Name)) {
			b.Name(a.Name)
			if a.IsList() {
				b.Array().Raw(encoded(sampleOf(a))).End()
			} else {
				b.Raw(encoded(sampleOf(a)))
			}
		}
	}
	if s := t.stdin; s != nil && needs(s.Name) {
		b.Name(s.Name).String("sample\n")
	}
	return b.End().Bytes()
}

// sampleOf returns a value of an argument. It ignores the pattern.
func sampleOf(a *recipe.Argument) any {
	switch a.Type {
	case recipe.Switch:
		return true
	case recipe.Integer, recipe.Number:
		if a.Minimum != nil {
			return *a.Minimum
		}
		return 1
	case recipe.Choice:
		return a.Choices[0]
	case recipe.Path:
		return "README.md"
	case recipe.URL:
		return "https://example.com/"
	}
	return "sample"
}

func items(list []string, before, none string) string {
	if len(list) == 0 {
		return none
	}
	return before + strings.Join(list, "\n"+before) + "\n"
}

// leftOut lists the options that the tool does not offer, by reason.
func (t *Tool) leftOut() string {
	var reasons []string
	names := map[string][]string{}
	for _, l := range t.LeftOut {
		if names[l.Why] == nil {
			reasons = append(reasons, l.Why)
		}
		names[l.Why] = append(names[l.Why], "`"+l.Option+"`")
	}
	var lines []string
	for _, why := range reasons {
		lines = append(lines, strings.Join(names[why], ", ")+": "+why)
	}
	return items(lines, "- ", "Nothing.\n")
}
