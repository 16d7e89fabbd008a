package usage

import (
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/text/lazyregexp"
)

// The phrases that declare that an option can be repeated, and those that declare the opposite.
var (
	times    = `(?:multiple times|more than once|several times|many times|any number of times|repeatedly|twice)\b`
	repeated = lazyregexp.New(`(?i)\b(?:can|may|could|to) be (?:\S+ ){0,3}?(?:` + times + `|repeated\b)|` +
		`\b(?:us|giv|specif|repeat|suppl|provid|set|add|appl|pass)(?:e|es|y|ies|ed|en|ied|ing|ying|)?(?: \S+){0,3}? ` +
		times + `|\brepeatable\b|\bwith (?:multiple|more than one) -|` +
		`\bmultiple options specify\b|\bcan repeat\b|\brepeat (?:for|to|this|it|the (?:option|flag))\b|` +
		`^\W*(?:multiple times|repeat this)|\bmultiple allowed\b|\beach (?:occurrence|instance|repetition)\b|` +
		`\b(?:is|are) (?:cumulative|additive)\b|\bto add more\b|\(default:? \[\]\)|\[default: \[\]\]|\[array\]|\[count\]|` +
		`\(allows multiple\)|\[multiple\]|\(multiple\)|\[can be repeated\]|\(-v+,|\[repeatable\]`)
	severalOf = lazyregexp.New(`(?i)\b(?:multiple|several|more than one)(?: \S+){0,3}? (?:may|can|are|could) ` +
		`(?:be )?(?:used|given|specified|supplied|provided|passed|defined|added|set|allowed|permitted|accepted)\b|` +
		`\bcan (?:use|specify|give|pass|have|supply|add) (?:multiple|several|more than one)\b`)
	once = lazyregexp.New(`(?i)\b(?:cannot|not|n't|only) be (?:\S+ ){0,2}?(?:` + times + `|once|repeated)|` +
		`\b(?:the |only the )(?:last|first)(?: \S+){0,3}? (?:is used|will be used|wins|takes|counts|` +
		`applies|has effect|is effective)|\bno (?:extra|further|additional) effect`)
	commas = lazyregexp.New(`(?i)\b(?:commas?|colons?|semicolons?|space|whitespace)\b[- ]?(?:separat|delimit)|` +
		`\b(?:separated|delimited) by|\bcomma`)
	// moreVerbose matches descriptions of switches that are counted.
	moreVerbose = lazyregexp.New(`(?i)^\W*increas\w+ (?:\S+ ){0,3}?(?:verbos|level|output)|\bmore verbose\b`)
	// collects matches names of options that add to a list, and pair the names of values that are an item of one.
	collects = lazyregexp.New(`^--?i?(?:exclude|include|ignored?)(?:-[a-z-]+)?$|` +
		`^--?(?:header|define|set|env|var|label|metadata|i?glob|assign|macro|add-[a-z]+|i?regexp)$`)
	pair     = lazyregexp.New(`(?i)^[a-z]+=[a-z]+$|^(?:k|key|n|nm|name):v(?:al(?:ue)?)?$`)
	pairHelp = lazyregexp.New(`(?i)\b(?:key|name|n)(?:=|:|/)v(?:alue)?\b`)
)

// decideRepeat determines whether an option can be given several times. A guess needs a name or a value of which
// programs usually accept several.
func (o *Option) decideRepeat() {
	v := o.Value
	switch {
	case o.Repeat:
	case once.MatchString(o.Help):
	case repeated.MatchString(o.Help), severalOf.MatchString(o.Help) && !commas.MatchString(o.Help):
		o.Repeat = true
	case v == nil:
		o.Repeat = moreVerbose.MatchString(o.Help) || o.doubled()
	case v.Kind != recipe.String && v.Kind != recipe.Path || v.Optional ||
		commas.MatchString(o.Help) || strings.Contains(v.Name, ",") || strings.HasSuffix(strings.ToLower(v.Name), "list"):
	case pair.MatchString(v.Name), pairHelp.MatchString(o.Help), slices.ContainsFunc(o.Names, collects.MatchString):
		o.Repeat, o.RepeatGuessed = true, true
	}
}

// doubled reports whether the description of a switch mentions its letter twice after one dash: "-vv".
func (o *Option) doubled() bool {
	return slices.ContainsFunc(o.Names, func(name string) bool {
		return isShort(name) && strings.Contains(" "+o.Help, name+name[1:]) &&
			!strings.Contains(o.Help, "-"+name+name[1:])
	})
}
