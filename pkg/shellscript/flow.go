package shellscript

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A frame has the values of $1, $2 … at a place of the script.
type frame struct {
	shifted int                  // words that were taken off the front
	before  map[string]*Argument // in a function: the earlier arguments of the variables that it sets
	words   []*Argument          // in functions and branches, and after set -- WORDS; nil: those of the caller
	option  *Argument            // the option in whose branch this is
	literal string               // the first variable in the branch with a literal value
	reads   bool                 // the branch reads the value that follows the option
	equals  bool                 // the word can be --name=VALUE
	joined  bool                 // it reads the value in the same word
	acts    bool                 // it uses the value each time, and does not store it
	operand *Argument            // in the branch for other words: the word
	stored  *Argument            // the operand that this branch stores
	key     string               // the variable that has the word, or ""
	place   int                  // the place of the word, or 0
}

// statements reads statements that get the arguments of the script. certain means that each run executes them.
func (r *reader) statements(list []*syntax.Stmt, certain bool) {
	for _, stmt := range list {
		r.statement(stmt, certain)
	}
}

func (r *reader) statement(stmt *syntax.Stmt, certain bool) {
	for _, redirect := range stmt.Redirs {
		used := r.use(redirect)
		if redirect.Hdoc != nil && r.rest != nil && slices.Contains(used, r.rest) { // $* in a text
			r.rest.doubt(DoubtPassedOn)
		}
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.WhileClause:
		if !r.optionLoop(c) {
			r.moves(c, c.Do)
			r.statements(c.Cond, false)
			r.statements(c.Do, false)
		}
	case *syntax.ForClause:
		if !r.optionFor(c) {
			r.forLoop(c)
		}
	case *syntax.IfClause:
		r.branch(c, certain)
	case *syntax.CaseClause:
		r.selection(c, certain)
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			r.decide(c.X, c.Op == syntax.AndStmt, []*syntax.Stmt{c.Y}, nil, certain)
			return
		}
		r.statement(c.X, certain)
		r.statement(c.Y, certain)
	case *syntax.Block:
		r.statements(c.Stmts, certain)
	case *syntax.Subshell:
		r.statements(c.Stmts, certain)
	case *syntax.CallExpr:
		if slices.ContainsFunc(stmt.Redirs, func(d *syntax.Redirect) bool { return d.Op == syntax.AppOut }) {
			r.act(c.Args) // echo "$OPTARG" >> "$list"
		}
		r.call(c, certain)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			r.bind(a, certain)
		}
	case nil, *syntax.FuncDecl:
	default:
		r.use(c)
	}
}

// branch reads an if.
func (r *reader) branch(c *syntax.IfClause, certain bool) {
	last := len(c.Cond) - 1
	r.statements(c.Cond[:last], certain)
	var otherwise []*syntax.Stmt
	switch {
	case c.Else == nil:
	case len(c.Else.Cond) > 0:
		otherwise = []*syntax.Stmt{{Cmd: c.Else}}
	default:
		otherwise = c.Else.Then
	}
	r.decide(c.Cond[last], true, c.Then, otherwise, certain)
}

// decide reads the statements that run if a condition has the given truth, and the others. If the first ones end the
// script, the condition is a rule for the arguments.
func (r *reader) decide(cond *syntax.Stmt, truth bool, then, otherwise []*syntax.Stmt, certain bool) {
	switch {
	case truth && r.leading(cond, then):
		r.statements(otherwise, false)
		return
	case truth && certain && r.refuses(cond, then):
		r.noOperands = true
		return
	}
	r.statement(cond, certain)
	sure := certain || r.frame.option != nil
	switch end := r.outcomeOf(then); {
	case sure && end.isError():
		r.rule(cond, truth, end)
	case sure && r.outcomeOf(otherwise) == fails:
		r.rule(cond, !truth, fails)
	default:
		r.fallback(cond, truth, then)
	}
	before := r.frame.shifted
	r.statements(then, false)
	taken := r.frame.shifted
	r.frame.shifted = before
	r.literals(otherwise)
	r.statements(otherwise, false)
	r.frame.shifted = max(r.frame.shifted, taken)
}

// literals reads the default of an argument, such as x=local in the branch without it, if the other branch has x=$1.
func (r *reader) literals(list []*syntax.Stmt) {
	assignedIn(list, func(name, text string, _ syntax.Pos) {
		if a := r.byVariable[name]; a != nil && a.Default == nil && a.place > 0 {
			a.Default, a.omitted = &text, true
		}
	})
}

// assignedIn calls f for each literal that statements assign to a variable.
func assignedIn(list []*syntax.Stmt, f func(name, text string, at syntax.Pos)) {
	for _, stmt := range list {
		for _, s := range assignments(stmt.Cmd) {
			if text, ok := literal(s.Value); ok && s.Name != nil && !s.Naked && s.Array == nil {
				f(s.Name.Value, text, s.Pos())
			}
		}
	}
}

// fallback reads [ -z "$x" ] && x=literal, a default.
func (r *reader) fallback(cond *syntax.Stmt, truth bool, then []*syntax.Stmt) {
	for _, t := range tests(cond, truth) {
		if t.kind != isEmpty && t.kind != isShort {
			continue
		}
		a := r.argument(t.x)
		assignedIn(then, func(name, text string, at syntax.Pos) {
			switch same := name == t.name(); {
			case same && a != nil && a.Default == nil:
				a.Default, a.omitted = &text, true
			case same && position(name) == 0 && t.kind == isEmpty:
				r.settings = append(r.settings, Variable{Name: name, Default: text, Line: int(at.Line())})
			case a != nil || t.kind == isShort:
				r.initial[name] = text
			}
		})
	}
}

// rule reads a condition after which the script ends.
func (r *reader) rule(cond *syntax.Stmt, truth bool, end outcome) {
	for _, t := range tests(cond, truth) {
		if t.x == nil {
			if t.kind == isShort && r.frame.words == nil {
				r.counts = append(r.counts, count{r.frame.shifted + t.n, r.options, end})
			}
			continue
		}
		a := r.argument(t.x)
		switch o := r.frame.option; {
		case o != nil && a != o:
			continue
		case a == nil:
			if t.kind == isEmpty && !r.isAssigned(t.name()) {
				r.settings = append(r.settings, Variable{Name: t.name(), Required: true, Line: int(cond.Pos().Line())})
			}
			continue
		}
		// A script ends without a file that an operand names. A default can name one.
		isFile := a.place > 0 && !a.Repeat && !a.omitted && a.Default == nil
		switch t.kind {
		case isOther:
			if len(a.Choices) == 0 {
				a.Choices = t.words
			}
		case isNoNumber:
			a.Kind = Integer
		case isNoFile:
			a.is(File)
		case isNoDirectory:
			a.is(Directory)
		}
		if t.kind == isEmpty || isFile && (t.kind == isNoFile || t.kind == isNoDirectory) {
			r.require(a, t.x, end)
		}
	}
}

// call reads a simple command.
func (r *reader) call(c *syntax.CallExpr, certain bool) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.bind(a, certain)
		}
		return
	}
	_, words := simple(c)
	f := r.functions[words[0]]
	switch {
	case words[0] == "shift":
		text, isLiteral := "1", true
		if len(c.Args) > 1 {
			text, isLiteral = literal(c.Args[1])
		}
		if isLiteral { // else of OPTIND: the options were read, and the operands begin
			r.frame.shifted += position(text)
		}
	case words[0] == "set" && len(words) > 1 && words[1] == "--":
		r.set(c, certain)
	case f != nil && words[0] != "":
		r.enter(f, c.Args[1:], certain)
	default:
		r.use(c)
		if slices.ContainsFunc(c.Args, isAll) && r.rest != nil && r.frame.before == nil {
			r.rest.doubt(DoubtPassedOn)
		}
	}
}

// maxFollowed limits the calls of functions that are followed: the bytes of their bodies.
const maxFollowed = 4 * MaxSize

// enter follows a call of a function with arguments of the script.
func (r *reader) enter(f *syntax.FuncDecl, args []*syntax.Word, certain bool) {
	all := len(args) == 1 && isAll(args[0])
	words, passes := make([]*Argument, len(args)), all
	for i, w := range args {
		if all {
			break
		}
		r.use(w)
		words[i] = r.argumentOf(w)
		passes = passes || words[i] != nil
	}
	if !all && !r.settles(f) {
		r.act(args)
	}
	body, isBlock := f.Body.Cmd.(*syntax.Block)
	if !isBlock || !passes || r.entered[f] || r.followed > maxFollowed {
		return
	}
	r.followed += body.End().Offset() - body.Pos().Offset()
	r.entered[f] = true
	if all {
		r.passed[f.Name.Value] = r.passed[f.Name.Value] || r.frame == r.caller
		r.statements(body.Stmts, certain)
		return // once: the words of the caller stay shifted
	}
	before := map[string]*Argument{}
	r.within(&frame{words: words, option: r.frame.option, before: before}, body.Stmts, certain)
	maps.Copy(r.byVariable, before)
	delete(r.entered, f)
}

// within reads statements in another frame.
func (r *reader) within(f *frame, list []*syntax.Stmt, certain bool) {
	outer := r.frame
	r.frame = f
	r.statements(list, certain)
	r.frame = outer
}

// set reads set -- WORDS. From here on, places count the new words. The places stay if all old words are among them,
// or if a word contains an argument and more. A list of collected operands becomes the words again.
func (r *reader) set(c *syntax.CallExpr, certain bool) {
	words := c.Args[2:]
	list, several, stays := []*Argument{}, false, !certain
	for _, w := range words {
		if p := parameter(w); p != nil && p.Param.Value == r.listed {
			r.unlist()
			r.frame.shifted, r.settledSets[c] = 0, true
			return
		}
		r.use(w)
		r.refilled = r.refilled || !r.canBeEmpty(w, true)
		_, isLiteral := literal(w)
		_, isQuoted := w.Parts[0].(*syntax.DblQuoted)
		a := r.argumentOf(w)
		stays = stays || isAll(w) || isQuoted && a == nil && r.holds(w)
		if several = several || !isLiteral && !isQuoted; !several {
			list = append(list, a)
		}
	}
	if !stays {
		r.frame.words, r.frame.shifted, r.settledSets[c] = list, 0, !several
	}
}

// forLoop reads a for loop that is not over options. In select, the words are the choices of a question.
func (r *reader) forLoop(c *syntax.ForClause) {
	loop, isWords := c.Loop.(*syntax.WordIter)
	switch {
	case !isWords:
		r.use(c.Loop)
	case c.Select:
	case overAll(c):
		first := 1
		for _, w := range loop.Items {
			first = max(offset(parameter(w)), first)
		}
		r.allFrom(first, loop.Name.Value, c.Pos())
	default:
		for _, w := range loop.Items {
			used := r.use(w)
			if len(loop.Items) == 1 && r.rest != nil && slices.Contains(used, r.rest) {
				r.byVariable[loop.Name.Value] = r.rest
			}
		}
	}
	r.moves(c, c.Do)
	r.statements(c.Do, false)
}

// moves records a loop if $1 is another word in each pass.
func (r *reader) moves(loop syntax.Node, body []*syntax.Stmt) {
	if calls(body, "shift", "set") {
		r.moving = append(r.moving, loop)
	}
}

// selection reads a case. If its branch for other words ends the script, the words are the choices.
func (r *reader) selection(c *syntax.CaseClause, certain bool) {
	if r.leadingCase(c) {
		return
	}
	r.use(c.Word)
	a := r.argumentOf(c.Word)
	before, most := r.frame.shifted, r.frame.shifted
	var words []string
	closed, exact, hasEmpty := false, true, false
	for _, b := range items(c) {
		end := r.outcomeOf(b.body)
		for _, p := range b.patterns {
			switch {
			case p == "*":
				closed = end.isError()
			case (p == "*[!0-9]*" || p == "*[^0-9]*") && end == fails:
				if a != nil {
					a.Kind = Integer
				}
			case p == "":
				hasEmpty = true
			case p[0] == '-' || p == "help":
			case strings.ContainsAny(p, "*?["):
				exact = false
			default:
				words = append(words, p)
			}
		}
		r.frame.shifted = before
		r.statements(b.body, false)
		most = max(most, r.frame.shifted)
	}
	r.frame.shifted = most
	if a == nil || !closed || !exact || len(words) == 0 || len(a.Choices) > 0 {
		return
	}
	a.Choices = words
	a.Required = a.Required || certain && a.place > 0 && a.Default == nil && !hasEmpty
}
