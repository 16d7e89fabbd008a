package wrap

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/shell"
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
func (p *Plan) Files(schemas string) []File {
	summary := p.Program.Summary
	if summary == "" {
		summary = "it has no description."
	}
	arguments := string(p.sample())
	program := p.argv[0]
	texts := strings.NewReplacer(
		"__NAME__", p.Name, "__COMMAND__", strings.Join(p.Words, " "), "__SUMMARY__", summary, "__BODY__", p.body(),
		"__REVIEW__", items(p.Review, "- [ ] ", "Nothing was guessed.\n"), "__LEFT__", p.leftOut(),
		"__PROGRAM__", inQuotes(program), "__ARGUMENTS__", inQuotes(arguments), "__SAMPLE__", inQuotes(arguments))
	tidy := func(s string) string { return strings.TrimRight(texts.Replace(s), "\n") + "\n" }
	return []File{
		{"tool.sh", tidy(wrappedScript), true},
		{"tool.meta.json", string(p.metadata(schemas)) + "\n", false},
		{"README.md", tidy(wrappedReadme), false},
		{"smoke.sh", tidy(wrappedSmoke), true},
	}
}

// inQuotes quotes a word for the shell, even if it needs no quotes.
func inQuotes(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// body returns the lines of tool.sh that build the command line and run it (WRAP-31).
func (p *Plan) body() string {
	var b strings.Builder
	b.WriteString("argv=(")
	for i, word := range append(slices.Clone(p.argv), p.Fixed...) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(shell.Quote(word))
	}
	b.WriteString(")\n")
	stdin, input := p.stdin(), ""
	if stdin != "" {
		input = fmt.Sprintf("input=()\nmcp_argv_operand input .%s --any\n", stdin)
	}
	operand, dashes := 0, p.Program.Dashes
	put := func(at int) {
		if dashes && (p.Program.DashesAt < 0 || p.Program.DashesAt == at) {
			b.WriteString("argv+=(--)\n")
			dashes = false
		}
	}
	dash := func() { // "-" is where input is read, and could be a file after "--"
		if operand == 0 && p.Program.DashInput && input != "" {
			b.WriteString(input + "((${#input[@]} == 0)) || argv+=(-)\n")
			input = ""
		}
	}
	terms := "" // of an expression, which follows the operands
	for _, a := range p.Arguments {
		switch {
		case a.operand != nil:
			dash()
			put(operand)
			operand++
		case a.option == nil:
			continue
		case p.Program.Expression && len(a.option.Name()) > 2:
			terms += a.line + "\n"
			continue
		}
		b.WriteString(a.line + "\n")
	}
	dash()
	if p.Program.DashesAt >= 0 {
		put(operand)
	}
	b.WriteString(terms)
	b.WriteByte('\n')
	run := `"${argv[@]}"`
	if p.JSON {
		run = `mcp_argv_json "${argv[@]}"`
	}
	switch {
	case stdin != "":
		b.WriteString(input)
		fmt.Fprintf(&b, "if ((${#input[@]})); then\n  printf '%%s' \"${input[0]}\" | %s\nelse\n  %s\nfi\n", run,
			execed(run, p.JSON))
	default:
		b.WriteString(execed(run, p.JSON) + "\n")
	}
	return b.String()
}

// stdin returns the property for standard input, or "".
func (p *Plan) stdin() string {
	for _, a := range p.Arguments {
		if a.option == nil && a.operand == nil {
			return a.Property
		}
	}
	return ""
}

func execed(run string, own bool) string {
	if own {
		return run
	}
	return "exec " + run
}

// sample returns arguments that satisfy the schema: the required ones.
func (p *Plan) sample() []byte {
	var b rawjson.Builder
	b.Object()
	for _, a := range p.Arguments {
		if !a.Required {
			continue
		}
		b.Name(a.Property)
		if a.List {
			b.Array()
		}
		switch {
		case a.option != nil && a.option.Value == nil && a.option.Repeat, a.Kind == usage.Integer, a.Kind == usage.Number:
			b.Int(1)
		case a.option != nil && a.option.Value == nil:
			b.Bool(true)
		case a.Kind == usage.Choice && len(a.choices) > 0:
			b.String(a.choices[0])
		case a.Kind == usage.Path:
			b.String("README.md")
		case a.Kind == usage.URL:
			b.String("https://example.com/")
		default:
			b.String("sample")
		}
		if a.List {
			b.End()
		}
	}
	return b.End().Bytes()
}

func items(list []string, before, none string) string {
	if len(list) == 0 {
		return none
	}
	return before + strings.Join(list, "\n"+before) + "\n"
}

// leftOut lists the options that the tool does not offer, by reason.
func (p *Plan) leftOut() string {
	var reasons []string
	names := map[string][]string{}
	for _, l := range p.LeftOut {
		if names[l.Why] == nil {
			reasons = append(reasons, l.Why)
		}
		names[l.Why] = append(names[l.Why], "`"+l.Term+"`")
	}
	var lines []string
	for _, why := range reasons {
		lines = append(lines, strings.Join(names[why], ", ")+": "+why)
	}
	return items(lines, "- ", "Nothing.\n")
}
