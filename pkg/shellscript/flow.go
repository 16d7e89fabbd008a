package shellscript

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// A frame has what $1, $2 … are at a place of the script.
type frame struct {
	shifted int                  // words that were taken off the front
	before  map[string]*Argument // in a function, what the variables were that it sets
	words   []*Argument          // in functions and branches, and after set -- WORDS; nil: those of the caller
	option  *Argument            // the option in whose branch this is
	literal string               // the first variable in the branch with a literal value
	reads   bool                 // the branch reads the value that follows the option
	equals  bool                 // the word can be --name=VALUE
	joined  bool                 // it reads the value in the same word
	acts    bool                 // it does something with the value each time, and does not keep it
	operand *Argument            // in the branch for other words: the word
	stored  *Argument            // the operand that this branch stores
	key     string               // the variable that has the word, or ""
	place   int                  // the place of the word, or 0
}

// statements reads statements that get the arguments of the script. Each run executes them if certain.
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

// decide reads statements that run if a condition has a truth, and others. If the first ones end the script, the
// condition is a rule for the arguments.
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

// literals reads x=local in the branch for a missing argument, if the other branch has x=$1.
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

func (a *Argument) is(k Kind) {
	if a.Kind == Text {
		a.Kind = k
	}
}

// require notes that the script ends without an argument, for which it tests a parameter or, if nil, a number. In its
// own branch, an option is there.
func (r *reader) require(a *Argument, tested *syntax.ParamExp, end outcome) {
	isVariable := tested != nil && position(tested.Param.Value) == 0
	guards := len(a.Options) > 0 || isVariable && !a.certain // ${ROOT:?}
	if a == r.frame.option || guards && r.hasText(r.before(a)) {
		return
	}
	a.Required = true
	if end == probablyFails {
		a.doubt(DoubtRequired)
	}
}

// before returns the values that the variable of an argument gets before the argument is read.
func (r *reader) before(a *Argument) []*syntax.Assign {
	return slices.DeleteFunc(slices.Clone(r.values[a.variable]), func(s *syntax.Assign) bool {
		return int(s.Pos().Line()) >= a.Line
	})
}

func (a *Argument) doubt(kind DoubtKind) {
	if !slices.Contains(a.Doubts, kind) {
		a.Doubts = append(a.Doubts, kind)
	}
}

// argument returns the argument that an expansion has, or nil.
func (r *reader) argument(p *syntax.ParamExp) *Argument {
	a := r.argumentAt(p)
	if a != nil {
		r.met[p] = append(r.met[p], a)
	}
	return a
}

func (r *reader) argumentAt(p *syntax.ParamExp) *Argument {
	if p == nil || p.Param == nil {
		return nil
	}
	name, at, n := p.Param.Value, p.Pos(), position(p.Param.Value)
	switch {
	case r.isWord(name):
		r.keys[p] = true
		cut := p.Exp != nil && (p.Exp.Op == syntax.RemSmallPrefix || p.Exp.Op == syntax.RemLargePrefix)
		if r.frame.option != nil && (r.frame.equals || cut || p.Repl != nil || p.Slice != nil) { // ${1#*=}
			r.frame.joined = true
			return r.frame.option
		}
		return r.frame.operand
	case n > 0:
		r.own[p] = r.frame.words != nil
		return r.operand(n, at)
	case (name == "@" || name == "*") && !p.Length:
		return r.allFrom(max(offset(p), 1), "", at)
	case name == r.listed && p.Index != nil:
		return r.element(p)
	}
	return r.byVariable[name]
}

// isWord reports whether a parameter is the word that a loop looks at.
func (r *reader) isWord(name string) bool {
	f := r.frame
	return f.key != "" && name == f.key || f.place > 0 && position(name)+f.shifted == f.place && position(name) > 0
}

// operand returns the argument that is now at a place, from 1, or nil if the word there is not one of the caller.
func (r *reader) operand(place int, at syntax.Pos) *Argument {
	f := r.frame
	place += f.shifted
	switch {
	case f.operand != nil:
		return f.operand
	case f.words != nil && place > len(f.words):
		return nil
	case f.words != nil:
		a := f.words[place-1]
		f.reads = f.reads || a != nil && a == f.option
		return a
	case r.rest != nil && place >= r.rest.place:
		return r.rest
	case r.places[place] == nil:
		r.places[place] = &Argument{Value: true, place: place, Line: int(at.Line())}
	}
	return r.places[place]
}

// all returns the argument that takes all words from here on, or nil. name is the variable that has them, or "". In the
// branch of a loop for other words, the variable is a list of them.
func (r *reader) all(name string, at syntax.Pos) *Argument { return r.allFrom(1, name, at) }

// allFrom is all for the words from a place on: "${@:2}".
func (r *reader) allFrom(first int, name string, at syntax.Pos) *Argument {
	f, place := r.frame, r.frame.shifted+first
	switch {
	case f.operand != nil && name != "":
		r.listed, place = name, r.next()
	case f.words != nil:
		return nil
	}
	if r.rest == nil {
		r.rest = &Argument{Value: true, Repeat: true, place: place, Line: int(at.Line())}
	}
	if r.rest.variable == "" && name != "" {
		r.rest.variable = name
		r.byVariable[name] = r.rest
	}
	return r.rest
}

// element handles ${files[0]} and ${files[@]:1} of the array in which a loop collected the operands.
func (r *reader) element(p *syntax.ParamExp) *Argument {
	w, _ := p.Index.(*syntax.Word)
	index, ok := literal(w)
	if n := position(index); ok && (n > 0 || index == "0") {
		r.unlist()
		return r.operand(n+1, p.Pos())
	}
	if n := offset(p); n > 0 {
		r.unlist()
		return r.allFrom(n+1, "", p.Pos())
	}
	return r.byVariable[p.Param.Value]
}

// unlist takes back that the collected operands are a list.
func (r *reader) unlist() {
	if r.rest != nil && r.rest.variable == r.listed {
		if r.rest.Required {
			r.counts = append(r.counts, count{1, r.options, fails})
		}
		delete(r.byVariable, r.listed)
		r.rest = nil
	}
}

// use notes the arguments that a node uses, and returns them.
func (r *reader) use(n syntax.Node) (used []*Argument) {
	var skipped uint // the end of the words that only getopt uses
	each(n, func(n syntax.Node) {
		if programOf(n) == "getopt" {
			skipped = n.End().Offset()
		}
		if n.Pos().Offset() < skipped {
			return
		}
		switch n := n.(type) {
		case *syntax.ParamExp:
			if a := r.argument(n); a != nil {
				r.expanded(a, n)
				used = append(used, a)
			}
		case *syntax.CallExpr: // $(double "$1")
			if f := r.functions[programOf(n)]; f != nil && !slices.ContainsFunc(n.Args, isAll) {
				r.enter(f, n.Args[1:], false)
			}
		}
	})
	return used
}

// missing is a message that names what is missing: "file", "file is missing", "FILE required".
var missing = lazyregexp.New(`^(?:missing |no )?([A-Za-z][\w-]*)` +
	`(?: (?:is |was )?(?:missing|required|needed|expected|not given))?$`)

// expanded reads the default, or the message for a missing value, of an expansion.
func (r *reader) expanded(a *Argument, p *syntax.ParamExp) {
	if a == nil || p.Exp == nil {
		return
	}
	if text, hasDefault := defaultOf(p); hasDefault {
		if text != "" && a.Default == nil {
			a.Default = &text
		}
		a.omitted = true
	} else if isRequired(p) {
		r.require(a, p, fails)
		text, ok := literal(p.Exp.Word)
		if m := missing.FindStringSubmatch(text); m != nil && a.message == "" {
			a.message = m[1]
		} else if ok && a.Text == "" {
			a.Text = text
		}
	}
}

// bind reads an assignment. Each run makes it if certain.
func (r *reader) bind(s *syntax.Assign, certain bool) {
	if s.Index != nil {
		r.use(s.Index)
	}
	if s.Name == nil { // declare "$1"
		r.use(s.Value)
		return
	}
	if s.Naked {
		return
	}
	name, f := s.Name.Value, r.frame
	text, isLiteral := literal(s.Value)
	p := parameter(s.Value)
	switch {
	case s.Array != nil:
		r.bindPart(s, s.Array)
	case isLiteral && f.option != nil && s.Value != nil:
		f.literal = cmp.Or(f.literal, name)
	case isLiteral:
		if r.byVariable[name] == nil && !r.options && f == r.caller {
			r.initial[name] = text
		}
	case p == nil || p.Length || p.Slice != nil && !r.isWord(p.Param.Value):
		r.bindPart(s, s.Value)
	case p.Param.Value == "@" || p.Param.Value == "*":
		if a := r.all(name, s.Pos()); a != nil {
			r.bindTo(a, name, false)
		}
	default:
		switch a := r.argument(p); {
		case a == nil:
			r.use(s.Value)
		case a == f.operand && s.Append:
			r.all(name, s.Pos())
		case a == f.operand:
			r.store(name, s.Pos())
		default:
			r.bindTo(a, name, s.Append || isNext(s))
			r.expanded(a, p)
			a.certain = a.certain || certain && a.place > 0 && p.Exp == nil
		}
	}
}

// bindPart reads an assignment of a list, or of a text that contains an argument.
func (r *reader) bindPart(s *syntax.Assign, value syntax.Node) {
	f, name := r.frame, s.Name.Value
	if isAllIn(s) {
		r.allFrom(max(offset(parameter(s.Array.Elems[0].Value)), 1), name, s.Pos())
		return
	}
	used := r.use(value)
	switch {
	case f.operand != nil && slices.Contains(used, f.operand) && (s.Append || s.Array != nil):
		r.all(name, s.Pos())
	case s.Array != nil && f.words == nil && len(used) == 1 && used[0] == r.rest: // files=("${args[@]:1}")
		r.bindTo(r.rest, name, false)
	case f.option != nil && slices.Contains(used, f.option): // kv=${1#*=}; list+=("$kv")
		r.bindTo(f.option, name, s.Append || collects(s))
		only := s.Array != nil && len(s.Array.Elems) == 1 && r.argumentOf(s.Array.Elems[0].Value) == f.option
		f.option.Repeat = f.option.Repeat || s.Append && only
	}
}

// collects reports whether an assignment adds to the variable, with nothing but separators: x="$x $OPTARG".
func collects(s *syntax.Assign) bool {
	if s.Value == nil || !refersTo(s.Value, s.Name.Value) {
		return false
	}
	text, _ := textOf(s.Value.Parts, false, nothing)
	return strings.Trim(text, " ,;:|\n\t") == ""
}

// bindTo notes a variable that has the value of an argument.
func (r *reader) bindTo(a *Argument, name string, appends bool) {
	if a.variable == "" && (a.place > 0 || r.frame.before == nil) {
		a.variable = name
	}
	if old := r.byVariable[name]; old != nil && r.frame.before != nil && r.frame.before[name] == nil {
		r.frame.before[name] = old
	}
	a.Repeat = a.Repeat || appends && a == r.frame.option && a.variable == name
	r.byVariable[name] = a
}

// store notes that the branch for other words stores the word: it is the next operand.
func (r *reader) store(name string, at syntax.Pos) {
	if r.byVariable[name] != nil {
		return
	}
	a := r.rest
	if a == nil {
		a = &Argument{Value: true, place: r.next(), Line: int(at.Line()), Kind: r.frame.operand.Kind}
		r.places[a.place] = a
	}
	r.bindTo(a, name, false)
	r.frame.stored = a
}

// next returns the place of the next operand that a loop stores.
func (r *reader) next() int { return max(len(r.places), r.caller.shifted) + 1 }

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

// set reads set -- WORDS. From here on, places count the new words. The places stay if all old words are among them, or
// if a word contains an argument and more. A list of operands is put back.
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

// holds reports whether a word contains an argument.
func (r *reader) holds(w *syntax.Word) bool {
	return expands(w, func(name string) bool {
		return position(name) > 0 || name == "@" || name == "*" || r.byVariable[name] != nil
	})
}

// argumentOf returns the argument that a word consists of, or nil.
func (r *reader) argumentOf(w *syntax.Word) *Argument {
	if p := parameter(w); p != nil && !p.Length && !isAll(w) {
		return r.argument(p)
	}
	return nil
}

// forLoop reads a for loop over other things than options. In select, the words are the choices of a question.
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

// moves notes a loop in which $1 is another word each time.
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
