package wrap

import "mcp-bash/pkg/json/rawjson"

// AppendJSON adds the findings about a program to an open object (WRAP-5). They include
// every option and operand with its source and certainty, and whether the tool offers it.
func (p *Plan) AppendJSON(b *rawjson.Builder) {
	prog := p.Program
	b.Name("style").String(string(prog.Style)).Name("summary").String(prog.Summary).Name("sources").Array()
	for _, s := range prog.Sources {
		b.String(string(s))
	}
	b.End().Name("options").Array()
	for _, o := range prog.Options {
		b.Object().Name("names").Strings(o.Names)
		if len(o.Negations) > 0 {
			b.Name("negations").Strings(o.Negations)
		}
		b.Name("kind").String(string(o.Kind())).Name("repeat").Bool(o.Repeat).Name("required").Bool(o.Required)
		if v := o.Value; v != nil {
			b.Name("value").Object().Name("name").String(v.Name).Name("sure").String(v.Sure.String()).
				Name("optional").Bool(v.Optional)
			if len(v.Choices) > 0 {
				b.Name("choices").Strings(v.Choices)
			}
			if v.Default != "" {
				b.Name("default").String(v.Default)
			}
			b.End()
		}
		b.Name("description").String(o.Help).Name("source").String(string(o.Source)).Name("sure").String(o.Sure.String())
		b.Name("offered").String(p.offered(o)).End()
	}
	b.End().Name("operands").Array()
	for _, o := range prog.Operands {
		b.Object().Name("name").String(o.Name).Name("kind").String(string(o.Kind)).Name("required").Bool(o.Required).
			Name("repeat").Bool(o.Repeat).Name("source").String(string(o.Source)).Name("sure").String(o.Sure.String()).End()
	}
	b.End().Name("subcommands").Array()
	for _, c := range prog.Subcommands {
		b.Object().Name("name").String(c.Name).Name("description").String(c.Help).
			Name("source").String(string(c.Source)).End()
	}
	b.End().Name("exclusive").Array()
	for _, group := range prog.Exclusive {
		b.Strings(group)
	}
	b.End().Name("stdin").Bool(prog.Stdin).Name("leftOut").Array()
	for _, l := range p.LeftOut {
		b.Object().Name("option").String(l.Term).Name("why").String(l.Why).End()
	}
	b.End().Name("review").Strings(p.Review)
}
