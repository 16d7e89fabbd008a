package wrap

import (
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/scaffold/recipe"
)

// AppendJSON adds the recipe of a tool to an open object (WRAP-5): every option and operand, and
// whether the tool offers it.
func (t *Tool) AppendJSON(b *rawjson.Builder) {
	r := t.Recipe
	b.Name("source").String(t.Source.kind())
	switch {
	case t.Source.Runner:
		b.Name("project").String(t.Source.File)
	case t.Source.File != "":
		b.Name("recipe").String(t.Source.File).Name("verified").Bool(r.Verified)
	}
	if t.Source.Version != "" {
		b.Name("version").String(t.Source.Version)
	}
	b.Name("title").String(r.Title).Name("summary").String(r.Summary).Name("options").Array()
	for i := range r.Arguments {
		if a := &r.Arguments[i]; a.Option != "" {
			t.appendOption(b, a)
		}
	}
	b.End().Name("operands").Array()
	for i := range r.Arguments {
		if a := &r.Arguments[i]; a.IsOperand() {
			b.Object().Name("name").String(a.Name)
			t.appendArgument(b, a)
		}
	}
	b.End().Name("exclusive").Array()
	for _, group := range r.Excludes {
		b.Strings(group)
	}
	b.End().Name("stdin").Bool(r.Stdin != nil).Name("leftOut").Array()
	for _, l := range t.LeftOut {
		b.Object().Name("option").String(l.Option).Name("why").String(l.Why).End()
	}
	b.End().Name("review").Strings(t.Review)
}

func (s Source) kind() string {
	switch {
	case s.File == "":
		return "help"
	case s.Runner:
		return "project"
	}
	return "recipe"
}

func (t *Tool) appendOption(b *rawjson.Builder, a *recipe.Argument) {
	b.Object().Name("names").Strings(append([]string{a.Option}, a.Aliases...))
	if a.Negation != "" {
		b.Name("negations").Array().String(a.Negation).End()
	}
	t.appendArgument(b, a)
}

// appendArgument adds what options and operands have in common, and ends the object.
func (t *Tool) appendArgument(b *rawjson.Builder, a *recipe.Argument) {
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
