// Package infer makes recipes from the help of programs.
package infer

import (
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/lazyregexp"
)

var (
	helpOption = lazyregexp.New(`^(?:--help(?:-.*)?|--version|--usage|--man|--manual|-help|-version|` +
		`--show-completion|--install-completion)$`)
	screenOption = lazyregexp.New(`^--(?:no-)?(?:colou?r|paginate|pager|progress|interactive|prompt|` +
		`hyperlink)(?:[-=].*)?$`)
	runsHelp = lazyregexp.New(`(?i)\b(?:execute|run|invoke|spawn|pipe .{0,20} (?:to|through))s? (?:the |` +
		`a |an |this |given |specified )*(?:command|program|shell|script|cmd|external|utility)\b|\bshell command\b|` +
		`\bcompress temporaries with PROG`)
	runsName = lazyregexp.New(`(?i)^--?(?:exec|execute|command|cmd|shell|editor|upload-pack|receive-pack|` +
		`to-command|use-compress-program|compress-program|pre|rsh|run|eval|ext-diff|open-files-in-pager|pass-through|` +
		`local-command|exec-batch)$`)
)

// Recipe makes a recipe from the description of a program. words is the command line that the
// tool runs. Everything that is guessed is in Unconfirmed.
func Recipe(p *usage.Program, words []string) *recipe.Recipe {
	r := &recipe.Recipe{
		Program: words[0], Command: words[1:], Title: strings.Join(words, " "), Summary: p.Summary,
		Output: recipe.Output{Type: "text"}, Capabilities: []string{"Edit"}, Dangers: map[string]string{},
	}
	if r.Summary == "" {
		r.Summary = "Runs " + strings.Join(words, " ") + "."
	}
	for _, o := range p.Options {
		option(r, o)
	}
	for i, o := range p.Operands {
		if p.Dashes && (p.DashesAt < 0 && i == 0 || p.DashesAt == i) {
			r.Arguments = append(r.Arguments, recipe.Argument{Words: []string{"--"}})
		}
		a := recipe.Argument{
			Name: property(r, strings.ToLower(o.Name)), Type: recipe.String, Description: o.Help, Required: o.Required,
			Repeat: o.Repeat, Dashes: p.Dashes && (p.DashesAt < 0 || p.DashesAt <= i),
		}
		if o.Kind == usage.Path {
			a.Type = recipe.Path
		}
		r.Arguments = append(r.Arguments, a)
	}
	if p.Stdin {
		r.Stdin = &recipe.Stdin{Name: property(r, "stdin"), Description: "Text for the program's standard input"}
		if p.DashInput {
			r.Stdin.Word = "-"
		}
	}
	return r
}

// option adds an option.
func option(r *recipe.Recipe, o *usage.Option) {
	if slices.ContainsFunc(o.Names, helpOption.MatchString) || o.Value != nil && o.Value.Words > 1 {
		return
	}
	name := o.Name()
	a := recipe.Argument{
		Name: property(r, name), Option: name, Description: o.Help, Type: recipe.Switch, Required: o.Required,
		Repeat:  o.Repeat,
		Aliases: slices.DeleteFunc(slices.Clone(o.Names), func(n string) bool { return n == name }),
	}
	if v := o.Value; v != nil {
		a.Type = recipe.String
		switch {
		case v.Kind == usage.Path:
			a.Type = recipe.Path
		case v.Kind == usage.Choice && v.Sure == usage.Certain && len(v.Choices) > 0:
			a.Type, a.Choices = recipe.Choice, v.Choices
		}
		if v.Sure < usage.Certain {
			a.Unconfirmed = append(a.Unconfirmed, "type")
		}
	} else if len(o.Negations) > 0 {
		a.Negation = o.Negations[0]
	}
	if slices.ContainsFunc(o.Names, runsName.MatchString) || runsHelp.MatchString(o.Help) {
		r.Dangers[name] = "runs other programs"
	}
	a.Only = r.Dangers[name] != "" || slices.ContainsFunc(o.Names, screenOption.MatchString)
	r.Arguments = append(r.Arguments, a)
}

// property returns a unique property name for an option or operand.
func property(r *recipe.Recipe, term string) string {
	name := strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, strings.TrimLeft(term, "-")), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = strings.TrimRight("option_"+name, "_")
	}
	name = name[:min(len(name), 60)]
	for unique, n := name, 2; ; n++ {
		if !slices.ContainsFunc(r.Arguments, func(a recipe.Argument) bool { return a.Name == unique }) {
			return unique
		}
		unique = fmt.Sprintf("%s_%d", name, n)
	}
}
