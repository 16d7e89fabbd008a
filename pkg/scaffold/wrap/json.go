package wrap

import (
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold/recipe"
)

// AppendJSON adds the recipe of a tool to an open object (WRAP-5): every option and operand, and
// whether the tool offers it.
func (t *Tool) AppendJSON(b *rawjson.Builder) {
	r := t.Recipe
	switch b.Name("source"); {
	case t.Source.File == "":
		b.String("help")
	case t.Source.Runner:
		b.String("project").Name("project").String(t.Source.File)
	case t.Source.Script:
		b.String("script").Name("script").String(t.Source.File)
	default:
		b.String("recipe").Name("recipe").String(t.Source.File).Name("verified").Bool(r.Verified)
	}
	if t.Source.Version != "" {
		b.Name("version").String(t.Source.Version)
	}
	b.Name("title").String(r.Title).Name("summary").String(r.Summary)
	t.appendArguments(b.Name("options"), func(a *recipe.Argument) bool { return a.Option != "" })
	t.appendArguments(b.Name("operands"), (*recipe.Argument).IsOperand)
	b.Name("exclusive").Array()
	for _, group := range r.Excludes {
		b.Strings(group)
	}
	b.End().Name("stdin").Bool(r.Stdin != nil).Name("leftOut").Array()
	for _, l := range t.LeftOut {
		b.Object().Name("option").String(l.Option).Name("why").String(l.Why).End()
	}
	b.End().Name("review").Strings(t.Review)
}

// appendArguments adds a list of the options or of the operands.
func (t *Tool) appendArguments(b *rawjson.Builder, listed func(*recipe.Argument) bool) {
	b.Array()
	for i := range t.Recipe.Arguments {
		a := &t.Recipe.Arguments[i]
		if !listed(a) {
			continue
		}
		if b.Object(); a.Option == "" {
			b.Name("name").String(a.Name)
		} else {
			b.Name("names").Strings(append([]string{a.Option}, a.Aliases...))
		}
		if a.Negation != "" {
			b.Name("negations").Strings([]string{a.Negation})
		}
		b.Name("kind").String(string(a.Type)).Name("repeat").Bool(a.Repeat).Name("required").Bool(a.Required)
		if len(a.Choices) > 0 {
			b.Name("choices").Strings(a.Choices)
		}
		b.Name("description").String(a.Description)
		if len(a.Unconfirmed) > 0 {
			b.Name("unconfirmed").Strings(a.Unconfirmed)
		}
		offered := ""
		if t.Offers(a.Name) {
			offered = a.Name
		}
		b.Name("offered").String(offered).End()
	}
	b.End()
}
