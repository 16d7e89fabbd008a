package usage

import (
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/lazyregexp"
)

var (
	pathName = lazyregexp.New(`(?i)^(?:.*[-_. ])?(?:(?:in|out|log|config)?files?|file_?names?|dir_?names?|paths?|` +
		`pathname|dirs?|director(?:y|ies)|folder|fname|file_or_dir|file|dir)[0-9]?$`)
)

// kinds are names of values that show a kind. Libraries print types themselves, which are certain. Other kinds
// are guesses, and so never narrow a schema.
var kinds = []struct {
	name *lazyregexp.Regexp
	kind recipe.Type
	sure Sure
}{
	{lazyregexp.New(`(?i)^(?:\+?u?int(?:s|8|16|32|64)?|integer(?: range)?)$`), recipe.Integer, Certain},
	{lazyregexp.New(`(?i)^float(?:s|32|64| range)?$`), recipe.Number, Certain},
	{lazyregexp.New(`(?i)^text$`), recipe.String, Certain},
	{lazyregexp.New(`(?i)^(?:.*[-_ ])?(?:url|uri)s?$`), recipe.URL, Guessed},
	{pathName, recipe.Path, Likely},
	{lazyregexp.New(`(?i)^(?:num|number|n|count|lines|cols|columns|width|depth|port|jobs|threads)$`), recipe.Integer,
		Guessed},
}

// The phrases that introduce choices: "one of a, b or c", "[possible values: a, b]", "(choices: a, b)".
var (
	braced = lazyregexp.New(`(?:\{|^[(\[])([a-zA-Z][\w.+-]*(?:\|[a-zA-Z][\w.+-]*)+)[})\]]`)
	oneOf  = lazyregexp.New(`(?i)\[possible values: |\bchoices: |\bone of(?: the following)?:? |` +
		`\b(?:valid|allowed|possible|supported) values(?: are)?: `)
	// choiceList matches a list after such a phrase. If the prose continues, its last word may not be a choice.
	choiceList      = lazyregexp.New(`^(` + choice + `(?:` + between + choice + `)+)(?:$|[);\]}]|\.(?:\s|$))`)
	choiceSeparator = lazyregexp.New(between)
	choiceWord      = lazyregexp.New(choice)
)

// A choice may be in quotation marks and be called the default.
const (
	choice  = "[(\\[{]?[\"'`]?([A-Za-z0-9][A-Za-z0-9_.+-]{0,39})[\"'`]?(?: ?\\((?:the )?default\\))?"
	between = `(?:, or |, and | or | and |, |\||/|,|; )`
)

// decide determines the kind of a value from its name and from the description (WRAP-28).
func (v *Value) decide(help string) {
	v.Kind, v.Sure = recipe.String, Likely
	for _, k := range slices.Backward(kinds) {
		if k.name.MatchString(strings.Trim(v.Name, "<>[]{}=. ")) {
			v.Kind, v.Sure = k.kind, k.sure
		}
	}
	if len(v.Choices) == 0 && (v.Sure < Certain || v.Kind == recipe.String) {
		v.Choices = choicesIn(help)
	}
	if len(v.Choices) > 0 {
		v.Kind, v.Sure = recipe.Choice, Certain
	}
}

// choicesIn returns the choices that a description lists: {a|b}, [a|b], or a list after "one of".
func choicesIn(help string) []string {
	if m := braced.FindStringSubmatch(help); m != nil {
		return listed(m[1])
	}
	at := oneOf.FindStringIndex(help)
	if at == nil {
		return nil
	}
	m := choiceList.FindStringSubmatch(help[at[1]:])
	if m == nil {
		return nil
	}
	var list []string
	for _, text := range choiceSeparator.Split(m[1], maxChoices) {
		word := strings.TrimRight(choiceWord.FindStringSubmatch(text)[1], ".")
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}
