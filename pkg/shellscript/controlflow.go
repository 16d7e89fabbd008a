package shellscript

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A frame has the positional parameters at a point of the script. A call of a function has its own frame. So has a
// branch of an option loop, where the frame also records how the statements use the word.
type frame struct {
	positional []*Argument          // $1, $2 … after calls and set -- WORDS; nil: the arguments of the script
	shifted    int                  // words that shift removed
	shadowed   map[string]*Argument // in a function: the entries of byVariable for the variables that the function sets

	word          currentWord
	option        *Argument // in a branch for an option: the option
	equalsForm    bool      // the word can be --name=VALUE
	readsJoined   bool      // the branch reads VALUE in --name=VALUE
	readsNext     bool      // it reads the value in the next word
	usesValue     bool      // it uses the value each time, and does not store it
	flagVariable  string    // the first variable that it sets to a literal
	operand       *Argument // in a branch for operands: the word
	storedOperand *Argument // the operand that this branch stores
}

// statements follows statements in the order in which they run. certain means that each run executes them.
func (r *reader) statements(list []*syntax.Stmt, certain bool) {
	for _, stmt := range list {
		r.statement(stmt, certain)
	}
}

func (r *reader) statement(stmt *syntax.Stmt, certain bool) {
	for _, redirect := range stmt.Redirs {
		used := r.resolveAll(redirect)
		if redirect.Hdoc != nil && r.restOperand != nil && slices.Contains(used, r.restOperand) { // $* in a text
			r.restOperand.doubt(DoubtPassedOn)
		}
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.WhileClause:
		if !r.whileOverOptions(c) {
			r.noteShiftingLoop(c, c.Do)
			r.statements(c.Cond, false)
			r.statements(c.Do, false)
		}
	case *syntax.ForClause:
		if !r.forOverOptions(c) {
			r.forLoop(c)
		}
	case *syntax.IfClause:
		r.ifClause(c, certain)
	case *syntax.CaseClause:
		r.caseClause(c, certain)
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			r.conditional(c.X, c.Op == syntax.AndStmt, []*syntax.Stmt{c.Y}, nil, certain)
			return
		}
		r.statement(c.X, certain)
		r.statement(c.Y, certain)
	case *syntax.Block:
		r.statements(c.Stmts, certain)
	case *syntax.Subshell:
		r.statements(c.Stmts, certain)
	case *syntax.CallExpr:
		r.requireSet(c, certain)
		if slices.ContainsFunc(stmt.Redirs, func(d *syntax.Redirect) bool { return d.Op == syntax.AppOut }) {
			r.noteUse(c.Args) // echo "$OPTARG" >> "$list"
		}
		r.simpleCommand(c, certain)
	case *syntax.DeclClause:
		r.requireSet(c, certain)
		for _, a := range c.Args {
			r.assignment(a, certain)
		}
	case nil, *syntax.FuncDecl:
	default:
		r.resolveAll(c)
	}
}

// ifClause reads an if.
func (r *reader) ifClause(c *syntax.IfClause, certain bool) {
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
	r.conditional(c.Cond[last], true, c.Then, otherwise, certain)
}

// conditional reads the statements that run if a condition has the given truth, and the others. If one side ends the
// script, the condition is a guard.
func (r *reader) conditional(cond *syntax.Stmt, truth bool, then, otherwise []*syntax.Stmt, certain bool) {
	switch {
	case truth && r.leadingTest(cond, then):
		r.statements(otherwise, false)
		return
	case truth && certain && r.rejectsOperands(cond, then):
		r.noOperands = true
		return
	}
	r.statement(cond, certain)
	if r.outcomeOf(then) == succeeds || r.outcomeOf(otherwise) == succeeds || callsAny(then, "exec") {
		r.nounset = false
	}
	sure := certain || r.frame.option != nil
	switch end := r.outcomeOf(then); {
	case sure && end.isError():
		r.guard(cond, truth, end)
	case sure && r.outcomeOf(otherwise) == fails:
		r.guard(cond, !truth, fails)
	default:
		r.testedDefault(cond, truth, then)
	}
	before := r.frame.shifted
	r.statements(then, false)
	taken := r.frame.shifted
	r.frame.shifted = before
	r.branchDefaults(otherwise)
	r.statements(otherwise, false)
	r.frame.shifted = max(r.frame.shifted, taken)
}

// branchDefaults reads the default of an argument: x=local, if the other branch of the condition has x=$1.
func (r *reader) branchDefaults(list []*syntax.Stmt) {
	eachLiteralAssignment(list, func(name, text string, _ syntax.Pos) {
		if a := r.byVariable[name]; a != nil && a.Default == nil && a.position > 0 {
			a.Default, a.optional = &text, true
		}
	})
}

// eachLiteralAssignment calls f for each assignment of a literal in some statements.
func eachLiteralAssignment(list []*syntax.Stmt, f func(name, text string, at syntax.Pos)) {
	for _, stmt := range list {
		for _, s := range assignments(stmt.Cmd) {
			if text, ok := literal(s.Value); ok && s.Name != nil && !s.Naked && s.Array == nil {
				f(s.Name.Value, text, s.Pos())
			}
		}
	}
}

// testedDefault reads the default in [ -z "$x" ] && x=literal.
func (r *reader) testedDefault(cond *syntax.Stmt, truth bool, then []*syntax.Stmt) {
	for _, t := range predicates(cond, truth) {
		if t.kind != isEmpty && t.kind != hasTooFew {
			continue
		}
		a := r.resolve(t.tested)
		eachLiteralAssignment(then, func(name, text string, at syntax.Pos) {
			switch same := name == t.name(); {
			case same && a != nil && a.Default == nil:
				a.Default, a.optional = &text, true
			case same && number(name) == 0 && t.kind == isEmpty:
				r.testedVariables = append(r.testedVariables, Variable{Name: name, Default: text, Line: int(at.Line())})
			case a != nil || t.kind == hasTooFew:
				r.initialValues[name] = text
			}
		})
	}
}

// guard reads a condition that ends the script, such as [ $# -lt 2 ] && exit 1, as a rule for the arguments.
func (r *reader) guard(cond *syntax.Stmt, truth bool, end outcome) {
	for _, t := range predicates(cond, truth) {
		if t.tested == nil {
			if t.kind == hasTooFew && r.frame.positional == nil {
				r.countRules = append(r.countRules, countRule{r.frame.shifted + t.minimum, r.optionsRead, end})
			}
			continue
		}
		a := r.resolve(t.tested)
		switch o := r.frame.option; {
		case o != nil && a != o:
			continue
		case a == nil:
			if t.kind == isEmpty && !r.isAssigned(t.name()) {
				v := Variable{Name: t.name(), Required: true, Line: int(cond.Pos().Line())}
				r.testedVariables = append(r.testedVariables, v)
			}
			continue
		}
		// A script ends without a file that an operand names. A default can name one.
		isFile := a.position > 0 && !a.Repeat && !a.optional && a.Default == nil
		switch t.kind {
		case isNotOneOf:
			if len(a.Choices) == 0 {
				a.Choices = t.words
			}
		case isNotInteger:
			a.Kind = Integer
		case isNotFile:
			a.setKind(File)
		case isNotDirectory:
			a.setKind(Directory)
		}
		if t.kind == isEmpty || isFile && (t.kind == isNotFile || t.kind == isNotDirectory) {
			r.require(a, t.tested, end)
		}
	}
}

// simpleCommand reads a simple command.
func (r *reader) simpleCommand(c *syntax.CallExpr, certain bool) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.assignment(a, certain)
		}
		return
	}
	_, words := literalWords(c)
	f := r.functions[words[0]]
	switch {
	case words[0] == "shift":
		text, isLiteral := "1", true
		if len(c.Args) > 1 {
			text, isLiteral = literal(c.Args[1])
		}
		if isLiteral { // else of OPTIND: the options were read, and the operands begin
			r.frame.shifted += number(text)
		}
	case words[0] == "set" && len(words) > 1 && words[1] == "--":
		r.nounset = r.nounset && certain
		r.setCommand(c, certain)
	case words[0] == "set" && certain:
		r.readNounset(strings.Join(words, " "))
	case f != nil && words[0] != "":
		r.callFunction(f, c.Args[1:], certain)
	default:
		r.resolveAll(c)
		if slices.ContainsFunc(c.Args, isAllArguments) && r.restOperand != nil && r.frame.shadowed == nil {
			r.restOperand.doubt(DoubtPassedOn)
		}
	}
}

// maxFollowedBytes limits the calls of functions that are followed, by the size of their bodies.
const maxFollowedBytes = 4 * MaxSize

// callFunction follows a call of a function, if it gets arguments of the script.
func (r *reader) callFunction(f *syntax.FuncDecl, args []*syntax.Word, certain bool) {
	all := len(args) == 1 && isAllArguments(args[0])
	words, passes := make([]*Argument, len(args)), all
	if !all {
		for i, w := range args {
			r.resolveAll(w)
			words[i] = r.resolveWord(w)
			passes = passes || words[i] != nil
		}
		if !r.takesOneValue(f) {
			r.noteUse(args)
		}
	}
	body, isBlock := f.Body.Cmd.(*syntax.Block)
	if !isBlock || !passes || r.active[f] || r.followedBytes > maxFollowedBytes {
		return
	}
	r.followedBytes += body.End().Offset() - body.Pos().Offset()
	r.active[f] = true
	if all {
		r.forwardsAll[f.Name.Value] = r.forwardsAll[f.Name.Value] || r.frame == r.scriptFrame
		r.statements(body.Stmts, certain)
		return // once: the words of the caller stay shifted
	}
	shadowed := map[string]*Argument{}
	r.inFrame(&frame{positional: words, option: r.frame.option, shadowed: shadowed}, body.Stmts, certain)
	maps.Copy(r.byVariable, shadowed)
	delete(r.active, f)
}

// inFrame follows statements in another frame.
func (r *reader) inFrame(f *frame, list []*syntax.Stmt, certain bool) {
	outer := r.frame
	r.frame = f
	r.statements(list, certain)
	r.frame = outer
}

// setCommand reads set -- WORDS. From here on, $1 is the first of these words. $1 stays as it is if all old words are
// among the new ones, or if a word contains an argument and more. An array of collected operands becomes $1, $2, ….
func (r *reader) setCommand(c *syntax.CallExpr, certain bool) {
	words := c.Args[2:]
	list, several, stays := []*Argument{}, false, !certain
	for _, w := range words {
		if p := expansionIn(w); p != nil && p.Param.Value == r.operandArray {
			r.dropOperandArray()
			r.frame.shifted, r.resolvedSets[c] = 0, true
			return
		}
		r.resolveAll(w)
		r.setsWords = r.setsWords || !r.canBeEmpty(w, true)
		_, isLiteral := literal(w)
		_, isQuoted := w.Parts[0].(*syntax.DblQuoted)
		a := r.resolveWord(w)
		stays = stays || isAllArguments(w) || isQuoted && a == nil && r.hasArgument(w)
		if several = several || !isLiteral && !isQuoted; !several {
			list = append(list, a)
		}
	}
	if !stays {
		r.frame.positional, r.frame.shifted, r.resolvedSets[c] = list, 0, !several
	}
}

// forLoop reads a for loop that is not over options. In select, the words are the choices of a question.
func (r *reader) forLoop(c *syntax.ForClause) {
	loop, isWords := c.Loop.(*syntax.WordIter)
	switch {
	case !isWords:
		r.resolveAll(c.Loop)
	case c.Select:
	case loopsOverArguments(c):
		first := 1
		for _, w := range loop.Items {
			first = max(sliceStart(expansionIn(w)), first)
		}
		r.resolveRest(first, loop.Name.Value, c.Pos())
	default:
		for _, w := range loop.Items {
			used := r.resolveAll(w)
			if len(loop.Items) == 1 && r.restOperand != nil && slices.Contains(used, r.restOperand) {
				r.byVariable[loop.Name.Value] = r.restOperand
			}
		}
	}
	r.noteShiftingLoop(c, c.Do)
	r.statements(c.Do, false)
}

// noteShiftingLoop records a loop if $1 changes in each pass.
func (r *reader) noteShiftingLoop(loop syntax.Node, body []*syntax.Stmt) {
	if callsAny(body, "shift", "set") {
		r.shiftingLoops = append(r.shiftingLoops, loop)
	}
}

// caseClause reads a case. If its branch for other words ends the script, its patterns are the choices.
func (r *reader) caseClause(c *syntax.CaseClause, certain bool) {
	if r.leadingCase(c) {
		return
	}
	r.resolveAll(c.Word)
	a := r.resolveWord(c.Word)
	before, most := r.frame.shifted, r.frame.shifted
	var words []string
	closed, exact, hasEmpty := false, true, false
	for _, b := range branchesOf(c) {
		end := r.outcomeOf(b.body)
		r.nounset = r.nounset && end != succeeds
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
	a.Required = a.Required || certain && a.position > 0 && a.Default == nil && !hasEmpty
}
