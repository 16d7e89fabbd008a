package wrap

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/shell"
)

const (
	// unconfirmedMark begins the comment in tool.sh after an argument that was guessed from the program's help. A person
	// removes the comment after checking the argument.
	unconfirmedMark = "# unconfirmed: "
	// inRoot is for recipes that need it, and for tools from a help text, because it is not known which of their words
	// are paths.
	inRoot = `# Relative paths are those of the only root.
[[ ${MCP_ROOTS_COUNT-} != 1 ]] || cd "$MCP_ROOTS_PATHS" || exit
`
	// privateHome is for tools from a help text, because it is not known whether the program needs a home. It opens
	// nothing, because --learn would propose what a script opens.
	privateHome = `# A confined tool has a private home. Without this line it has yours.
[[ ${MCP_CONFINED-} != 1 ]] || export HOME=$TMPDIR
`
	// trialOf is for tools whose trial is a word for the program. Clients cannot send words.
	trialOf = `[[ $# == 0 ]] || exec "${argv[0]}" "$@" # mcp-bash run-tool --trial
`
	// answered adds the answer of a question to the input of the program. A call without an answer fails.
	answered = `# The program asks on the terminal. Here the user of the client answers.
answers=''
answer() { # ANSWER FILTER
  [[ $("$MCPBASH_JSON_TOOL_BIN" -r .action <<<"$1") == accept ]] || mcp_fail -32603 'The question was not answered'
  answers+=$("$MCPBASH_JSON_TOOL_BIN" -r "$2" <<<"$1")$'\n'
}
`
)

// body returns the lines of tool.sh that build the command line and run it.
func (t *Tool) body() string {
	var b strings.Builder
	r := t.offer
	for _, name := range slices.Sorted(maps.Keys(r.Environment)) {
		fmt.Fprintf(&b, "export %s=%s\n", name, shell.Quote(r.Environment[name]))
	}
	if t.Source.Runner { // nothing is known about the target
		b.WriteString(unconfirmedMark + "capabilities\n")
	}
	first, rest := []string{t.Program}, r.Arguments
	if _, placed := r.CommandAt(); !placed {
		first = append(first, r.Command...)
	}
	for len(rest) > 0 && len(rest[0].Words) > 0 {
		first, rest = append(first, rest[0].Words...), rest[1:]
	}
	fromHelp := t.Source.File == ""
	line := quoted(first)
	if own, ok := strings.CutPrefix(t.Program, "./"); ok && (fromHelp || r.InRoot) { // it is found from any directory
		line = strings.TrimRight(`"$PWD"/`+shell.Quote(own)+" "+quoted(first[1:]), " ")
	}
	fmt.Fprintf(&b, "argv=(%s)\n", line)
	if fromHelp || r.InRoot {
		b.WriteString(inRoot)
	}
	if fromHelp {
		b.WriteString(privateHome)
	}
	if t.Trial != nil && t.Trial.Words != nil {
		b.WriteString(trialOf)
	}
	for _, group := range r.Requires {
		if len(group) > 1 {
			fmt.Fprintf(&b, "mcp_argv_need .%s\n", strings.Join(group, " ."))
		}
	}
	for i := range rest {
		b.WriteString(t.line(&rest[i]) + "\n")
	}
	return b.String() + "\n" + t.start()
}

// line returns the line of tool.sh that adds an argument.
func (t *Tool) line(a *recipe.Argument) string {
	if len(a.Words) > 0 {
		return "argv+=(" + quoted(a.Words) + ")"
	}
	words := []string{"mcp_argv_operand", "argv", "." + a.Name}
	add := func(is bool, more ...string) {
		if is {
			words = append(words, more...)
		}
	}
	isSwitch := a.Type == recipe.Switch
	isOn := isSwitch && a.Default == true
	switch {
	case isSwitch:
		words[0] = "mcp_argv_switch"
	case a.Option != "":
		words[0] = "mcp_argv_option"
	}
	if a.Form == recipe.Equals {
		add(true, a.Option+"=")
	} else {
		add(a.Option != "", a.Option)
	}
	add(a.Negation != "" || isOn, a.Negation)
	add(isOn, "true")
	add(a.Form == recipe.Attached, "--attached")
	add(a.Type == recipe.Path, "--path")
	// A script or a program of unknown arguments runs in the only root.
	add(a.Type == recipe.Path && (t.Source.File == "" || t.Source.Script && t.Recipe.InRoot), "--relative")
	add(a.Unless != "", "--unless", "^("+a.Unless+")$")
	add(a.Dashes, "--any")
	add(a.Default != nil && !isSwitch, "--default", fmt.Sprint(a.Default))
	text := quoted(words)
	if len(a.Unconfirmed) > 0 {
		text += " " + unconfirmedMark + strings.Join(a.Unconfirmed, ", ")
	}
	return text
}

// start returns the lines of tool.sh that start the program, with its standard input.
func (t *Tool) start() string {
	run, last := `"${argv[@]}"`, `exec "${argv[@]}"`
	if t.Recipe.Stderr {
		run, last = run+" 2>&1", last+" 2>&1"
	}
	if kind := t.Recipe.Progress; kind != "" {
		run = "mcp_argv_progress " + shell.Quote(kind) + " " + run
		last = run
	}
	stdin := t.offer.Stdin
	switch {
	case len(t.Asks) > 0:
		return t.answers() + "printf '%s' \"$answers\" | " + run + "\n"
	case stdin == nil:
		return last + "\n"
	}
	word := ""
	if stdin.Word != "" {
		word = "  argv+=(" + shell.Quote(stdin.Word) + ")\n"
	}
	return fmt.Sprintf("input=()\nmcp_argv_operand input .%s --any\nif ((${#input[@]})); then\n%s"+
		"  printf '%%s' \"${input[0]}\" | %s\nelse\n  %s\nfi\n", stdin.Name, word, run, last)
}

// answers returns the lines of tool.sh that ask the user.
func (t *Tool) answers() string {
	var b strings.Builder
	b.WriteString(answered)
	for _, q := range t.Asks {
		call, filter := "mcp_elicit_string "+inQuotes(q.Text), ".content.value"
		switch {
		case q.YesNo:
			call, filter = "mcp_elicit_confirm "+inQuotes(q.Text), `if .content.confirmed then "y" else "n" end`
		case len(q.Choices) > 0:
			call = "mcp_elicit_choice " + inQuotes(q.Text) + " " + quoted(q.Choices)
			filter = ".content.choice as $c | " + string(recipe.Encode(q.Choices)) + " | index($c) + 1"
		}
		fmt.Fprintf(&b, "answer \"$(%s)\" %s\n", call, inQuotes(filter))
	}
	return b.String()
}

func quoted(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = shell.Quote(word)
		// Without quotation marks, ShellCheck takes these for mistakes in an array.
		if list[i] == word && (strings.Contains(word, ",") || strings.HasPrefix(word, "=")) {
			list[i] = inQuotes(word)
		}
	}
	return strings.Join(list, " ")
}

// inQuotes quotes a word for the shell, even if it needs no quotes.
func inQuotes(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// The time limits of a call in seconds: if the recipe sets none, and if the call reports progress.
const (
	defaultTimeout = 30
	maxTimeout     = 3600
)

// metadata is tool.meta.json.
type metadata struct {
	Schema       string              `json:"$schema,omitempty"`
	Name         string              `json:"name"`
	Title        string              `json:"title"`
	Description  string              `json:"description"`
	InputSchema  recipe.InputSchema  `json:"inputSchema"`
	Annotations  annotations         `json:"annotations,omitzero"`
	Capabilities []string            `json:"capabilities,omitzero"`
	Confine      map[string][]string `json:"confine,omitempty"`
	Output       recipe.Output       `json:"output"`
	TimeoutSecs  int                 `json:"timeoutSecs"`
	// Each report of progress restarts the time limit.
	Extends       bool   `json:"progressExtendsTimeout,omitempty"`
	MaxTimeout    int    `json:"maxTimeoutSecs,omitempty"`
	ValidateInput bool   `json:"validateInput"`
	Trial         *Trial `json:"trial,omitempty"`
}

type annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// metadata returns the content of tool.meta.json.
func (t *Tool) metadata(schemas string) []byte {
	r := t.offer
	m := metadata{
		Name: t.Name, Title: r.Title, Description: t.description(), InputSchema: r.InputSchema(), Output: r.Output,
		Annotations: annotations(r.Effects), Capabilities: t.capabilities(), Confine: map[string][]string{},
		TimeoutSecs: cmp.Or(r.TimeoutSecs, defaultTimeout), ValidateInput: true, Trial: t.Trial,
	}
	if schemas != "" {
		m.Schema = schemas + "/tool.schema.json"
	}
	if t.Destructive() { // (WRAP-35)
		no, yes := false, true
		m.Annotations.ReadOnly, m.Annotations.Destructive, m.Annotations.Idempotent = &no, &yes, nil
	}
	// A tool with declared capabilities cannot start other programs.
	if m.Capabilities != nil && !slices.Contains(m.Capabilities, string(access.Process)) {
		m.Confine["exec"] = slices.Concat([]string{access.Spell(t.Program, true)}, t.Starts, r.Starts)
	}
	for name, list := range map[string][]string{"read": t.Reads, "write": t.Writes} {
		if len(list) > 0 {
			m.Confine[name] = list
		}
	}
	if r.Progress != "" {
		m.Extends, m.MaxTimeout = true, maxTimeout
	}
	return rawjson.AppendIndent(nil, recipe.Encode(m), 0)
}

// capabilities returns the recipe's capabilities. A tool that offers a destructive argument can also write where the
// recipe only reads.
func (t *Tool) capabilities() []string {
	list := slices.Clone(t.offer.Capabilities)
	destructive := func(a recipe.Argument) bool { return a.Destructive }
	if at := slices.Index(list, string(access.Search)); at >= 0 && slices.ContainsFunc(t.offer.Arguments, destructive) {
		list[at] = string(access.Edit)
	}
	return list
}

// description returns the text from which a model chooses the tool.
func (t *Tool) description() string {
	text := t.Recipe.Summary
	for _, group := range t.offer.Requires {
		if len(group) > 1 {
			text += " Needs " + strings.Join(group, " or ") + "."
		}
	}
	return text + "\n\nRuns " + t.commandLine() + "."
}

// commandLine returns the program with its command.
func (t *Tool) commandLine() string {
	return strings.Join(append([]string{t.Words[0]}, t.Recipe.Command...), " ")
}

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
