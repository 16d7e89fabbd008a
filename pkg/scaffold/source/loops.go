package source

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// optionLoop reads a loop over the arguments. It reports whether the loop is one.
func (r *reader) optionLoop(w *syntax.WhileClause) bool {
	if letters, variable, ok := r.getopts(w.Cond); ok {
		r.getoptsLoop(letters, variable, w.Do)
		return true
	}
	if !shifts(w.Do) {
		return false
	}
	at, c := r.caseIn(w.Do)
	if c == nil {
		return r.plainLoop(w)
	}
	before, key := 0, ""
	for _, stmt := range w.Do[:at] {
		before += shiftsAt(stmt)
		for _, a := range assignments(stmt.Cmd) {
			if position(nameOf(a.Value)) == 1 {
				key = a.Name.Value
			}
		}
	}
	after := 0
	for _, stmt := range w.Do[at+1:] {
		after += shiftsAt(stmt)
	}
	l := &loop{r: r, value: 2 - before, word: 1 - before, key: key, after: after + before}
	for _, item := range items(c) {
		l.item(item)
	}
	r.options, r.shifted = true, 0
	return true
}

// A loop reads the branches of one loop over arguments.
type loop struct {
	r     *reader
	value int    // the place at which the value of an option is in a branch
	word  int    // the place of the word itself, or 0
	key   string // the variable that has the word, or ""
	after int    // the number of words that are taken outside of the branch
	each  bool   // a for loop, in which no word has a value after it
}

// A branchOf is a branch of a case, or of a chain of if.
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

// caseIn finds the case over the current word among the statements of a loop.
func (r *reader) caseIn(list []*syntax.Stmt) (at int, found *syntax.CaseClause) {
	keys := map[string]bool{"1": true}
	for i, stmt := range list {
		for _, a := range assignments(stmt.Cmd) {
			if a.Name != nil && position(nameOf(a.Value)) == 1 {
				keys[a.Name.Value] = true
			}
		}
		if c, ok := stmt.Cmd.(*syntax.CaseClause); ok && keys[nameOf(c.Word)] {
			return i, c
		}
		if c, ok := stmt.Cmd.(*syntax.IfClause); ok {
			if _, inner := r.caseIn(c.Then); inner != nil {
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
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && p.Param.Value == "1" {
			uses = true
		}
		if a, ok := n.(*syntax.Assign); ok && a.Value != nil && nameOf(a.Value) == "1" && name == "" {
			name = a.Name.Value
		}
		if c, ok := n.(*syntax.CallExpr); ok && uses {
			if _, words := simple(c); len(words) > 3 && words[0] == "[" && strings.HasPrefix(words[3], "-") {
				r.doubt(DoubtOptions, words[3], c.Pos())
			}
		}
	})
	if uses {
		r.all(name, w.Pos())
	}
	return uses
}

// optionFor reads for a in "$@"; do case $a in … and reports whether the loop is one.
func (r *reader) optionFor(c *syntax.ForClause) bool {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || words.InPos.IsValid() && !(len(words.Items) == 1 && isAll(words.Items[0])) {
		return false
	}
	for _, stmt := range c.Do {
		choice, ok := stmt.Cmd.(*syntax.CaseClause)
		if !ok || nameOf(choice.Word) != words.Name.Value {
			continue
		}
		hasOption := false
		l := &loop{r: r, key: words.Name.Value, each: true}
		for _, item := range items(choice) {
			for _, p := range item.patterns {
				hasOption = hasOption || len(p) > 1 && p[0] == '-'
			}
		}
		if !hasOption {
			return false
		}
		for _, item := range items(choice) {
			l.item(item)
		}
		r.options = true
		return true
	}
	return false
}

// shiftsAt returns the number of words that a statement takes off in every case.
func shiftsAt(stmt *syntax.Stmt) int {
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if _, words := simple(c); len(words) > 0 && words[0] == "shift" {
			if len(words) > 1 {
				return position(words[1])
			}
			return 1
		}
	case *syntax.BinaryCmd:
		return shiftsAt(c.X) + shiftsAt(c.Y)
	case *syntax.Block:
		n := 0
		for _, s := range c.Stmts {
			n += shiftsAt(s)
		}
		return n
	case *syntax.IfClause: // the same in both branches, or optional
		n := 0
		for _, s := range c.Then {
			n += shiftsAt(s)
		}
		return n
	}
	return 0
}

// shifts reports whether statements take words off.
func shifts(list []*syntax.Stmt) (found bool) {
	eachOf(list, func(n syntax.Node) {
		found = found || programOf(n) == "shift"
	})
	return found
}

// item reads a branch.
func (l *loop) item(b branchOf) {
	var names []string
	equals := false
	for _, p := range b.patterns {
		switch {
		case p == "--":
			l.dashes(b)
			return
		case p == "*":
			l.assigns(b)
			return
		case strings.HasPrefix(p, "-") && strings.HasSuffix(p, "=*"):
			equals = true
			names = append(names, strings.TrimSuffix(p, "=*"))
		case len(p) > 1 && p[0] == '-' && !strings.ContainsAny(p, "*?["):
			names = append(names, p)
		}
	}
	if len(names) == 0 {
		l.words(b)
		return
	}
	if l.isHelp(names, b) {
		return
	}
	a := l.r.option(names, b.at)
	l.read(a, b, equals)
}

// isHelp reports whether a branch prints the usage or the version, which a tool does not need.
func (l *loop) isHelp(names []string, b branchOf) bool {
	for _, name := range names {
		switch name {
		case "-h", "--help", "-help", "-?":
			return true
		case "--version":
			return l.r.outcomeOf(b.body) != goesOn
		}
	}
	return false
}

// option returns the argument with one of some options, or a new one.
func (r *reader) option(names []string, at syntax.Pos) *Argument {
	for _, a := range r.script.Arguments {
		for _, have := range a.Options {
			for _, name := range names {
				if have == name {
					a.addOptions(names)
					return a
				}
			}
		}
	}
	a := &Argument{Line: int(at.Line())}
	a.addOptions(names)
	r.script.Arguments = append(r.script.Arguments, a)
	return a
}

func (a *Argument) addOptions(names []string) {
next:
	for _, name := range names {
		for _, have := range a.Options {
			if have == name {
				continue next
			}
		}
		a.Options = append(a.Options, name)
	}
}

// read finds the value of an option in its branch.
func (l *loop) read(a *Argument, b branchOf, equals bool) {
	takes, joined := 0, false
	for _, stmt := range b.body {
		takes += shiftsAt(stmt)
	}
	reads := false
	var lists []string
	eachOf(b.body, func(n syntax.Node) {
		placesIn(n, func(place int, _ syntax.Pos) {
			if place == l.value {
				a.Kind = Integer
			}
		})
		switch n := n.(type) {
		case *syntax.ParamExp:
			if l.isValue(n) {
				reads = true
			}
			if l.isJoined(n) {
				joined = true
			}
		case *syntax.Assign:
			if n.Name == nil {
				return
			}
			if n.Append || n.Array != nil && n.Append {
				lists = append(lists, n.Name.Value)
			}
			l.variable(a, n)
		}
	})
	switch {
	case joined && equals:
		a.Equals = !a.Value
		a.Value = true
	case reads && !l.each:
		a.Value, a.Equals = true, false
	case takes+l.after >= 2 && !l.each:
		a.Value = true
		a.Doubts = append(a.Doubts, DoubtValue)
	}
	if a.Value {
		for _, name := range lists {
			a.Repeat = a.Repeat || name == a.variable
		}
	}
}

// isValue reports whether an expansion is the word after the option.
func (l *loop) isValue(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Length && l.value > 0 && position(p.Param.Value) == l.value
}

// isJoined reports whether an expansion is the part of the word after "=": ${1#*=}.
func (l *loop) isJoined(p *syntax.ParamExp) bool {
	if p.Param == nil || !l.isWord(p.Param.Value) {
		return false
	}
	cut := p.Exp != nil && (p.Exp.Op == syntax.RemSmallPrefix || p.Exp.Op == syntax.RemLargePrefix)
	return cut || p.Repl != nil || p.Slice != nil
}

func (l *loop) isWord(name string) bool {
	return name == l.key && l.key != "" || l.word > 0 && position(name) == l.word
}

// variable notes the variable that gets the value of an option, or what a flag sets.
func (l *loop) variable(a *Argument, s *syntax.Assign) {
	if a.variable != "" {
		return
	}
	found := false
	look := func(n syntax.Node) {
		if p, ok := n.(*syntax.ParamExp); ok && (l.isValue(p) || l.isJoined(p)) {
			found = true
		}
	}
	switch {
	case s.Array != nil:
		each(s.Array, look)
	case s.Value != nil:
		each(s.Value, look)
		if _, ok := literal(s.Value); ok && !found {
			found = true // a flag
		}
	}
	if found {
		a.variable = s.Name.Value
		l.r.byVariable[a.variable] = a
	}
}

// dashes reads the branch of "--", after which operands follow.
func (l *loop) dashes(b branchOf) {
	eachOf(b.body, func(n syntax.Node) {
		if s, ok := n.(*syntax.Assign); ok && isAllIn(s) {
			l.r.collect(s.Name.Value, b.at)
		}
	})
}

// words reads a branch for words other than options: major|minor) part=$1.
func (l *loop) words(b branchOf) {
	for _, p := range b.patterns {
		if p == "" || p[0] == '-' {
			return
		}
	}
	a := l.assigns(b)
	if a != nil && !slices.ContainsFunc(b.patterns, func(p string) bool { return strings.ContainsAny(p, "*?[") }) {
		a.Choices = append(a.Choices, b.patterns...)
	}
}

// assigns reads the operands that the branch of other words stores. It returns a new one, unless it is a list.
func (l *loop) assigns(b branchOf) (stored *Argument) {
	eachOf(b.body, func(n syntax.Node) {
		s, ok := n.(*syntax.Assign)
		if !ok || s.Name == nil {
			return
		}
		name := s.Name.Value
		if s.Array != nil {
			for _, e := range s.Array.Elems {
				if e.Value != nil && (l.isWord(nameOf(e.Value)) || isAll(e.Value)) {
					l.r.collect(name, s.Pos())
				}
			}
			return
		}
		if s.Value == nil || !l.isWord(nameOf(s.Value)) {
			if s.Append && s.Value != nil && l.contains(s.Value) {
				l.r.collect(name, s.Pos())
			}
			return
		}
		if l.r.byVariable[name] == nil {
			a := l.r.operand(len(l.r.places)+1, s.Pos())
			a.variable, stored = name, a
			l.r.byVariable[name] = a
		}
	})
	return stored
}

func (l *loop) contains(w *syntax.Word) (found bool) {
	each(w, func(n syntax.Node) {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && l.isWord(p.Param.Value) {
			found = true
		}
	})
	return found
}

// collect notes that a list has the operands from here on.
func (r *reader) collect(name string, at syntax.Pos) {
	r.listed = name
	if r.rest == nil {
		r.rest = &Argument{Value: true, Repeat: true, place: len(r.places) + 1, Line: int(at.Line())}
	}
	if r.rest.variable == "" {
		r.rest.variable = name
		r.byVariable[name] = r.rest
	}
}

// getopts returns the letters and the variable of a condition that calls getopts.
func (r *reader) getopts(cond []*syntax.Stmt) (letters, variable string, ok bool) {
	eachOf(cond, func(n syntax.Node) {
		c, isCall := n.(*syntax.CallExpr)
		if !isCall {
			return
		}
		_, words := simple(c)
		if len(words) < 3 || words[0] != "getopts" {
			return
		}
		letters, variable, ok = words[1], words[2], true
		if letters == "" {
			letters = r.initial[nameOf(c.Args[1])]
		}
	})
	return letters, variable, ok
}

// getoptsLoop reads the branches of a loop over getopts.
func (r *reader) getoptsLoop(letters, variable string, body []*syntax.Stmt) {
	letters = strings.TrimPrefix(letters, ":")
	var c *syntax.CaseClause
	eachOf(body, func(n syntax.Node) {
		if found, ok := n.(*syntax.CaseClause); ok && c == nil && nameOf(found.Word) == variable {
			c = found
		}
	})
	branches := map[string]branchOf{}
	if c != nil {
		for _, b := range items(c) {
			for _, p := range b.patterns {
				branches[p] = b
			}
		}
	}
	l := &loop{r: r, key: "OPTARG"}
	for i := 0; i < len(letters); i++ {
		letter := letters[i : i+1]
		value := strings.HasPrefix(letters[i+1:], ":")
		if value {
			i++
		}
		b, known := branches[letter]
		if letter == "-" {
			r.longOptions(l, b)
			continue
		}
		if letter == "h" || letter == "?" || !known || letter == "V" && r.outcomeOf(b.body) != goesOn {
			continue
		}
		a := r.option([]string{"-" + letter}, b.at)
		a.Value = value
		eachOf(b.body, func(n syntax.Node) {
			if s, ok := n.(*syntax.Assign); ok && s.Name != nil && a.variable == "" {
				if value && s.Array == nil && !refersTo(s.Value, "OPTARG") {
					return
				}
				a.variable = s.Name.Value
				a.Repeat = value && s.Append
				r.byVariable[a.variable] = a
			}
		})
	}
	r.options, r.shifted = true, 0
}

// longOptions reads the long options that a getopts string with "-:" permits: a case over OPTARG.
func (r *reader) longOptions(l *loop, b branchOf) {
	eachOf(b.body, func(n syntax.Node) {
		c, ok := n.(*syntax.CaseClause)
		if !ok || nameOf(c.Word) != "OPTARG" {
			return
		}
		for _, item := range items(c) {
			for i, p := range item.patterns {
				if p != "*" && p != "" && p[0] != '-' {
					item.patterns[i] = "--" + p
				}
			}
			if len(item.patterns) == 1 && item.patterns[0] == "*" {
				continue
			}
			l.item(item)
		}
	})
}
