package usage

import (
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/lazyregexp"
)

// The names of types that libraries print themselves. These are certain.
var (
	wholeType = lazyregexp.New(`(?i)^(?:\+?u?int(?:s|8|16|32|64)?|integer(?: range)?)$`)
	floatType = lazyregexp.New(`(?i)^float(?:s|32|64| range)?$`)
)

// The names of values that indicate a kind. The kind is a guess, and so never narrows a schema.
var (
	urlName  = lazyregexp.New(`(?i)^(?:.*[-_ ])?(?:url|uri)s?$`)
	pathName = lazyregexp.New(`(?i)^(?:.*[-_. ])?(?:(?:in|out|log|config)?files?|file_?names?|dir_?names?|paths?|` +
		`pathname|dirs?|director(?:y|ies)|folder|fname|file_or_dir|file|dir)[0-9]?$`)
	pathHelp = lazyregexp.New(`(?i)^(?:the )?(?:path|file|directory|folder|filename)s? ` +
		`(?:to|of|in|from|with|where|containing)\b`)
	numberName = lazyregexp.New(`(?i)^(?:num|number|n|count|int|lines|cols|columns|width|depth|port|jobs|threads)$`)
)

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
	name := strings.Trim(v.Name, "<>[]{}=. ")
	whole, float := wholeType.MatchString(name), floatType.MatchString(name)
	if len(v.Choices) == 0 && !whole && !float {
		v.Choices = choicesIn(help)
	}
	switch {
	case len(v.Choices) > 0:
		v.Kind, v.Sure = recipe.Choice, Certain
	case whole:
		v.Kind, v.Sure = recipe.Integer, Certain
	case float:
		v.Kind, v.Sure = recipe.Number, Certain
	case strings.EqualFold(name, "text"):
		v.Kind, v.Sure = recipe.String, Certain
	case urlName.MatchString(name):
		v.Kind, v.Sure = recipe.URL, Guessed
	case pathName.MatchString(name):
		v.Kind, v.Sure = recipe.Path, Likely
	case pathHelp.MatchString(help):
		v.Kind, v.Sure = recipe.Path, Guessed
	case numberName.MatchString(name):
		v.Kind, v.Sure = recipe.Integer, Guessed
	default:
		v.Kind, v.Sure = recipe.String, Likely
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
