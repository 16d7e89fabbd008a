package wrap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/shell"
)

// unconfirmedMark begins the comment in tool.sh after an argument that was guessed from the
// program's help. A person removes the comment after checking the argument.
const unconfirmedMark = "# unconfirmed: "

// body returns the lines of tool.sh that build the command line and run it (WRAP-31).
func (t *Tool) body() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.Recipe.Environment)) {
		fmt.Fprintf(&b, "export %s=%s\n", name, shell.Quote(t.Recipe.Environment[name]))
	}
	if t.Source.Runner { // nothing is known about the target
		b.WriteString(unconfirmedMark + "capabilities\n")
	}
	first, rest := []string{t.Program}, t.arguments
	if _, placed := t.Recipe.CommandAt(); !placed {
		first = append(first, t.Recipe.Command...)
	}
	for len(rest) > 0 && len(rest[0].Words) > 0 {
		first, rest = append(first, rest[0].Words...), rest[1:]
	}
	fmt.Fprintf(&b, "argv=(%s)\n", t.quoted(first))
	switch {
	case t.Source.File == "":
		b.WriteString(inRoot + privateHome)
	case t.Recipe.InRoot:
		b.WriteString(inRoot)
	}
	if t.Trial != nil && t.Trial.Words != nil {
		b.WriteString(trialOf)
	}
	for _, group := range t.requires {
		if len(group) > 1 {
			fmt.Fprintf(&b, "mcp_argv_need .%s\n", strings.Join(group, " ."))
		}
	}
	for i := range rest {
		b.WriteString(t.line(&rest[i]) + "\n")
	}
	b.WriteByte('\n')
	run, last := `"${argv[@]}"`, `exec "${argv[@]}"`
	if t.Recipe.Stderr {
		run, last = run+" 2>&1", last+" 2>&1"
	}
	if kind := t.Recipe.Progress; kind != "" {
		run = "mcp_argv_progress " + shell.Quote(kind) + " " + run
		last = run
	}
	switch {
	case len(t.Asks) > 0:
		b.WriteString(t.answers() + "printf '%s' \"$answers\" | " + run + "\n")
		return b.String()
	case t.stdin == nil:
		b.WriteString(last + "\n")
		return b.String()
	}
	fmt.Fprintf(&b, "input=()\nmcp_argv_operand input .%s --any\nif ((${#input[@]})); then\n", t.stdin.Name)
	if t.stdin.Word != "" {
		fmt.Fprintf(&b, "  argv+=(%s)\n", shell.Quote(t.stdin.Word))
	}
	fmt.Fprintf(&b, "  printf '%%s' \"${input[0]}\" | %s\nelse\n  %s\nfi\n", run, last)
	return b.String()
}

// answered adds the answer of a question to the input of the program. A call without an answer fails.
const answered = `# The program asks on the terminal. Here the user of the client answers.
answers=''
answer() { # ANSWER FILTER
  [[ $("$MCPBASH_JSON_TOOL_BIN" -r .action <<<"$1") == accept ]] || mcp_fail -32603 'The question was not answered'
  answers+=$("$MCPBASH_JSON_TOOL_BIN" -r "$2" <<<"$1")$'\n'
}
`

// answers returns the lines of tool.sh that ask the user.
func (t *Tool) answers() string {
	var b strings.Builder
	b.WriteString(answered)
	for _, q := range t.Asks {
		text := inQuotes(q.Text)
		switch {
		case q.YesNo:
			fmt.Fprintf(&b, "answer \"$(mcp_elicit_confirm %s)\" 'if .content.confirmed then \"y\" else \"n\" end'\n", text)
		case len(q.Choices) > 0:
			fmt.Fprintf(&b, "answer \"$(mcp_elicit_choice %s %s)\" '.content.choice as $c | [%s] | index($c) + 1'\n",
				text, quoted(q.Choices), strings.Join(quotedJSON(q.Choices), ", "))
		default:
			fmt.Fprintf(&b, "answer \"$(mcp_elicit_string %s)\" '.content.value'\n", text)
		}
	}
	return b.String()
}

func quotedJSON(list []string) (words []string) {
	for _, s := range list {
		words = append(words, strings.ReplaceAll(string(rawjson.Quote(s)), "'", `'\''`))
	}
	return words
}

// inRoot is for recipes that need it, and for tools from a help text, because it is not known which
// of their words are paths.
const inRoot = `# Relative paths are those of the only root.
[[ ${MCP_ROOTS_COUNT-} != 1 ]] || cd "$MCP_ROOTS_PATHS" || exit
`

// trialOf is for tools whose trial is a word for the program. Clients cannot send words.
const trialOf = `[[ $# == 0 ]] || exec "${argv[0]}" "$@" # mcp-bash run-tool --trial
`

// privateHome is for tools from a help text, because it is not known whether the program needs a home. It opens
// nothing, because --learn would propose what a script opens.
const privateHome = `# A confined tool has a private home. Without this line it has yours.
[[ ${MCP_CONFINED-} != 1 ]] || export HOME=$TMPDIR
`

// quoted writes the program and its words. A program of the project is found from any directory.
func (t *Tool) quoted(words []string) string {
	if own, ok := strings.CutPrefix(words[0], "./"); ok && (t.Source.File == "" || t.Recipe.InRoot) {
		return strings.TrimRight(`"$PWD"/`+shell.Quote(own)+" "+quoted(words[1:]), " ")
	}
	return quoted(words)
}

func quoted(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = shell.Quote(word)
		// Without quotation marks, ShellCheck takes these for mistakes in an array.
		if list[i] == word && (strings.Contains(word, ",") || strings.HasPrefix(word, "=")) {
			list[i] = "'" + word + "'"
		}
	}
	return strings.Join(list, " ")
}

// line returns the line of tool.sh that adds an argument.
func (t *Tool) line(a *recipe.Argument) string {
	var words []string
	switch {
	case len(a.Words) > 0:
		return "argv+=(" + quoted(a.Words) + ")"
	case a.Type == recipe.Switch:
		words = []string{"mcp_argv_switch", "argv", "." + a.Name, a.Option}
		isDefault := a.Default == true
		if a.Negation != "" || isDefault {
			words = append(words, a.Negation)
		}
		if isDefault {
			words = append(words, "true")
		}
	case a.Option == "":
		words = []string{"mcp_argv_operand", "argv", "." + a.Name}
	default:
		words = []string{"mcp_argv_option", "argv", "." + a.Name, a.Option}
		switch a.Form {
		case recipe.Equals:
			words[3] += "="
		case recipe.Attached:
			words = append(words, "--attached")
		}
	}
	if a.Type == recipe.Path {
		words = append(words, "--path")
		if t.Source.File == "" || t.Source.Script && t.Recipe.InRoot { // it runs in the only root
			words = append(words, "--relative")
		}
	}
	if a.Unless != "" {
		words = append(words, "--unless", "^("+a.Unless+")$")
	}
	if a.Dashes {
		words = append(words, "--any")
	}
	if a.Default != nil && a.Type != recipe.Switch {
		words = append(words, "--default", fmt.Sprint(a.Default))
	}
	text := quoted(words)
	if len(a.Unconfirmed) > 0 {
		text += " " + unconfirmedMark + strings.Join(a.Unconfirmed, ", ")
	}
	return text
}
