package shellscript

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A dataFlow follows data backwards, from arithmetic expressions to the arguments that can reach them. Bash runs the
// command in x[$(command)] there, so these arguments must be integers. The order of the commands does not matter. If it
// is not known how a text reaches the expression, all arguments are integers.
//
// An argument must not contain commands if it is only a part of such a text. The same applies if the output of a
// program can contain it: $(du "$x"). Then no argument may contain commands, because arithmetic reads variables by
// their names.
type dataFlow struct {
	*reader
	operands []*Argument
	seen     map[string]bool
}

// A taint describes how a text reaches an arithmetic expression.
type taint struct {
	isExpression bool // the text is evaluated, so each word in it is the name of a variable
	isPartial    bool // only a part of the text is an argument
}

// evaluatedVariables are variables whose texts Bash evaluates itself, or expands.
var evaluatedVariables = []string{"OPTIND", "RANDOM", "SECONDS", "PS4", "BASH_ENV", "ENV"}

// inferIntegers gives the type integer to the arguments that the script calculates with.
func (r *reader) inferIntegers(operands []*Argument) {
	d := &dataFlow{reader: r, operands: operands, seen: map[string]bool{}}
	d.traceAll(r.arithmetic, taint{isExpression: true})
	for array, list := range r.subscripts {
		if !r.associative[array] {
			d.traceAll(list, taint{isExpression: true})
		}
	}
	for _, name := range evaluatedVariables {
		d.traceVariable(name, taint{})
	}
	for _, p := range r.indirect {
		d.traceParameter(p.function, p.node.(*syntax.ParamExp), taint{})
	}
	for _, w := range r.numericOperands {
		if p := expansionIn(w); p != nil && !p.Length {
			for _, a := range append(r.resolved[p], r.byVariable[p.Param.Value]) {
				d.mark(a, taint{})
			}
		}
	}
}

// inShiftingLoop reports whether an expansion is in a loop in which $1 changes. If the script has many of these loops,
// it assumes that.
func (r *reader) inShiftingLoop(p *syntax.ParamExp) bool {
	return len(r.shiftingLoops) > 100 || slices.ContainsFunc(r.shiftingLoops, func(loop syntax.Node) bool {
		return loop.Pos().Offset() <= p.Pos().Offset() && p.End().Offset() <= loop.End().Offset()
	})
}

// isNew reports whether this is the first visit of a variable, a parameter or a command with a taint.
func (d *dataFlow) isNew(what string, t taint) bool {
	key := fmt.Sprint(what, t.isPartial)
	was := d.seen[key]
	d.seen[key] = true
	return !was
}

func (d *dataFlow) traceAll(list []site, t taint) {
	for _, s := range list {
		d.trace(s, taint{t.isExpression, t.isPartial || s.split})
	}
}

// trace marks the arguments in a text, and traces its variables. If the text is a name, it traces the variable with
// that name, too.
func (d *dataFlow) trace(s site, t taint) {
	if word, ok := s.node.(*syntax.Word); ok && !t.isExpression {
		text, known := textOf(word.Parts, false, noExpansion)
		t.isPartial = t.isPartial || !known && strings.Trim(text, "0123456789 \t\n") != ""
	}
	syntax.Walk(s.node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			for _, name := range strings.FieldsFunc(n.Value, isNoNameRune) {
				if t.isExpression || name == n.Value {
					d.traceVariable(name, t)
				}
			}
		case *syntax.ParamExp:
			if n.Length || n.Param == nil {
				return false
			}
			if n.Excl && (n.Names != 0 || n.Index != nil) {
				d.traceAll(d.definitions["!"+n.Param.Value], t) // ${!list[@]}
				return false
			}
			if d.traceParameter(s.function, n, t); n.Excl {
				d.markAll(t)
			}
			for _, word := range alternatives(n) {
				d.trace(site{function: s.function, node: word}, t)
			}
			return t.isExpression && n.Pos() == n.Param.Pos() // x[i] evaluates i
		case *syntax.CmdSubst:
			d.traceOutput(s.function, n.Stmts, t)
			return false
		case *syntax.ProcSubst:
			d.traceOutput(s.function, n.Stmts, t)
			return false
		}
		return true
	})
}

// isNoNameRune reports whether a character is not part of a name.
func isNoNameRune(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// alternatives returns the words that can be the text of an expansion, or part of it: ${x:-y}, ${x:+y}, ${x/y/z}.
func alternatives(p *syntax.ParamExp) (list []*syntax.Word) {
	if p.Exp != nil && p.Exp.Word != nil && p.Exp.Op <= syntax.AssignUnsetOrNull {
		list = append(list, p.Exp.Word)
	}
	if p.Repl != nil && p.Repl.With != nil {
		list = append(list, p.Repl.With)
	}
	return list
}

// traceParameter marks the arguments that an expansion of a parameter has, or traces the parameter.
func (d *dataFlow) traceParameter(function string, p *syntax.ParamExp, t taint) {
	for _, a := range d.resolved[p] {
		d.mark(a, t)
	}
	known := len(d.resolved[p]) > 0
	switch name := p.Param.Value; {
	case number(name) > 0:
		d.tracePositional(function, number(name), (known || d.ofFrame[p]) && !d.inShiftingLoop(p), t)
	case name == "@", name == "*", name == "BASH_ARGV":
		d.tracePositional(function, 0, false, t)
	case name == stdinVariable:
		d.partialStdin = true
		d.traceVariable(name, t)
	case name == "OPTARG" && !known:
		d.markAll(t)
	case !d.ofCurrentWord[p]:
		d.traceVariable(name, t)
	}
}

// traceVariable traces the texts that a variable can get. Its name can be known only when the script runs.
func (d *dataFlow) traceVariable(name string, t taint) {
	if !d.isNew(name, t) {
		return
	}
	d.mark(d.byVariable[name], t)
	if t.isExpression = false; len(d.definitions[name]) > 0 && d.isNew("", t) {
		d.traceAll(d.definitions[""], t)
	}
	d.traceAll(d.definitions[name], t)
	d.traceAll(d.definitions["="+name], t)
}

// tracePositional traces $n of a function or of the script, or all positional parameters if n is 0. If known is set,
// the reader has found which argument it is.
func (d *dataFlow) tracePositional(function string, n int, known bool, t taint) {
	t.isExpression = false
	if function == "" || d.forwardsAll[function] {
		if !known {
			d.markAll(t)
		}
		d.traceSet("", t)
	}
	if function == "" || !d.isNew(fmt.Sprint(function, " ", n), t) {
		return
	}
	moves := d.traceSet(function, t) || len(d.calls["shift "+function]) > 0
	for _, call := range d.calls[function] {
		words := call.node.(*syntax.CallExpr).Args[1:]
		if len(words) == 1 && isAllArguments(words[0]) && d.forwardsAll[function] &&
			(call.function == "" || d.forwardsAll[call.function]) {
			continue
		}
		all := n == 0 || moves
		for i, word := range words {
			if all = all || i < n && canSplit(word); all || i == n-1 {
				d.trace(site{function: call.function, node: word}, t)
			}
		}
	}
}

// traceSet traces the words of "set -- WORDS" in a function or in the script, and reports whether there are any.
func (d *dataFlow) traceSet(function string, t taint) (found bool) {
	if !d.isNew("set "+function, t) {
		return true
	}
	for _, s := range d.calls["set "+function] {
		call := s.node.(*syntax.CallExpr)
		for _, word := range call.Args[1:] {
			if !d.resolvedSets[call] {
				d.trace(site{function: function, node: word}, t)
				found = true
			}
		}
	}
	return found
}

// canSplit reports whether a word can expand to several words.
func canSplit(w *syntax.Word) bool {
	if _, isLiteral := literal(w); isLiteral {
		return false
	}
	p := expansionIn(w)
	_, isQuoted := w.Parts[0].(*syntax.DblQuoted)
	return !isQuoted || len(w.Parts) > 1 || isAllArguments(w) || p != nil && p.Index != nil
}

// mark records that an argument reaches an expression. The word of a loop can be each operand.
func (d *dataFlow) mark(a *Argument, t taint) {
	isFound := slices.Contains(d.operands, a) || slices.Contains(d.script.Arguments, a)
	switch {
	case a == nil:
	case t.isPartial:
		d.partialTaint = true
	case isFound && len(a.Choices) > 0: // one of them
	case isFound:
		a.Kind = Integer
	default:
		for _, o := range d.operands {
			o.Kind = Integer
		}
	}
}

func (d *dataFlow) markAll(t taint) {
	for _, a := range slices.Concat(d.script.Arguments, d.operands) {
		d.mark(a, t)
	}
}

// traceOutput traces the words that the output of commands can contain.
func (d *dataFlow) traceOutput(function string, list []*syntax.Stmt, t taint) {
	visit := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl, *syntax.Assign, *syntax.TestClause, *syntax.Word, *syntax.ArithmCmd, *syntax.WordIter:
			return false
		case *syntax.Stmt:
			for _, redirect := range n.Redirs {
				switch text := textInto(redirect); {
				case redirectsStdout(redirect):
					return false
				case text != nil && !printsNumbers(n.Cmd):
					d.trace(site{function: function, node: text}, t)
				}
			}
		case *syntax.BinaryCmd:
			return n.Op != syntax.Pipe || !printsNumbers(n.Y.Cmd)
		case *syntax.CallExpr:
			d.traceCommand(function, n, t)
			return false
		}
		return true
	}
	t.isExpression = false
	for _, stmt := range list {
		syntax.Walk(stmt, visit)
	}
}

// redirectsStdout reports whether a command sends its output elsewhere.
func redirectsStdout(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.DplOut:
		return r.N == nil || r.N.Value == "1"
	case syntax.RdrAll, syntax.AppAll:
		return true
	}
	return false
}

// printsNumbers reports whether a command prints numbers only, such as wc without a file.
func printsNumbers(cmd syntax.Command) bool {
	_, words := literalWords(cmd)
	if len(words) == 0 {
		return false
	}
	option, counts := property(words[0], "counts")
	return counts && (option == "" || slices.Contains(words[1:], option))
}

// traceCommand traces the words that a simple command can print. A filter prints the texts of its files.
func (d *dataFlow) traceCommand(function string, call *syntax.CallExpr, t taint) {
	name := commandName(call)
	if f := d.functions[name]; f != nil {
		if d.isNew("output "+name, t) {
			d.traceOutput(name, []*syntax.Stmt{f.Body}, t)
		}
		return
	}
	_, isFilter := property(name, "input")
	_, hasWords := property(name, "prints")
	switch {
	case len(call.Args) == 0, isBuiltin(name) && !prints(name):
	case !hasWords && (isFilter && !prints(name) || printsNumbers(call)):
	default:
		t.isPartial = t.isPartial || !prints(name)
		for _, word := range call.Args[1:] {
			d.trace(site{function: function, node: word}, t)
		}
	}
}
