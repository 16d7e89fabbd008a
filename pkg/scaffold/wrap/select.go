package wrap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/lazyregexp"
)

var (
	helpOption = lazyregexp.New(`^(?:--help(?:-.*)?|--version|--usage|--man|--manual|-help|-version|` +
		`--show-completion|--install-completion)$`)
	screenOption = lazyregexp.New(`^--(?:no-)?(?:colou?r|paginate|pager|progress|interactive|prompt|` +
		`hyperlink)(?:[-=].*)?$`)
	screenHelp = lazyregexp.New(`(?i)\b(?:prompts? (?:before|for|whether)|interactive(?:ly)?|` +
		`open .{0,30}(?:browser|editor|pager)|ansi colou?rs?)\b`)
	runsHelp = lazyregexp.New(`(?i)\b(?:execute|run|invoke|spawn|pipe .{0,20} (?:to|through))s? (?:the |` +
		`a |an |this |given |specified )*(?:command|program|shell|script|cmd|external|utility)\b|\bshell command\b|` +
		`\bcompress temporaries with PROG`)
	runsName = lazyregexp.New(`(?i)^--?(?:exec|execute|command|cmd|shell|editor|upload-pack|receive-pack|` +
		`to-command|use-compress-program|compress-program|pre|rsh|run|eval|ext-diff|open-files-in-pager|pass-through|` +
		`local-command|exec-batch)$`)
	obsoleteHelp = lazyregexp.New(`(?i)^\W*(?:deprecated|obsolete|ignored|no[- ]op)|\b(?:is|` +
		`are) (?:deprecated|obsolete)|\[deprecated|\(deprecated|does nothing|has no effect|for (?:backwards? )?compatibility`)
	jsonFormatOpt = lazyregexp.New(`^--?(?:format|output|output-format|out-format|message-format|o|f|fmt|` +
		`outputformat|output-style|reporter)$`)
	jsonWord  = lazyregexp.New(`(?i)\bjson\b`)
	readsJSON = lazyregexp.New(`(?i)\b(?:input|parse|read|from|accept|fields)\b`)
)

// choose plans a tool for a program (WRAP-6, WRAP-30 to WRAP-36).
func choose(p *usage.Program, c Selection) (*Plan, error) {
	plan := &Plan{Program: p}
	plan.askJSON(p, c)
	plan.plainOutput(p)
	type ranked struct {
		option *usage.Option
		score  int
		at     int
	}
	var offered []ranked
	only, without := terms(p, c.Only), terms(p, c.Without)
	if bad := unknownTerms(p, append(slices.Clone(c.Only), c.Without...)); bad != "" {
		return nil, unknownOption(p, bad)
	}
	ranks := newRanking(p)
	for i, o := range p.Options {
		why := plan.unwritable(o)
		switch {
		case why != "":
		case slices.Contains(without, o):
			why = "--without"
		case slices.Contains(only, o):
		case len(c.Only) > 0 && !o.Required:
			why = "--only"
		case o.Required:
		default:
			why = unwanted(o)
		}
		if why == "" && plan.isFixed(o) {
			why = "always given"
		}
		if why != "" {
			plan.leave(o, why)
			continue
		}
		offered = append(offered, ranked{o, ranks.of(o, i), i})
	}
	slices.SortStableFunc(offered, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	kept := offered
	if limit := max(c.Max, 0); len(c.Only) == 0 && c.Max != 0 && len(offered) > limit {
		for limit < len(offered) && offered[limit].option.Required {
			limit++
		}
		kept = offered[:limit]
		for _, r := range offered[limit:] {
			plan.leave(r.option, fmt.Sprintf("beyond the first %d; --max-options or --only adds it", c.Max))
		}
	}
	slices.SortStableFunc(kept, func(a, b ranked) int { return cmp.Compare(a.at, b.at) })
	for _, r := range kept {
		plan.option(r.option)
	}
	plan.operands()
	plan.exclude()
	return plan, nil
}

// terms returns the options with the given names, with or without dashes.
func terms(p *usage.Program, names []string) (list []*usage.Option) {
	for _, name := range names {
		if o := findTerm(p, name); o != nil {
			list = append(list, o)
		}
	}
	return list
}

func findTerm(p *usage.Program, name string) *usage.Option {
	for _, prefix := range []string{"", "--", "-"} {
		if o := p.Find(prefix + name); o != nil {
			return o
		}
	}
	return nil
}

func unknownTerms(p *usage.Program, names []string) string {
	for _, name := range names {
		if findTerm(p, name) == nil {
			return name
		}
	}
	return ""
}

func unknownOption(p *usage.Program, name string) error {
	var names []string
	for _, o := range p.Options {
		for _, n := range o.Names {
			names = append(names, strings.TrimLeft(n, "-"))
		}
	}
	return cli.Usagef("%s has no option %s%s", strings.Join(p.Words, " "), name,
		cli.DidYouMean(strings.TrimLeft(name, "-"), names))
}

// unwritable returns the reason why an option cannot be offered, or "".
func (p *Plan) unwritable(o *usage.Option) string {
	if v := o.Value; v != nil && v.Words > 1 {
		return fmt.Sprintf("takes %d values at once, which wrap does not support", v.Words)
	}
	for _, name := range o.Names {
		if helpOption.MatchString(name) || name == "-h" && strings.Contains(strings.ToLower(o.Help), "help") {
			return "help"
		}
	}
	return ""
}

// unwanted returns the reason why an option is offered only on request, or "".
func unwanted(o *usage.Option) string {
	for _, name := range o.Names {
		switch {
		case screenOption.MatchString(name):
			return "is for a terminal"
		case runsName.MatchString(name):
			return "runs other programs; --only adds it"
		}
	}
	switch {
	case screenHelp.MatchString(o.Help):
		return "is for a terminal"
	case runsHelp.MatchString(o.Help):
		return "runs other programs; --only adds it"
	case obsoleteHelp.MatchString(o.Help):
		return "is obsolete"
	case o.Sure == usage.Guessed:
		return "appears only in a usage line, so it may not be an option"
	}
	return ""
}

// askJSON finds the option that makes a program print JSON (WRAP-39).
func (p *Plan) askJSON(prog *usage.Program, c Selection) {
	for _, o := range prog.Options {
		name := o.Name()
		if slices.Contains(c.Without, name) || slices.Contains(c.Without, strings.TrimLeft(name, "-")) {
			continue
		}
		if name == "--json" && (o.Value == nil || o.Value.Optional) && !readsJSON.MatchString(o.Help) {
			p.Fixed, p.JSON = []string{name}, true
			return
		}
		if !jsonFormatOpt.MatchString(name) || o.Value == nil || o.Value.Kind == usage.Path || o.Value.Several {
			continue
		}
		guessed := len(o.Value.Choices) == 0 && jsonWord.MatchString(o.Help) && !readsJSON.MatchString(o.Help)
		if !guessed && !slices.Contains(o.Value.Choices, "json") {
			continue
		}
		if guessed {
			p.review("%s json is always given: guessed from its description", name)
		}
		word, flags := joining(prog, o)
		switch {
		case strings.HasSuffix(word, "="), len(flags) > 0:
			p.Fixed = []string{word + "json"}
		default:
			p.Fixed = []string{word, "json"}
		}
		p.JSON = true
		return
	}
}

// plainOutput turns off colours that a program prints by default, even without a terminal.
func (p *Plan) plainOutput(prog *usage.Program) {
	for _, o := range prog.Options {
		if v := o.Value; v != nil && v.Default == "always" && screenOption.MatchString(o.Name()) &&
			slices.Contains(v.Choices, "never") {
			p.Fixed = append(p.Fixed, o.Name()+"=never")
		}
	}
}

func (p *Plan) isFixed(o *usage.Option) bool {
	for _, word := range p.Fixed {
		name, _, _ := strings.Cut(word, "=")
		if o.Has(name) {
			return true
		}
	}
	return false
}
