package source

import (
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// statements reads statements that get the arguments of the script. Each run executes them if certain.
func (r *reader) statements(list []*syntax.Stmt, certain bool) {
	for _, stmt := range list {
		r.statement(stmt, certain)
	}
}

func (r *reader) statement(stmt *syntax.Stmt, certain bool) {
	for _, redirect := range stmt.Redirs {
		r.use(redirect)
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.WhileClause:
		if !r.optionLoop(c) {
			r.useOf(c.Cond)
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
		r.binary(c, certain)
	case *syntax.Block:
		r.statements(c.Stmts, certain)
	case *syntax.Subshell:
		r.statements(c.Stmts, certain)
	case *syntax.CallExpr:
		r.call(c, certain)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			r.bind(a)
		}
	case nil, *syntax.FuncDecl:
	default:
		r.use(c)
	}
}

// use notes the arguments that a node uses.
func (r *reader) use(n syntax.Node) {
	var skipped uint // the end of the words that only getopt uses
	each(n, func(n syntax.Node) {
		if programOf(n) == "getopt" {
			skipped = n.End().Offset()
		}
		if n.Pos().Offset() < skipped {
			return
		}
		placesIn(n, func(place int, at syntax.Pos) { r.operand(place, at).Kind = Integer })
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Param == nil {
			return
		}
		name := p.Param.Value
		switch {
		case position(name) > 0:
			r.expanded(r.operand(position(name), p.Pos()), p)
		case (name == "@" || name == "*") && !p.Length:
			r.all("", p.Pos())
		case name == r.listed && r.listed != "" && p.Index != nil:
			r.element(p)
		case r.byVariable[name] != nil:
			r.expanded(r.byVariable[name], p)
		}
	})
}

func (r *reader) useOf(list []*syntax.Stmt) {
	for _, stmt := range list {
		r.use(stmt)
	}
}

// operand returns the operand that is now at a place, from 1.
func (r *reader) operand(place int, at syntax.Pos) *Argument {
	place += r.shifted
	if r.replaced != nil {
		if place <= len(r.replaced) && r.replaced[place-1] != nil {
			return r.replaced[place-1]
		}
		return &Argument{Value: true} // not of the caller
	}
	if r.rest != nil && place >= r.rest.place {
		return r.rest
	}
	a := r.places[place]
	if a == nil {
		a = &Argument{Value: true, place: place, Line: int(at.Line())}
		r.places[place] = a
	}
	return a
}

// all notes that all words from here on are used. name is a variable, or "".
func (r *reader) all(name string, at syntax.Pos) *Argument {
	if r.replaced != nil {
		return &Argument{Value: true}
	}
	if r.rest == nil {
		r.rest = &Argument{Value: true, Repeat: true, place: r.shifted + 1, Line: int(at.Line())}
	}
	if r.rest.variable == "" && name != "" {
		r.rest.variable = name
		r.byVariable[name] = r.rest
	}
	return r.rest
}

// element handles ${files[0]} of the array in which a loop collected the operands.
func (r *reader) element(p *syntax.ParamExp) *Argument {
	w, _ := p.Index.(*syntax.Word)
	index, ok := literal(w)
	if n := position(index); ok && (n > 0 || index == "0") {
		r.unlist()
		return r.operand(n+1, p.Pos())
	}
	return nil
}

// unlist takes back that the collected operands are a list.
func (r *reader) unlist() {
	if r.rest != nil && r.rest.variable == r.listed {
		delete(r.byVariable, r.listed)
		r.rest = nil
	}
}

// missing is a message that names what is missing: "file", "file is missing", "FILE required".
var missing = lazyregexp.New(`^(?:missing |no )?([A-Za-z][\w-]*)` +
	`(?: (?:is |was )?(?:missing|required|needed|expected|not given))?$`)

// expanded reads the default, or the message for a missing value, of an expansion.
func (r *reader) expanded(a *Argument, p *syntax.ParamExp) {
	if a == nil || p.Exp == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		text, ok := literal(p.Exp.Word)
		switch {
		case ok && text != "" && a.Default == nil:
			a.Default = &text
		}
		a.omitted = true
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		a.Required = true
		text, ok := literal(p.Exp.Word)
		if m := missing.FindStringSubmatch(text); m != nil && a.message == "" {
			a.message = m[1]
		} else if ok && a.Text == "" {
			a.Text = text
		}
	}
}

// bind reads an assignment.
func (r *reader) bind(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	name := a.Name.Value
	if a.Array != nil {
		if isAllIn(a) {
			r.all(name, a.Pos())
			return
		}
		r.use(a.Array)
		return
	}
	if text, ok := literal(a.Value); ok {
		if r.byVariable[name] == nil && !r.options {
			r.initial[name] = text
		}
		return
	}
	p := parameter(a.Value)
	if p == nil || p.Length || p.Slice != nil {
		r.use(a.Value)
		return
	}
	source := p.Param.Value
	var of *Argument
	switch {
	case p.Index != nil && source == r.listed && r.listed != "":
		of = r.element(p)
	case position(source) > 0:
		of = r.operand(position(source), a.Pos())
	case source == "@" || source == "*":
		of = r.all(name, a.Pos())
	default:
		of = r.byVariable[source]
	}
	if of == nil {
		r.use(a.Value)
		return
	}
	if of.variable == "" {
		of.variable = name
	}
	r.byVariable[name] = of
	r.expanded(of, p)
}

// call reads a simple command.
func (r *reader) call(c *syntax.CallExpr, certain bool) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.bind(a)
		}
		return
	}
	_, words := simple(c)
	switch words[0] {
	case "shift":
		r.shift(c)
		return
	case "set":
		if r.set(c, words, certain) {
			return
		}
	}
	f := r.functions[words[0]]
	if f == nil || words[0] == "" {
		r.use(c)
		if slices.ContainsFunc(c.Args, isAll) && r.rest != nil && !slices.Contains(r.rest.Doubts, DoubtPassedOn) {
			r.rest.Doubts = append(r.rest.Doubts, DoubtPassedOn)
		}
		return
	}
	body, ok := f.Body.Cmd.(*syntax.Block)
	if len(c.Args) == 2 && isAll(c.Args[1]) && ok && !r.entered[words[0]] {
		r.entered[words[0]] = true
		r.statements(body.Stmts, certain)
		return
	}
	for i, w := range c.Args[1:] {
		r.use(w)
		if ok {
			r.pass(w, i+1, body)
		}
	}
}

// pass gives an argument that a function gets the name that it has there.
func (r *reader) pass(w *syntax.Word, place int, body *syntax.Block) {
	name := nameOf(w)
	a := r.byVariable[name]
	if n := position(name); n > 0 {
		a = r.operand(n, w.Pos())
	}
	if a == nil {
		return
	}
	eachOf(body.Stmts, func(n syntax.Node) {
		placesIn(n, func(at int, _ syntax.Pos) {
			if at == place {
				a.Kind = Integer
			}
		})
		if s, ok := n.(*syntax.Assign); ok && s.Name != nil && s.Value != nil && position(nameOf(s.Value)) == place {
			if a.variable == "" {
				a.variable = s.Name.Value
			}
			if r.byVariable[s.Name.Value] == nil {
				r.byVariable[s.Name.Value] = a
			}
		}
	})
}

// shift notes that words were taken off the front.
func (r *reader) shift(c *syntax.CallExpr) {
	if len(c.Args) == 1 {
		r.shifted++
	} else if text, ok := literal(c.Args[1]); ok {
		r.shifted += position(text)
	} // else of OPTIND: the options were read, and the operands begin
}

// set reads set -- "${list[@]}", which puts collected operands back.
func (r *reader) set(c *syntax.CallExpr, words []string, certain bool) bool {
	if len(words) < 2 || words[1] != "--" {
		return false
	}
	for _, w := range c.Args[2:] {
		if p := parameter(w); p != nil && p.Param.Value == r.listed && r.listed != "" {
			r.unlist()
			r.shifted = 0
			return true
		}
	}
	r.useOf([]*syntax.Stmt{{Cmd: c}})
	if certain && !slices.ContainsFunc(c.Args[2:], isAll) {
		r.replace(c.Args[2:])
	}
	return true
}

// forLoop reads a for loop over other things than options. In select, the words are the choices of a question.
func (r *reader) forLoop(c *syntax.ForClause) {
	loop, ok := c.Loop.(*syntax.WordIter)
	if ok && !c.Select {
		if !loop.InPos.IsValid() || len(loop.Items) == 1 && isAll(loop.Items[0]) {
			r.all(loop.Name.Value, c.Pos())
		} else if len(loop.Items) == 1 && r.listed != "" && refersTo(loop.Items[0], r.listed) {
			r.byVariable[loop.Name.Value] = r.rest
		} else {
			for _, w := range loop.Items {
				r.use(w)
			}
		}
	} else if !ok {
		r.use(c.Loop)
	}
	r.statements(c.Do, false)
}

// An outcome is what happens at the end of statements.
type outcome int

const (
	goesOn outcome = iota
	endsWell
	fails
	probablyFails
)

// outcomeOf returns how statements end.
func (r *reader) outcomeOf(list []*syntax.Stmt) outcome { return r.outcomeIn(list, map[string]bool{}) }

func (r *reader) outcomeIn(list []*syntax.Stmt, seen map[string]bool) outcome {
	usage := false
	for _, stmt := range list {
		switch c := stmt.Cmd.(type) {
		case *syntax.Block:
			if o := r.outcomeIn(c.Stmts, seen); o != goesOn {
				return o
			}
		case *syntax.BinaryCmd:
			if o := r.outcomeIn([]*syntax.Stmt{c.X, c.Y}, seen); o != goesOn && c.Op == syntax.AndStmt {
				return o
			}
		case *syntax.CallExpr:
			_, words := simple(c)
			if len(words) == 0 {
				continue
			}
			usage = usage || saysUsage(words)
			if o := r.outcomeOfCall(words, usage, seen); o != goesOn {
				return o
			}
		}
	}
	return goesOn
}

func (r *reader) outcomeOfCall(words []string, usage bool, seen map[string]bool) outcome {
	name := words[0]
	switch {
	case name == "exit" || name == "return":
		if len(words) > 1 && words[1] == "0" && !usage {
			return endsWell
		}
		return fails
	case r.functions[name] != nil && !seen[name]:
		seen[name] = true
		defer delete(seen, name)
		o := goesOn
		if body, ok := r.functions[name].Body.Cmd.(*syntax.Block); ok {
			o = r.outcomeIn(body.Stmts, seen)
		}
		if o == endsWell && isUsage(name) {
			return fails
		}
		return o
	case r.functions[name] == nil && (isUsage(name) || isFailure(name)):
		return probablyFails
	}
	return goesOn
}

func isUsage(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "usage") || strings.Contains(name, "help")
}

func isFailure(name string) bool {
	switch name {
	case "die", "fail", "fatal", "abort", "bail", "error_exit", "err_exit":
		return true
	}
	return false
}

// saysUsage reports whether a command prints a usage text, so that an exit 0 after it is the end of a wrong call.
func saysUsage(words []string) bool {
	if isUsage(words[0]) {
		return true
	}
	switch words[0] {
	case "echo", "printf", "cat":
		return strings.Contains(strings.ToLower(strings.Join(words[1:], " ")), "usage")
	}
	return false
}
