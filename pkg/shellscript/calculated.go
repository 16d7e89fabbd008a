package shellscript

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A calculation finds the arguments that can reach an arithmetic expression, directly or through variables. There
// Bash runs the command in x[$(command)], so these arguments must be integers. The order of the commands does not
// matter. If it is not known how a text reaches the expression, all arguments are integers.
//
// An argument is plain text, without commands, if only a part of it is a number. So is an argument that the output of
// a program can contain: $(du "$x"). Then all other arguments are plain, too, because arithmetic reads variables by
// their names.
type calculation struct {
	*reader
	operands []*Argument
	seen     map[string]bool
}

// A way describes how a text reaches an expression.
type way struct {
	names bool // each word in the text is the name of a variable, as in an expression
	plain bool // only a part of the text is an argument
}

// evaluated are variables whose texts Bash evaluates itself, or expands.
var evaluated = []string{"OPTIND", "RANDOM", "SECONDS", "PS4", "BASH_ENV", "ENV"}

// calculated gives the type integer to the arguments that the script calculates with.
func (r *reader) calculated(operands []*Argument) {
	c := &calculation{reader: r, operands: operands, seen: map[string]bool{}}
	c.follow(r.expressions, way{names: true})
	for array, list := range r.subscripts {
		if !r.keyed[array] {
			c.follow(list, way{names: true})
		}
	}
	for _, name := range evaluated {
		c.variable(name, way{})
	}
	for _, p := range r.indirect {
		c.parameter(p.in, p.node.(*syntax.ParamExp), way{})
	}
	for _, w := range r.numbers {
		if p := parameter(w); p != nil && !p.Length {
			for _, a := range append(r.met[p], r.byVariable[p.Param.Value]) {
				c.mark(a, way{})
			}
		}
	}
}

// contains reports whether a node is in the text of another one.
func contains(outer, inner syntax.Node) bool {
	return outer.Pos().Offset() <= inner.Pos().Offset() && inner.End().Offset() <= outer.End().Offset()
}

// once reports whether the calculation has not followed what in the way w before.
func (c *calculation) once(what string, w way) bool {
	key := fmt.Sprint(what, w.plain)
	was := c.seen[key]
	c.seen[key] = true
	return !was
}

func (c *calculation) follow(list []place, w way) {
	for _, p := range list {
		c.spread(p, way{w.names, w.plain || p.cut})
	}
}

// spread follows a text to the arguments in it. If the text is a name, spread also follows the variable with that
// name.
func (c *calculation) spread(p place, w way) {
	if word, ok := p.node.(*syntax.Word); ok && !w.names {
		text, known := textOf(word.Parts, false, nothing)
		w.plain = w.plain || !known && strings.Trim(text, "0123456789 \t\n") != ""
	}
	syntax.Walk(p.node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			for _, name := range strings.FieldsFunc(n.Value, isNoLetter) {
				if w.names || name == n.Value {
					c.variable(name, w)
				}
			}
		case *syntax.ParamExp:
			if n.Length || n.Param == nil {
				return false
			}
			if n.Excl && (n.Names != 0 || n.Index != nil) {
				c.follow(c.texts["!"+n.Param.Value], w) // ${!list[@]}
				return false
			}
			if c.parameter(p.in, n, w); n.Excl {
				c.all(w)
			}
			for _, word := range alternatives(n) {
				c.spread(place{in: p.in, node: word}, w)
			}
			return w.names && n.Pos() == n.Param.Pos() // x[i] evaluates i
		case *syntax.CmdSubst:
			c.output(p.in, n.Stmts, w)
			return false
		case *syntax.ProcSubst:
			c.output(p.in, n.Stmts, w)
			return false
		}
		return true
	})
}

// isNoLetter reports whether a character is not part of a name.
func isNoLetter(r rune) bool {
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

// parameter follows a parameter to the arguments that it has.
func (c *calculation) parameter(in string, p *syntax.ParamExp, w way) {
	for _, a := range c.met[p] {
		c.mark(a, w)
	}
	known := len(c.met[p]) > 0
	switch name := p.Param.Value; {
	case position(name) > 0:
		moves := len(c.moving) > 100 || slices.ContainsFunc(c.moving, func(n syntax.Node) bool { return contains(n, p) })
		c.positional(in, position(name), (known || c.own[p]) && !moves, w)
	case name == "@", name == "*", name == "BASH_ARGV":
		c.positional(in, 0, false, w)
	case name == standardInput:
		c.plainInput = true
		c.variable(name, w)
	case name == "OPTARG" && !known:
		c.all(w)
	case !c.keys[p]:
		c.variable(name, w)
	}
}

// variable follows a variable. It can be one whose name is known only when the script runs.
func (c *calculation) variable(name string, w way) {
	if !c.once(name, w) {
		return
	}
	c.mark(c.byVariable[name], w)
	if w.names = false; len(c.texts[name]) > 0 && c.once("", w) {
		c.follow(c.texts[""], w)
	}
	c.follow(c.texts[name], w)
	c.follow(c.texts["="+name], w)
}

// positional follows an argument of a function or of the script, or all of them if n is 0. If known is set, the
// reader has found which argument it is.
func (c *calculation) positional(in string, n int, known bool, w way) {
	w.names = false
	if in == "" || c.passed[in] {
		if !known {
			c.all(w)
		}
		c.reset("", w)
	}
	if in == "" || !c.once(fmt.Sprint(in, " ", n), w) {
		return
	}
	moves := c.reset(in, w) || len(c.calls["shift "+in]) > 0
	for _, call := range c.calls[in] {
		words := call.node.(*syntax.CallExpr).Args[1:]
		if len(words) == 1 && isAll(words[0]) && c.passed[in] && (call.in == "" || c.passed[call.in]) {
			continue
		}
		all := n == 0 || moves
		for i, word := range words {
			if all = all || i < n && isSeveral(word); all || i == n-1 {
				c.spread(place{in: call.in, node: word}, w)
			}
		}
	}
}

// reset follows the words of "set -- WORDS" in a function or in the script, and reports whether there are any.
func (c *calculation) reset(in string, w way) (found bool) {
	if !c.once("set "+in, w) {
		return true
	}
	for _, p := range c.calls["set "+in] {
		call := p.node.(*syntax.CallExpr)
		for _, word := range call.Args[1:] {
			if !c.settledSets[call] {
				c.spread(place{in: in, node: word}, w)
				found = true
			}
		}
	}
	return found
}

// isSeveral reports whether a word can become several.
func isSeveral(w *syntax.Word) bool {
	if _, isLiteral := literal(w); isLiteral {
		return false
	}
	p := parameter(w)
	_, isQuoted := w.Parts[0].(*syntax.DblQuoted)
	return !isQuoted || len(w.Parts) > 1 || isAll(w) || p != nil && p.Index != nil
}

// mark records that an argument reaches an expression. The word of a loop can be each operand.
func (c *calculation) mark(a *Argument, w way) {
	isFound := slices.Contains(c.operands, a) || slices.Contains(c.script.Arguments, a)
	switch {
	case a == nil:
	case w.plain:
		c.plain = true
	case isFound && len(a.Choices) > 0: // one of them
	case isFound:
		a.Kind = Integer
	default:
		for _, o := range c.operands {
			o.Kind = Integer
		}
	}
}

func (c *calculation) all(w way) {
	for _, a := range slices.Concat(c.script.Arguments, c.operands) {
		c.mark(a, w)
	}
}

// output follows the words that the output of commands can contain.
func (c *calculation) output(in string, list []*syntax.Stmt, w way) {
	visit := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl, *syntax.Assign, *syntax.TestClause, *syntax.Word, *syntax.ArithmCmd, *syntax.WordIter:
			return false
		case *syntax.Stmt:
			for _, redirect := range n.Redirs {
				switch text := textInto(redirect); {
				case redirectsOutput(redirect):
					return false
				case text != nil && !countsOnly(n.Cmd):
					c.spread(place{in: in, node: text}, w)
				}
			}
		case *syntax.BinaryCmd:
			return n.Op != syntax.Pipe || !countsOnly(n.Y.Cmd)
		case *syntax.CallExpr:
			c.printed(in, n, w)
			return false
		}
		return true
	}
	w.names = false
	for _, stmt := range list {
		syntax.Walk(stmt, visit)
	}
}

// redirectsOutput reports whether a command prints to another place than its standard output.
func redirectsOutput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.DplOut:
		return r.N == nil || r.N.Value == "1"
	case syntax.RdrAll, syntax.AppAll:
		return true
	}
	return false
}

// countsOnly reports whether a command prints numbers only, such as wc without a file.
func countsOnly(cmd syntax.Command) bool {
	_, words := simple(cmd)
	if len(words) == 0 {
		return false
	}
	option, counts := property(words[0], "counts")
	return counts && (option == "" || slices.Contains(words[1:], option))
}

// printed follows the words that a simple command can print. A filter prints the texts of its files.
func (c *calculation) printed(in string, call *syntax.CallExpr, w way) {
	name := programOf(call)
	if f := c.functions[name]; f != nil {
		if c.once("output "+name, w) {
			c.output(name, []*syntax.Stmt{f.Body}, w)
		}
		return
	}
	_, isFilter := property(name, "input")
	_, hasWords := property(name, "prints")
	switch {
	case len(call.Args) == 0, isBuiltin(name) && !prints(name):
	case !hasWords && (isFilter && !prints(name) || countsOnly(call)):
	default:
		w.plain = w.plain || !prints(name)
		for _, word := range call.Args[1:] {
			c.spread(place{in: in, node: word}, w)
		}
	}
}
