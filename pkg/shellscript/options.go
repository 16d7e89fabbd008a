package shellscript

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An argumentLoop reads the branches of one loop over the arguments, or of a test of the first argument.
type argumentLoop struct {
	r             *reader
	word          currentWord
	valuePosition int // n if the value of an option is $n in a branch, or 0
	shiftsOutside int // words that the loop shifts outside of the branch
}

// A currentWord is the argument that a loop looks at in one pass.
type currentWord struct {
	position int    // n if $n has it, or 0
	variable string // the variable that has it, or ""
}

// A branch is a branch of a case, or an if. Its patterns can be options (-n|--name), or match operands (*).
type branch struct {
	patterns []string
	body     []*syntax.Stmt
	pos      syntax.Pos
}

// branchesOf returns the branches of a case, not nil.
func branchesOf(c *syntax.CaseClause) []branch {
	list := make([]branch, 0, len(c.Items))
	for _, item := range c.Items {
		b := branch{body: item.Stmts, pos: item.Pos()}
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

// whileOverOptions reads a while loop over the arguments, and reports whether the loop is one.
func (r *reader) whileOverOptions(w *syntax.WhileClause) bool {
	switch letters, variable := r.getopts(w.Cond); {
	case r.frame != r.scriptFrame:
		return false
	case variable != "":
		r.getoptsLoop(letters, variable, w.Do)
		return true
	case !callsAny(w.Do, "shift"):
		return false
	}
	l := &argumentLoop{r: r}
	at, branches := l.findCase(w.Do)
	if branches == nil {
		return r.whileOverOperands(w)
	}
	before := countShifts(w.Do[:at])
	l.word.position, l.valuePosition, l.shiftsOutside = 1-before, 2-before, before+countShifts(w.Do[at+1:])
	for _, b := range branches {
		l.branch(b)
	}
	r.optionsRead, r.frame.shifted = true, 0
	return true
}

// findCase finds the case over the current word among the statements of a loop, and the variable that has the word. It
// returns the index of the statement and the branches, or nil.
func (l *argumentLoop) findCase(list []*syntax.Stmt) (at int, found []branch) {
	for i, stmt := range list {
		for _, a := range assignments(stmt.Cmd) {
			if a.Name != nil && parameterOf(a.Value) == "1" {
				l.word.variable = a.Name.Value
			}
		}
		switch c := stmt.Cmd.(type) {
		case *syntax.CaseClause:
			if name := parameterOf(c.Word); name == "1" || name != "" && name == l.word.variable {
				return i, branchesOf(c)
			}
		case *syntax.IfClause:
			if _, inner := l.findCase(c.Then); inner != nil {
				return i, inner
			}
		}
	}
	return 0, nil
}

// whileOverOperands reads a loop that shifts the arguments one by one and has no options.
func (r *reader) whileOverOperands(w *syntax.WhileClause) bool {
	uses, name := false, ""
	inspectAll(w.Do, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.ParamExp:
			uses = uses || n.Param != nil && n.Param.Value == "1"
		case *syntax.Assign:
			if parameterOf(n.Value) == "1" && name == "" {
				name = n.Name.Value
			}
		case *syntax.CallExpr:
			if _, words := literalWords(n); uses && len(words) > 3 && words[0] == "[" && strings.HasPrefix(words[3], "-") {
				r.doubt(DoubtOptions, words[3], int(n.Pos().Line()))
			}
		}
	})
	if uses {
		r.resolveRest(1, name, w.Pos())
	}
	return uses
}

// forOverOptions reads for a in "$@"; do case $a in …, and reports whether the loop has this form.
func (r *reader) forOverOptions(c *syntax.ForClause) bool {
	if !loopsOverArguments(c) || r.frame != r.scriptFrame {
		return false
	}
	l := &argumentLoop{r: r, word: currentWord{variable: c.Loop.(*syntax.WordIter).Name.Value}}
	_, branches := l.findCase(c.Do)
	isOptions := func(b branch) bool { return !slices.ContainsFunc(b.patterns, isNotOption) }
	if !slices.ContainsFunc(branches, isOptions) {
		return false
	}
	for _, b := range branches {
		l.branch(b)
	}
	r.optionsRead = true
	return true
}

func isNotOption(word string) bool { return len(word) < 2 || word[0] != '-' }

// countShifts returns the number of words that statements shift in every case.
func countShifts(list []*syntax.Stmt) (n int) {
	for _, stmt := range list {
		switch c := stmt.Cmd.(type) {
		case *syntax.CallExpr:
			if _, words := literalWords(c); len(words) > 1 && words[0] == "shift" {
				n += number(words[1])
			} else if commandName(c) == "shift" {
				n++
			}
		case *syntax.BinaryCmd:
			n += countShifts([]*syntax.Stmt{c.X, c.Y})
		case *syntax.Block:
			n += countShifts(c.Stmts)
		case *syntax.IfClause: // the same in both branches, or optional
			n += countShifts(c.Then)
		}
	}
	return n
}

// branch reads a branch for options or for operands.
func (l *argumentLoop) branch(b branch) {
	var names []string
	equals, choices := false, true
	for _, p := range b.patterns {
		name, value, joined := strings.Cut(p, "=")
		if joined = joined && strings.ContainsAny(value, "*?["); !joined {
			name = p
		}
		switch {
		case p == "--" || p == "*":
			l.operandBranch(b)
			return
		case isNotOption(p):
			choices = choices && p != "" && p[0] != '-'
		case !strings.ContainsAny(name, "*?["):
			equals = equals || joined
			names = append(names, name)
		default:
			choices = false
		}
	}
	if len(names) > 0 && !isHelp(names, l.r.outcomeOf(b.body) != continues) {
		l.optionBranch(l.r.addOption(names, b.pos), b, equals)
	} else if len(names) == 0 && choices { // major|minor) part=$1
		a := l.operandBranch(b)
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

// addOption returns the argument that has one of the names, or a new one, with all the names.
func (r *reader) addOption(names []string, at syntax.Pos) *Argument {
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

// optionBranch reads the branch for an option. equals reports that a pattern is --name=*.
func (l *argumentLoop) optionBranch(a *Argument, b branch, equals bool) {
	r := l.r
	f := &frame{positional: make([]*Argument, max(l.valuePosition, 0)), word: l.word, option: a, equalsForm: equals}
	if l.valuePosition > 0 {
		f.positional[l.valuePosition-1] = a
	}
	r.inFrame(f, b.body, false)
	switch {
	case equals && (f.readsJoined || !f.readsNext):
		a.Equals = a.Equals || !a.Value
		a.Value = true
	case f.readsNext:
		a.Value, a.Equals = true, false
	case l.valuePosition > 0 && countShifts(b.body)+l.shiftsOutside >= 2:
		a.Value = true
		a.doubt(DoubtValue)
	case !a.Value:
		a.variable = cmp.Or(a.variable, f.flagVariable)
	}
	a.Repeat = a.Repeat || a.Value && f.usesValue && r.onlyActs(b.body)
}

// operandBranch reads a branch for operands. It returns the operand that the branch stores, if it is new.
func (l *argumentLoop) operandBranch(b branch) *Argument {
	f := &frame{positional: []*Argument{}, word: l.word, operand: &Argument{Value: true}}
	l.r.inFrame(f, b.body, false)
	return f.storedOperand
}

// getopts returns the letters and the variable of a condition that calls getopts.
func (r *reader) getopts(cond []*syntax.Stmt) (letters, variable string) {
	inspectAll(cond, func(n syntax.Node) {
		c, isCall := n.(*syntax.CallExpr)
		if !isCall {
			return
		}
		if _, words := literalWords(c); len(words) > 2 && words[0] == "getopts" {
			letters, variable = cmp.Or(words[1], r.initialValues[parameterOf(c.Args[1])]), words[2]
		}
	})
	return strings.TrimPrefix(letters, ":"), variable
}

// getoptsLoop reads the branches of a loop over getopts.
func (r *reader) getoptsLoop(letters, variable string, body []*syntax.Stmt) {
	byLetter := map[string]branch{}
	_, branches := (&argumentLoop{word: currentWord{variable: variable}}).findCase(body)
	for _, b := range branches {
		for _, p := range b.patterns {
			byLetter[p] = b
		}
	}
	l := &argumentLoop{r: r}
	for i, letter := range letters {
		names := []string{"-" + string(letter)}
		b, known := byLetter[string(letter)]
		switch {
		case !known || letter == ':':
		case letter == '-':
			r.getoptsLongOptions(b)
		case !isHelp(names, r.outcomeOf(b.body) != continues):
			a := r.addOption(names, b.pos)
			if a.Value = strings.HasPrefix(letters[i+1:], ":"); a.Value {
				r.byVariable["OPTARG"] = a
			}
			l.optionBranch(a, b, false)
			delete(r.byVariable, "OPTARG")
		}
	}
	r.optionsRead, r.frame.shifted = true, 0
}

// getoptsLongOptions reads the long options that a getopts string with "-:" permits: a case over OPTARG.
func (r *reader) getoptsLongOptions(b branch) {
	l := &argumentLoop{r: r, word: currentWord{variable: "OPTARG"}}
	_, branches := l.findCase(b.body)
	for _, b := range branches {
		for i, p := range b.patterns {
			if p != "*" && p != "" && p[0] != '-' {
				b.patterns[i] = "--" + p
			}
		}
		if !slices.Equal(b.patterns, []string{"*"}) {
			l.branch(b)
		}
	}
}

// leadingTest reads a test that compares $1 with an option: [ "$1" = -n ] && { dry=1; shift; } or [[ $1 == --name=* ]].
// The operands that follow have the same positions with and without the option.
func (r *reader) leadingTest(cond *syntax.Stmt, body []*syntax.Stmt) bool {
	if c, ok := cond.Cmd.(*syntax.BinaryCmd); ok && c.Op == syntax.AndStmt && !cond.Negated {
		return r.leadingTest(c.Y, body) // [ $# -gt 0 ] && [ "$1" = -n ]
	}
	list := predicates(cond, false)
	if len(list) != 1 || list[0].kind != isNotOneOf && list[0].kind != isNotJoinedOption {
		return false
	}
	return r.leadingOptions(list[0].name(), branch{list[0].words, body, cond.Pos()})
}

// leadingCase reads a case over $1 whose patterns are options. Other words are the operands.
func (r *reader) leadingCase(c *syntax.CaseClause) bool {
	list := slices.DeleteFunc(branchesOf(c), func(b branch) bool {
		return slices.Equal(b.patterns, []string{"*"}) && r.outcomeOf(b.body) == continues
	})
	return r.leadingOptions(parameterOf(c.Word), list...)
}

// leadingOptions reads branches for values of a parameter, and reports whether they are options in $1.
func (r *reader) leadingOptions(name string, list ...branch) bool {
	noOptions := func(b branch) bool { return slices.ContainsFunc(b.patterns, isNotOption) }
	if name != "1" || r.frame != r.scriptFrame || len(list) == 0 || slices.ContainsFunc(list, noOptions) {
		return false
	}
	l := &argumentLoop{r: r, word: currentWord{position: 1}, valuePosition: 2}
	for _, b := range list {
		l.branch(b)
		r.optionsRead = r.optionsRead || callsAny(b.body, "shift")
	}
	return true
}

// rejectsOperands reports whether the script ends with an error here if it gets any operand.
func (r *reader) rejectsOperands(cond *syntax.Stmt, body []*syntax.Stmt) bool {
	if !slices.ContainsFunc(predicates(cond, true), func(t predicate) bool { return t.kind == hasArguments }) {
		return false
	}
	only := r.outcomeOf(body).isError()
	inspectAll(body, func(n syntax.Node) {
		name := commandName(n)
		only = only && (name == "" || name == "exit" || prints(name) || isUsage(name) || isFailure(name))
	})
	return only
}

// noteUse records that the branch for an option uses the value, if that is one of some words.
func (r *reader) noteUse(words []*syntax.Word) {
	if f := r.frame; f.option != nil {
		isValue := func(w *syntax.Word) bool { return r.resolveWord(w) == f.option }
		f.usesValue = f.usesValue || slices.ContainsFunc(words, isValue)
	}
}

// onlyActs reports whether the branch for an option only calls functions and continues. Then a second option adds to
// the first: -c) need "$OPTARG" ;;
func (r *reader) onlyActs(body []*syntax.Stmt) bool {
	only := !alwaysExits(body)
	inspectAll(body, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.Assign:
			only = false
		case *syntax.CallExpr:
			name := commandName(n)
			isCheck := slices.Contains([]string{"shift", "exit", "[", "test", ":"}, name)
			only = only && (r.functions[name] != nil || isCheck || prints(name))
		}
	})
	return only
}

// alwaysExits reports whether one of some statements ends the script in every case.
func alwaysExits(list []*syntax.Stmt) bool {
	return slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return commandName(s.Cmd) == "exit" })
}

// takesOneValue reports whether a second call of a function would undo the first. Such a function stores its value,
// changes the state of the shell, or ends the script. Functions that count, collect or set a flag take many values.
func (r *reader) takesOneValue(f *syntax.FuncDecl) (found bool) {
	if known, done := r.takesOne[f]; done {
		return known
	}
	r.takesOne[f] = false // for functions that call each other
	if body, isBlock := f.Body.Cmd.(*syntax.Block); isBlock {
		found = alwaysExits(body.Stmts)
	}
	local, literals := map[string]bool{}, map[string]string{}
	inspect(f.Body, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.DeclClause:
			for _, s := range n.Args {
				if s.Name != nil && slices.Contains([]string{"local", "declare", "typeset"}, n.Variant.Value) {
					local[s.Name.Value] = true
				}
			}
		case *syntax.Assign:
			if n.Name == nil || local[n.Name.Value] || n.Naked || n.Append || isAppendedElement(n) || isIncrement(n) {
				break
			}
			text, isLiteral := literal(n.Value)
			old, has := literals[n.Name.Value]
			found = found || !isLiteral || n.Array != nil || has && old != text
			literals[n.Name.Value] = text
		case *syntax.CallExpr:
			name := commandName(n)
			g := r.functions[name]
			changes := slices.Contains([]string{"cd", "source", ".", "read", "mapfile"}, name)
			found = found || changes || g != nil && r.takesOneValue(g)
		}
	})
	r.takesOne[f] = found
	return found
}

// isIncrement reports whether the new value of a variable contains the old one: n=$((n + 1)).
func isIncrement(s *syntax.Assign) bool { return s.Value != nil && mentions(s.Value, s.Name.Value) }

// isAppendedElement reports whether an assignment adds to an array: list[n++]=x, list[${#list[@]}]=x.
func isAppendedElement(s *syntax.Assign) bool {
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
	inspect(w, func(n syntax.Node) {
		l, isLit := n.(*syntax.Lit)
		found = found || isLit && l.Value == name
	})
	return found
}
