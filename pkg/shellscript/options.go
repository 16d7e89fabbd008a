package shellscript

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A loop reads the branches of one loop over arguments, or of a test of the first word.
type loop struct {
	r     *reader
	value int    // the place at which the value of an option is in a branch, or 0
	word  int    // the place of the word itself, or 0
	key   string // the variable that has the word, or ""
	after int    // the number of words that are taken outside of the branch
}

// A branchOf is a branch of a case, or of an if.
type branchOf struct {
	patterns []string
	body     []*syntax.Stmt
	at       syntax.Pos
}

// items returns the branches of a case.
func items(c *syntax.CaseClause) (list []branchOf) {
	for _, item := range c.Items {
		b := branchOf{body: item.Stmts, at: item.Pos()}
		for _, w := range item.Patterns {
			text, ok := literal(w)
			if !ok {
				text = "?"
			}
			b.patterns = append(b.patterns, text)
		}
		list = append(list, b)
	}
	return list
}

// optionLoop reads a while loop over the arguments. It reports whether the loop is one.
func (r *reader) optionLoop(w *syntax.WhileClause) bool {
	switch letters, variable := r.getopts(w.Cond); {
	case r.frame != r.caller:
		return false
	case variable != "":
		r.getoptsLoop(letters, variable, w.Do)
		return true
	case !calls(w.Do, "shift"):
		return false
	}
	l := &loop{r: r, word: 1, value: 2}
	at, c := l.caseIn(w.Do)
	if c == nil {
		return r.plainLoop(w)
	}
	before := shiftsIn(w.Do[:at])
	l.word, l.value, l.after = 1-before, 2-before, before+shiftsIn(w.Do[at+1:])
	for _, item := range items(c) {
		l.item(item)
	}
	r.options, r.frame.shifted = true, 0
	return true
}

// caseIn finds the case over the current word among the statements of a loop.
func (l *loop) caseIn(list []*syntax.Stmt) (at int, found *syntax.CaseClause) {
	for i, stmt := range list {
		for _, a := range assignments(stmt.Cmd) {
			if a.Name != nil && nameOf(a.Value) == "1" {
				l.key = a.Name.Value
			}
		}
		switch c := stmt.Cmd.(type) {
		case *syntax.CaseClause:
			if name := nameOf(c.Word); name == "1" || name != "" && name == l.key {
				return i, c
			}
		case *syntax.IfClause:
			if _, inner := l.caseIn(c.Then); inner != nil {
				return i, inner
			}
		}
	}
	return 0, nil
}

// plainLoop reads a loop that takes the words one by one and knows no options.
func (r *reader) plainLoop(w *syntax.WhileClause) bool {
	uses, name := false, ""
	eachOf(w.Do, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.ParamExp:
			uses = uses || n.Param != nil && n.Param.Value == "1"
		case *syntax.Assign:
			if nameOf(n.Value) == "1" && name == "" {
				name = n.Name.Value
			}
		case *syntax.CallExpr:
			if _, words := simple(n); uses && len(words) > 3 && words[0] == "[" && strings.HasPrefix(words[3], "-") {
				r.doubt(DoubtOptions, words[3], int(n.Pos().Line()))
			}
		}
	})
	if uses {
		r.all(name, w.Pos())
	}
	return uses
}

// optionFor reads a loop over options: for a in "$@"; do case $a in … It reports whether the loop has this form.
func (r *reader) optionFor(c *syntax.ForClause) bool {
	if !overAll(c) || r.frame != r.caller {
		return false
	}
	l := &loop{r: r, key: c.Loop.(*syntax.WordIter).Name.Value}
	_, choice := l.caseIn(c.Do)
	hasOption := func(b branchOf) bool { return !slices.ContainsFunc(b.patterns, isNoOption) }
	if choice == nil || !slices.ContainsFunc(items(choice), hasOption) {
		return false
	}
	for _, item := range items(choice) {
		l.item(item)
	}
	r.options = true
	return true
}

func isNoOption(word string) bool { return len(word) < 2 || word[0] != '-' }

// shiftsIn returns the number of words that statements take off in every case.
func shiftsIn(list []*syntax.Stmt) (n int) {
	for _, stmt := range list {
		switch c := stmt.Cmd.(type) {
		case *syntax.CallExpr:
			if _, words := simple(c); len(words) > 1 && words[0] == "shift" {
				n += position(words[1])
			} else if programOf(c) == "shift" {
				n++
			}
		case *syntax.BinaryCmd:
			n += shiftsIn([]*syntax.Stmt{c.X, c.Y})
		case *syntax.Block:
			n += shiftsIn(c.Stmts)
		case *syntax.IfClause: // the same in both branches, or optional
			n += shiftsIn(c.Then)
		}
	}
	return n
}

// item reads a branch: of options, or of other words.
func (l *loop) item(b branchOf) {
	var names []string
	equals, choices := false, true
	for _, p := range b.patterns {
		name, value, joined := strings.Cut(p, "=")
		if joined = joined && strings.ContainsAny(value, "*?["); !joined {
			name = p
		}
		switch {
		case p == "--" || p == "*":
			l.operands(b)
			return
		case isNoOption(p):
			choices = choices && p != "" && p[0] != '-'
		case !strings.ContainsAny(name, "*?["):
			equals = equals || joined
			names = append(names, name)
		default:
			choices = false
		}
	}
	if len(names) > 0 && !isHelp(names, l.r.outcomeOf(b.body) != goesOn) {
		l.option(l.r.option(names, b.at), b, equals)
	} else if len(names) == 0 && choices { // major|minor) part=$1
		a := l.operands(b)
		if a != nil && !slices.ContainsFunc(b.patterns, func(p string) bool { return strings.ContainsAny(p, "*?[") }) {
			a.Choices = append(a.Choices, b.patterns...)
		}
	}
}

// isHelp reports whether options print the usage or, if they end the script, the version. A tool does not need them.
func isHelp(names []string, ends bool) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		switch name {
		case "-h", "--help", "-?", "-help":
			return true
		case "-V", "--version":
			return ends
		}
		return false
	})
}

// option returns the argument with one of some options, or a new one.
func (r *reader) option(names []string, at syntax.Pos) *Argument {
	var a *Argument
	for _, have := range r.script.Arguments {
		if a == nil && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(have.Options, name) }) {
			a = have
		}
	}
	if a == nil {
		a = &Argument{Line: int(at.Line())}
		r.script.Arguments = append(r.script.Arguments, a)
	}
	for _, name := range names {
		if !slices.Contains(a.Options, name) {
			a.Options = append(a.Options, name)
		}
	}
	return a
}

// option reads the branch of an option.
func (l *loop) option(a *Argument, b branchOf, equals bool) {
	r := l.r
	f := &frame{words: make([]*Argument, max(l.value, 0)), option: a, equals: equals, key: l.key, place: l.word}
	if l.value > 0 {
		f.words[l.value-1] = a
	}
	r.within(f, b.body, false)
	switch {
	case equals && (f.joined || !f.reads):
		a.Equals = a.Equals || !a.Value
		a.Value = true
	case f.reads:
		a.Value, a.Equals = true, false
	case l.value > 0 && shiftsIn(b.body)+l.after >= 2:
		a.Value = true
		a.doubt(DoubtValue)
	case !a.Value:
		a.variable = cmp.Or(a.variable, f.literal)
	}
	a.Repeat = a.Repeat || a.Value && f.acts && r.onlyActs(b.body)
}

// operands reads a branch for words other than options. It returns the operand that the branch stores, if it is new.
func (l *loop) operands(b branchOf) *Argument {
	f := &frame{words: []*Argument{}, operand: &Argument{Value: true}, key: l.key, place: l.word}
	l.r.within(f, b.body, false)
	return f.stored
}

// getopts returns the letters and the variable of a condition that calls getopts.
func (r *reader) getopts(cond []*syntax.Stmt) (letters, variable string) {
	eachOf(cond, func(n syntax.Node) {
		c, isCall := n.(*syntax.CallExpr)
		if !isCall {
			return
		}
		if _, words := simple(c); len(words) > 2 && words[0] == "getopts" {
			letters, variable = cmp.Or(words[1], r.initial[nameOf(c.Args[1])]), words[2]
		}
	})
	return strings.TrimPrefix(letters, ":"), variable
}

// getoptsLoop reads the branches of a loop over getopts.
func (r *reader) getoptsLoop(letters, variable string, body []*syntax.Stmt) {
	branches := map[string]branchOf{}
	if _, c := (&loop{key: variable}).caseIn(body); c != nil {
		for _, b := range items(c) {
			for _, p := range b.patterns {
				branches[p] = b
			}
		}
	}
	l := &loop{r: r}
	for i, letter := range letters {
		names := []string{"-" + string(letter)}
		b, known := branches[string(letter)]
		switch {
		case !known || letter == ':':
		case letter == '-':
			r.longOptions(b)
		case !isHelp(names, r.outcomeOf(b.body) != goesOn):
			a := r.option(names, b.at)
			if a.Value = strings.HasPrefix(letters[i+1:], ":"); a.Value {
				r.byVariable["OPTARG"] = a
			}
			l.option(a, b, false)
			delete(r.byVariable, "OPTARG")
		}
	}
	r.options, r.frame.shifted = true, 0
}

// longOptions reads the long options that a getopts string with "-:" permits: a case over OPTARG.
func (r *reader) longOptions(b branchOf) {
	l := &loop{r: r, key: "OPTARG"}
	_, c := l.caseIn(b.body)
	if c == nil {
		return
	}
	for _, item := range items(c) {
		for i, p := range item.patterns {
			if p != "*" && p != "" && p[0] != '-' {
				item.patterns[i] = "--" + p
			}
		}
		if !slices.Equal(item.patterns, []string{"*"}) {
			l.item(item)
		}
	}
}

// leading reads a test that compares the first word with an option, such as [ "$1" = -n ] && { dry=1; shift; }, or with
// [[ $1 == --name=* ]]. The operands that follow have the same places with and without the option.
func (r *reader) leading(cond *syntax.Stmt, body []*syntax.Stmt) bool {
	if c, ok := cond.Cmd.(*syntax.BinaryCmd); ok && c.Op == syntax.AndStmt && !cond.Negated {
		return r.leading(c.Y, body) // [ $# -gt 0 ] && [ "$1" = -n ]
	}
	list := tests(cond, false)
	if len(list) != 1 || list[0].kind != isOther && list[0].kind != isNoValue {
		return false
	}
	return r.leadingOptions(list[0].name(), branchOf{list[0].words, body, cond.Pos()})
}

// leadingCase reads a case over the first word whose patterns are options. Other words are the operands.
func (r *reader) leadingCase(c *syntax.CaseClause) bool {
	list := slices.DeleteFunc(items(c), func(b branchOf) bool {
		return slices.Equal(b.patterns, []string{"*"}) && r.outcomeOf(b.body) == goesOn
	})
	return r.leadingOptions(nameOf(c.Word), list...)
}

// leadingOptions reads branches for values of a parameter. It reports whether they are options at the first place.
func (r *reader) leadingOptions(name string, list ...branchOf) bool {
	noOptions := func(b branchOf) bool { return slices.ContainsFunc(b.patterns, isNoOption) }
	if name != "1" || r.frame != r.caller || len(list) == 0 || slices.ContainsFunc(list, noOptions) {
		return false
	}
	l := &loop{r: r, word: 1, value: 2}
	for _, b := range list {
		l.item(b)
		r.options = r.options || calls(b.body, "shift")
	}
	return true
}

// refuses reports whether a script without operands ends here because there are some.
func (r *reader) refuses(cond *syntax.Stmt, body []*syntax.Stmt) bool {
	if !slices.ContainsFunc(tests(cond, true), func(t test) bool { return t.kind == isLong }) {
		return false
	}
	only := r.outcomeOf(body).isError()
	eachOf(body, func(n syntax.Node) {
		name := programOf(n)
		only = only && (name == "" || name == "exit" || prints(name) || isUsage(name) || isFailure(name))
	})
	return only
}

// act records that the branch of an option uses the value, which is one of several words.
func (r *reader) act(words []*syntax.Word) {
	if f := r.frame; f.option != nil {
		f.acts = f.acts || slices.ContainsFunc(words, func(w *syntax.Word) bool { return r.argumentOf(w) == f.option })
	}
}

// onlyActs reports whether the branch of an option calls functions and goes on, so that a second option adds to the
// first: -c) need "$OPTARG" ;;
func (r *reader) onlyActs(body []*syntax.Stmt) bool {
	only := !exits(body)
	eachOf(body, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.Assign:
			only = false
		case *syntax.CallExpr:
			name := programOf(n)
			isCheck := slices.Contains([]string{"shift", "exit", "[", "test", ":"}, name)
			only = only && (r.functions[name] != nil || isCheck || prints(name))
		}
	})
	return only
}

// exits reports whether one of some statements ends the script in every case.
func exits(list []*syntax.Stmt) bool {
	return slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return programOf(s.Cmd) == "exit" })
}

// settles reports whether a function can take one value only: it keeps it, changes the state of the shell, or ends the
// script. A function that counts, collects, or notes that something happened can take more.
func (r *reader) settles(f *syntax.FuncDecl) (found bool) {
	if settled, done := r.settled[f]; done {
		return settled
	}
	r.settled[f] = false // for functions that call each other
	if body, isBlock := f.Body.Cmd.(*syntax.Block); isBlock {
		found = exits(body.Stmts)
	}
	local, literals := map[string]bool{}, map[string]string{}
	each(f.Body, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.DeclClause:
			for _, s := range n.Args {
				if s.Name != nil && slices.Contains([]string{"local", "declare", "typeset"}, n.Variant.Value) {
					local[s.Name.Value] = true
				}
			}
		case *syntax.Assign:
			if n.Name == nil || local[n.Name.Value] || n.Naked || n.Append || isNext(n) || counts(n) {
				break
			}
			text, isLiteral := literal(n.Value)
			old, has := literals[n.Name.Value]
			found = found || !isLiteral || n.Array != nil || has && old != text
			literals[n.Name.Value] = text
		case *syntax.CallExpr:
			name := programOf(n)
			g := r.functions[name]
			changes := slices.Contains([]string{"cd", "source", ".", "read", "mapfile"}, name)
			found = found || changes || g != nil && r.settles(g)
		}
	})
	r.settled[f] = found
	return found
}

// counts reports whether a variable gets a value with the old one in it: n=$((n + 1)).
func counts(s *syntax.Assign) bool { return s.Value != nil && mentions(s.Value, s.Name.Value) }

// isNext reports whether an assignment adds to a list: list[n++]=x, list[${#list[@]}]=x.
func isNext(s *syntax.Assign) bool {
	switch index := s.Index.(type) {
	case *syntax.UnaryArithm:
		return index.Op == syntax.Inc
	case *syntax.Word:
		return mentions(index, s.Name.Value)
	}
	return false
}

// mentions reports whether the value of a variable is part of a word: $x, $((x + 1)).
func mentions(w *syntax.Word, name string) (found bool) {
	each(w, func(n syntax.Node) {
		l, isLit := n.(*syntax.Lit)
		found = found || isLit && l.Value == name
	})
	return found
}
