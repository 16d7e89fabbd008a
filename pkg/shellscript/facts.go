package shellscript

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Facts about the commands of a script do not depend on the order in which the commands run. One walk collects them.
type facts struct {
	functions       map[string]*syntax.FuncDecl
	assignments     map[string][]*syntax.Assign // x=1, by variable
	definitions     map[string][]site           // all texts that a variable can get; "" if only a run knows its name
	calls           map[string][]site           // by the command and, with "shift " and "set ", by the function
	associative     map[string]bool             // arrays
	arithmetic      []site                      // expressions, in which Bash runs the command in x[$(command)]
	subscripts      map[string][]site           // the same, unless the array is an associative one
	indirect        []site                      // ${!x}: Bash evaluates a subscript in the name
	numericOperands []*syntax.Word              // sides of [ a -gt b ]: Bash runs no commands there
}

// A site is a node of the syntax tree, and the function that it is in, or "".
type site struct {
	function string
	node     syntax.Node
	split    bool // the script splits the text
}

// stdinVariable is the name, as if it was a variable, of the text that commands read from their standard input.
const stdinVariable = "<"

// collect records the facts of a script, or of a function.
func (r *reader) collect(function string, root syntax.Node) {
	syntax.Walk(root, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok {
			if f.Name != nil {
				r.functions[f.Name.Value] = f
				r.collect(f.Name.Value, f.Body)
			}
			return false
		}
		if n != nil {
			r.recordNode(function, n)
		}
		return true
	})
}

func (r *reader) recordNode(function string, n syntax.Node) {
	at := func(n syntax.Node) site { return site{function: function, node: n} }
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		r.arithmetic = append(r.arithmetic, at(n))
	case *syntax.BinaryTest:
		if isNumeric(n.Op.String()) {
			r.arithmetic = append(r.arithmetic, at(n.X), at(n.Y))
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			r.recordNameWord(at(w))
		}
	case *syntax.ParamExp:
		if n.Param != nil {
			r.recordExpansion(at, n)
		}
	case *syntax.Assign:
		if n.Name != nil && !n.Naked {
			r.recordAssignment(at, n)
		}
	case *syntax.DeclClause:
		r.recordDeclaration(at, n)
	case *syntax.ForClause:
		if loop, ok := n.Loop.(*syntax.WordIter); ok {
			for _, w := range loop.Items {
				r.define(loop.Name.Value, at(w))
			}
			if !loop.InPos.IsValid() {
				r.define(loop.Name.Value, at(newExpansion("@")))
			}
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			r.define(stdinVariable, at(&syntax.CmdSubst{Stmts: []*syntax.Stmt{n.X}}))
		}
	case *syntax.Redirect:
		if text := textInto(n); text != nil {
			r.define(stdinVariable, at(text))
		}
	case *syntax.CallExpr:
		r.recordCommand(at, n)
	}
}

// define records a text that a variable gets.
func (r *reader) define(name string, text site) {
	name, _, _ = strings.Cut(name, "[")
	r.definitions[name] = append(r.definitions[name], text)
}

// newExpansion returns an expansion of a parameter.
func newExpansion(name string) *syntax.ParamExp {
	return &syntax.ParamExp{Param: &syntax.Lit{Value: name}}
}

// textInto returns the text that a command reads through a redirection: <<EOF, <<< "$x", or < <(command).
func textInto(r *syntax.Redirect) syntax.Node {
	switch {
	case r.Hdoc != nil:
		return r.Hdoc
	case r.Op == syntax.WordHdoc, r.Op == syntax.RdrIn && expansionIn(r.Word) == nil:
		return r.Word
	}
	return nil
}

// recordNameWord records a word with the name of a variable, in which Bash evaluates a subscript.
func (r *reader) recordNameWord(s site) {
	text, isLiteral := literal(s.node.(*syntax.Word))
	if array, _, is := strings.Cut(text, "["); !isLiteral || is {
		r.subscripts[array] = append(r.subscripts[array], s)
	}
}

// recordExpansion records the arithmetic in an expansion: an index, ${x:1:2}, and the names in ${!x} and ${x@P}.
func (r *reader) recordExpansion(at func(syntax.Node) site, p *syntax.ParamExp) {
	name := p.Param.Value
	if p.Index != nil {
		r.subscripts[name] = append(r.subscripts[name], at(p.Index))
	}
	if p.Slice != nil {
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if x != nil {
				r.arithmetic = append(r.arithmetic, at(x))
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
		r.define("="+name, at(p.Exp.Word))
	}
}

// recordAssignment records the texts and indexes in x=text, x[i]=text and x=([i]=text). The variable "!x" has the keys.
func (r *reader) recordAssignment(at func(syntax.Node) site, s *syntax.Assign) {
	name := s.Name.Value
	r.assignments[name] = append(r.assignments[name], s)
	elements := []*syntax.ArrayElem{{Index: s.Index, Value: s.Value}}
	if s.Array != nil {
		elements = append(elements, s.Array.Elems...)
	}
	for _, e := range elements {
		if e.Index != nil {
			r.subscripts[name] = append(r.subscripts[name], at(e.Index))
			r.define("!"+name, at(e.Index))
		}
		if e.Value != nil {
			r.define(name, at(e.Value))
		}
	}
}

// recordDeclaration records the effects of declare on its variables.
func (r *reader) recordDeclaration(at func(syntax.Node) site, d *syntax.DeclClause) {
	flags := ""
	for _, s := range d.Args {
		switch text, _ := literal(s.Value); {
		case s.Name == nil && strings.HasPrefix(text, "-"):
			flags += text
		case s.Name == nil: // declare "$name=$value"
			r.define("", at(s.Value))
			if d.Variant.Value != "export" {
				r.arithmetic = append(r.arithmetic, at(s.Value))
			}
		case strings.Contains(flags, "A"):
			r.associative[s.Name.Value] = true
		case strings.Contains(flags, "i"):
			r.arithmetic = append(r.arithmetic, at(s.Name))
		case strings.Contains(flags, "n") && s.Value != nil:
			r.arithmetic = append(r.arithmetic, at(s.Value))
			r.define("", at(s.Name))
		}
	}
}

// recordCommand records a simple command and its effects on variables.
func (r *reader) recordCommand(at func(syntax.Node) site, c *syntax.CallExpr) {
	_, words := literalWords(c)
	if len(words) == 0 {
		return
	}
	s := at(c)
	name := words[0]
	if name == "." {
		name = "source"
	}
	r.calls[name] = append(r.calls[name], s)
	switch name {
	case "[", "test":
		for i := 1; i+1 < len(words); i++ {
			switch w := words[i]; {
			case i > 1 && isNumeric(w):
				r.numericOperands = append(r.numericOperands, c.Args[i-1], c.Args[i+1])
			case w == "-v" || w == "-R":
				r.recordNameWord(at(c.Args[i+1]))
			}
		}
	case "shift", "set":
		key := name + " " + s.function
		r.calls[key] = append(r.calls[key], s)
	case "unset", "compgen": // compgen expands words
		for _, w := range c.Args[1:] {
			r.recordNameWord(at(w))
		}
	case "getopts":
		if len(words) > 2 {
			r.define(words[2], at(newExpansion("OPTIND")))
		}
	case "printf":
		if len(words) > 3 && words[1] == "-v" {
			r.recordNameWord(at(c.Args[2]))
			for _, w := range c.Args[3:] {
				r.define(words[2], at(w))
			}
		}
	case "read", "mapfile", "readarray":
		r.recordRead(s, c, words)
	}
}

// recordRead records the variables that read, or mapfile, sets.
func (r *reader) recordRead(s site, c *syntax.CallExpr, words []string) {
	valued := "dnOsucC"
	if words[0] == "read" {
		valued = "dinNptu"
	}
	var names []string
	for i := 1; i < len(words); i++ {
		if w := words[i]; !strings.HasPrefix(w, "-") {
			r.recordNameWord(site{function: s.function, node: c.Args[i]})
			names = append(names, w)
		} else if strings.ContainsAny(w[len(w)-1:], valued) {
			i++
		}
	}
	text := site{function: s.function, node: newExpansion(stdinVariable), split: len(names) > 1}
	if len(names) == 0 {
		names = []string{"REPLY", "MAPFILE"}
	}
	for _, name := range names {
		r.define(name, text)
	}
}
