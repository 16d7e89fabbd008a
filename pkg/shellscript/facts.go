package shellscript

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Facts about the commands of a script do not depend on the order in which the commands run. One walk collects them.
type facts struct {
	functions   map[string]*syntax.FuncDecl
	values      map[string][]*syntax.Assign // of variables
	texts       map[string][]place          // of variables; "" is one whose name is known only at run time
	calls       map[string][]place          // by the command and, with "shift " and "set ", by the function
	keyed       map[string]bool             // associative arrays
	expressions []place                     // arithmetic, in which Bash runs the command in x[$(command)]
	subscripts  map[string][]place          // the same, unless the array is an associative one
	indirect    []place                     // ${!x}: Bash evaluates a subscript in the name
	numbers     []*syntax.Word              // sides of [ a -gt b ]: Bash runs no commands there
}

// A place is a part of a script, and the function that it is in, or "".
type place struct {
	in   string
	node syntax.Node
	cut  bool // the script splits the text
}

// standardInput is the name of a variable that has what commands read from their standard input.
const standardInput = "<"

// collect records the facts of a script, or of a function.
func (r *reader) collect(in string, root syntax.Node) {
	syntax.Walk(root, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok {
			if f.Name != nil {
				r.functions[f.Name.Value] = f
				r.collect(f.Name.Value, f.Body)
			}
			return false
		}
		if n != nil {
			r.fact(in, n)
		}
		return true
	})
}

func (r *reader) fact(in string, n syntax.Node) {
	at := func(n syntax.Node) place { return place{in: in, node: n} }
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		r.expressions = append(r.expressions, at(n))
	case *syntax.BinaryTest:
		if isNumeric(n.Op.String()) {
			r.expressions = append(r.expressions, at(n.X), at(n.Y))
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			r.nameIn(at(w))
		}
	case *syntax.ParamExp:
		if n.Param != nil {
			r.expansionAt(at, n)
		}
	case *syntax.Assign:
		if n.Name != nil && !n.Naked {
			r.assignment(at, n)
		}
	case *syntax.DeclClause:
		r.declaration(at, n)
	case *syntax.ForClause:
		if loop, ok := n.Loop.(*syntax.WordIter); ok {
			for _, w := range loop.Items {
				r.assign(loop.Name.Value, at(w))
			}
			if !loop.InPos.IsValid() {
				r.assign(loop.Name.Value, at(expansionOf("@")))
			}
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			r.assign(standardInput, at(&syntax.CmdSubst{Stmts: []*syntax.Stmt{n.X}}))
		}
	case *syntax.Redirect:
		if text := textInto(n); text != nil {
			r.assign(standardInput, at(text))
		}
	case *syntax.CallExpr:
		r.commandAt(at, n)
	}
}

// assign records a text that a variable gets.
func (r *reader) assign(name string, text place) {
	name, _, _ = strings.Cut(name, "[")
	r.texts[name] = append(r.texts[name], text)
}

// expansionOf returns an expansion of a parameter.
func expansionOf(name string) *syntax.ParamExp {
	return &syntax.ParamExp{Param: &syntax.Lit{Value: name}}
}

// textInto returns the text that a command reads through a redirection: <<EOF, <<< "$x", or < <(command).
func textInto(r *syntax.Redirect) syntax.Node {
	switch {
	case r.Hdoc != nil:
		return r.Hdoc
	case r.Op == syntax.WordHdoc, r.Op == syntax.RdrIn && parameter(r.Word) == nil:
		return r.Word
	}
	return nil
}

// nameIn records a word with the name of a variable, in which Bash evaluates a subscript.
func (r *reader) nameIn(p place) {
	text, isLiteral := literal(p.node.(*syntax.Word))
	if array, _, is := strings.Cut(text, "["); !isLiteral || is {
		r.subscripts[array] = append(r.subscripts[array], p)
	}
}

// expansionAt records the arithmetic in an expansion: an index, ${x:1:2}, and the names in ${!x} and ${x@P}.
func (r *reader) expansionAt(at func(syntax.Node) place, p *syntax.ParamExp) {
	name := p.Param.Value
	if p.Index != nil {
		r.subscripts[name] = append(r.subscripts[name], at(p.Index))
	}
	if p.Slice != nil {
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if x != nil {
				r.expressions = append(r.expressions, at(x))
			}
		}
	}
	operator := ""
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		operator, _ = literal(p.Exp.Word)
	}
	if p.Excl && p.Names == 0 && p.Index == nil || operator == "P" {
		r.indirect = append(r.indirect, at(p))
	}
	if _, hasDefault := defaultOf(p); hasDefault && p.Exp.Word != nil { // : ${x:=text}
		r.assign("="+name, at(p.Exp.Word))
	}
}

// assignment records the texts and the indexes in x=text, x[i]=text and x=([i]=text). The variable "!x" has the keys.
func (r *reader) assignment(at func(syntax.Node) place, s *syntax.Assign) {
	name := s.Name.Value
	r.values[name] = append(r.values[name], s)
	elements := []*syntax.ArrayElem{{Index: s.Index, Value: s.Value}}
	if s.Array != nil {
		elements = append(elements, s.Array.Elems...)
	}
	for _, e := range elements {
		if e.Index != nil {
			r.subscripts[name] = append(r.subscripts[name], at(e.Index))
			r.assign("!"+name, at(e.Index))
		}
		if e.Value != nil {
			r.assign(name, at(e.Value))
		}
	}
}

// declaration records the effects of declare on its variables.
func (r *reader) declaration(at func(syntax.Node) place, d *syntax.DeclClause) {
	flags := ""
	for _, s := range d.Args {
		switch text, _ := literal(s.Value); {
		case s.Name == nil && strings.HasPrefix(text, "-"):
			flags += text
		case s.Name == nil: // declare "$name=$value"
			r.assign("", at(s.Value))
			if d.Variant.Value != "export" {
				r.expressions = append(r.expressions, at(s.Value))
			}
		case strings.Contains(flags, "A"):
			r.keyed[s.Name.Value] = true
		case strings.Contains(flags, "i"):
			r.expressions = append(r.expressions, at(s.Name))
		case strings.Contains(flags, "n") && s.Value != nil:
			r.expressions = append(r.expressions, at(s.Value))
			r.assign("", at(s.Name))
		}
	}
}

// commandAt records a simple command and its effects on variables.
func (r *reader) commandAt(at func(syntax.Node) place, c *syntax.CallExpr) {
	_, words := simple(c)
	if len(words) == 0 {
		return
	}
	p := at(c)
	name := words[0]
	if name == "." {
		name = "source"
	}
	r.calls[name] = append(r.calls[name], p)
	switch name {
	case "[", "test":
		for i := 1; i+1 < len(words); i++ {
			switch w := words[i]; {
			case i > 1 && isNumeric(w):
				r.numbers = append(r.numbers, c.Args[i-1], c.Args[i+1])
			case w == "-v" || w == "-R":
				r.nameIn(at(c.Args[i+1]))
			}
		}
	case "shift", "set":
		key := name + " " + p.in
		r.calls[key] = append(r.calls[key], p)
	case "unset", "compgen": // compgen expands words
		for _, w := range c.Args[1:] {
			r.nameIn(at(w))
		}
	case "getopts":
		if len(words) > 2 {
			r.assign(words[2], at(expansionOf("OPTIND")))
		}
	case "printf":
		if len(words) > 3 && words[1] == "-v" {
			r.nameIn(at(c.Args[2]))
			for _, w := range c.Args[3:] {
				r.assign(words[2], at(w))
			}
		}
	case "read", "mapfile", "readarray":
		r.variablesOf(p, c, words)
	}
}

// variablesOf records the variables that read sets.
func (r *reader) variablesOf(p place, c *syntax.CallExpr, words []string) {
	valued := "dnOsucC"
	if words[0] == "read" {
		valued = "dinNptu"
	}
	var names []string
	for i := 1; i < len(words); i++ {
		if w := words[i]; !strings.HasPrefix(w, "-") {
			r.nameIn(place{in: p.in, node: c.Args[i]})
			names = append(names, w)
		} else if strings.ContainsAny(w[len(w)-1:], valued) {
			i++
		}
	}
	text := place{in: p.in, node: expansionOf(standardInput), cut: len(names) > 1}
	if len(names) == 0 {
		names = []string{"REPLY", "MAPFILE"}
	}
	for _, name := range names {
		r.assign(name, text)
	}
}
