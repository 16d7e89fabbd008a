package source

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// leading reads a test that compares the first word with an option, such as [ "$1" = -n ] && { dry=1; shift; }. The
// operands that follow have the same places with and without the option.
func (r *reader) leading(cond *syntax.Stmt, body []*syntax.Stmt) bool {
	if c, ok := cond.Cmd.(*syntax.BinaryCmd); ok && c.Op == syntax.AndStmt && !cond.Negated {
		return r.leading(c.Y, body) // [ $# -gt 0 ] && [ "$1" = -n ]
	}
	list := r.tests(cond, false)
	if len(list) != 1 || list[0].kind != isOther || position(nameOf(list[0].x)) != 1 ||
		slices.ContainsFunc(list[0].words, isNoOption) {
		return false
	}
	r.leadingOption(branchOf{patterns: list[0].words, body: body, at: cond.Pos()})
	return true
}

func isNoOption(word string) bool { return len(word) < 2 || word[0] != '-' }

func (r *reader) leadingOption(b branchOf) {
	l := &loop{r: r, word: 1, value: 2}
	l.item(b)
	r.options = r.options || shifts(b.body)
}

// leadingCase reads a case over the first word whose patterns are options. Other words are the operands.
func (r *reader) leadingCase(c *syntax.CaseClause) bool {
	if position(nameOf(c.Word)) != 1 {
		return false
	}
	var options []branchOf
	for _, b := range items(c) {
		switch {
		case slices.Equal(b.patterns, []string{"*"}) && r.outcomeOf(b.body) == goesOn:
		case slices.ContainsFunc(b.patterns, isNoOption):
			return false
		default:
			options = append(options, b)
		}
	}
	for _, b := range options {
		r.leadingOption(b)
	}
	return len(options) > 0
}

// refuses reports whether a script without operands ends here because there are some.
func (r *reader) refuses(cond *syntax.Stmt, body []*syntax.Stmt) bool {
	if !slices.ContainsFunc(r.tests(cond, true), func(t test) bool { return t.kind == isLong }) {
		return false
	}
	if end := r.outcomeOf(body); end != fails && end != probablyFails {
		return false
	}
	only := true
	eachOf(body, func(n syntax.Node) {
		switch name := programOf(n); name {
		case "", "echo", "printf", "cat", "exit", "return":
		default:
			only = only && (isUsage(name) || isFailure(name))
		}
	})
	return only
}

// replace reads set -- WORDS. From here on, places count the new words. If a word contains an argument and more, or can
// become several, the places stay: the script may calculate with any of them.
func (r *reader) replace(words []*syntax.Word) {
	list, several := []*Argument{}, false
	for _, w := range words {
		_, isLiteral := literal(w)
		_, isQuoted := w.Parts[0].(*syntax.DblQuoted)
		a := r.argumentOf(w)
		if r.contains(w) && (a == nil || !isQuoted) {
			return
		}
		if several = several || !isLiteral && !isQuoted; !several {
			list = append(list, a)
		}
	}
	r.replaced, r.shifted = list, 0
}

// contains reports whether a word contains an argument.
func (r *reader) contains(w *syntax.Word) (found bool) {
	each(w, func(n syntax.Node) {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
			name := p.Param.Value
			found = found || position(name) > 0 || name == "@" || name == "*" || r.byVariable[name] != nil
		}
	})
	return found
}
