package source

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A calculation finds the arguments that can reach an arithmetic expression, on whatever way. Bash runs the command in
// x[$(command)] there, so these arguments must be integers. The order of the commands does not matter. If the way of a
// text is not known, all arguments are integers.
//
// An argument is plain text, without commands, if the number is only part of it. So it is if the output of a program
// can contain it: $(du "$x"). Then other arguments are plain, too, because arithmetic reads variables by their names.
type calculation struct {
	*reader
	operands  []*Argument
	sinks     []place // expressions
	compared  []place // sides of [ a -gt b ]: they are numbers, but Bash runs no commands there
	indirect  []place // ${!x}: Bash evaluates a subscript in the name
	texts     map[string][]place
	reads     map[string][]place // commands that read a variable from their standard input
	wild      []place            // texts of variables whose names are known only when the script runs
	feeds     []feed
	calls     map[*syntax.FuncDecl][]place
	sets      map[*syntax.FuncDecl][]place // words of set -- in a function or, with nil, in the script
	shifts    map[*syntax.FuncDecl]bool    // the function moves its arguments
	keyed     map[string]bool              // associative arrays
	seen      map[string]bool
	inherited map[*syntax.FuncDecl][]place // texts that a function can read, because its caller can
	searched  int
	plain     bool
}

// A place is a part of a script, and the function that it is in, or nil.
type place struct {
	in   *syntax.FuncDecl
	node syntax.Node
	cut  bool // the script splits the text
}

// A feed is a text that commands get as their standard input.
type feed struct {
	to   syntax.Node
	text place
}

// standardInput is the name of a parameter that has the standard input of the script.
const standardInput = "<"

// A way is how a text reaches an expression.
type way struct {
	names bool // each word in the text is the name of a variable, as in an expression
	plain bool // with other text
	exact bool // only as a whole word counts
}

// calculated makes integers of the arguments that the script calculates with.
func (r *reader) calculated(operands []*Argument) {
	c := &calculation{
		reader: r, operands: operands, texts: map[string][]place{}, reads: map[string][]place{},
		calls: map[*syntax.FuncDecl][]place{}, sets: map[*syntax.FuncDecl][]place{},
		shifts: map[*syntax.FuncDecl]bool{}, keyed: map[string]bool{}, seen: map[string]bool{},
		inherited: map[*syntax.FuncDecl][]place{},
	}
	var bodies []place
	for _, file := range append([]*syntax.File{r.file}, r.sources...) {
		bodies = append(bodies, place{node: file})
	}
	for _, f := range r.functions {
		bodies = append(bodies, place{in: f, node: f.Body})
	}
	for _, visit := range []func(*syntax.FuncDecl, syntax.Node){c.declared, c.collect} {
		for _, b := range bodies {
			each(b.node, func(n syntax.Node) { visit(b.in, n) })
		}
	}
	for name, list := range c.reads {
		for _, p := range list {
			texts := c.inputs(p)
			if len(texts) == 0 {
				texts = []place{{node: &syntax.ParamExp{Param: &syntax.Lit{Value: standardInput}}}}
			}
			for _, text := range texts {
				text.cut = p.cut
				c.assigned(name, text)
			}
		}
	}
	c.follow(c.sinks, way{names: true})
	for _, p := range c.indirect {
		c.parameter(p.in, p.node.(*syntax.ParamExp), way{})
	}
	c.follow(c.compared, way{exact: true})
	r.plain = c.plain
}

// declared notes the kinds of variables: associative arrays, integers, and names of other variables.
func (c *calculation) declared(in *syntax.FuncDecl, n syntax.Node) {
	d, ok := n.(*syntax.DeclClause)
	if !ok {
		return
	}
	flags := ""
	for _, s := range d.Args {
		switch text, _ := literal(s.Value); {
		case s.Name == nil && strings.HasPrefix(text, "-"):
			flags += text
		case s.Name == nil: // declare "$name=$value"
			c.wild = append(c.wild, place{in: in, node: s.Value})
			if d.Variant.Value != "export" {
				c.sinks = append(c.sinks, place{in: in, node: s.Value})
			}
		case strings.Contains(flags, "A"):
			c.keyed[s.Name.Value] = true
		case strings.Contains(flags, "i"):
			c.sinks = append(c.sinks, place{in: in, node: s.Name})
		case strings.Contains(flags, "n") && s.Value != nil:
			c.sinks = append(c.sinks, place{in: in, node: s.Value})
			c.wild = append(c.wild, place{in: in, node: s.Name})
		}
	}
}

// collect notes the arithmetic of a node, and what it gives to variables and functions.
func (c *calculation) collect(in *syntax.FuncDecl, n syntax.Node) {
	at := func(n syntax.Node) place { return place{in: in, node: n} }
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		c.sinks = append(c.sinks, at(n))
	case *syntax.BinaryTest:
		if isNumeric(n.Op.String()) {
			c.sinks = append(c.sinks, at(n.X), at(n.Y))
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			c.name(at(w))
		}
	case *syntax.ParamExp:
		if n.Param != nil {
			c.expansion(at, n)
		}
	case *syntax.Assign:
		if n.Name != nil {
			c.assignment(at, n)
		}
	case *syntax.ForClause:
		if loop, ok := n.Loop.(*syntax.WordIter); ok {
			for _, w := range loop.Items {
				c.assigned(loop.Name.Value, at(w))
			}
			if !loop.InPos.IsValid() {
				c.assigned(loop.Name.Value, at(&syntax.ParamExp{Param: &syntax.Lit{Value: "@"}}))
			}
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			c.feeds = append(c.feeds, feed{n.Y, at(&syntax.CmdSubst{Stmts: []*syntax.Stmt{n.X}})})
		}
	case *syntax.Stmt:
		var to syntax.Node = n
		if programOf(n.Cmd) == "exec" {
			to = c.file
		}
		for _, redirect := range n.Redirs {
			if text := textInto(redirect); text != nil {
				c.feeds = append(c.feeds, feed{to, at(text)})
			}
		}
	case *syntax.CallExpr:
		c.command(at, n)
	}
}

// textInto returns the text that a redirection gives to a command: of <<EOF, <<< "$x", and < <(command).
func textInto(r *syntax.Redirect) syntax.Node {
	switch {
	case r.Hdoc != nil:
		return r.Hdoc
	case r.Op == syntax.WordHdoc, r.Op == syntax.RdrIn && parameter(r.Word) == nil:
		return r.Word
	case r.Op == syntax.RdrIn:
		return &syntax.Lit{} // the text of a file
	}
	return nil
}

// name notes the name of a variable, in which Bash evaluates a subscript.
func (c *calculation) name(p place) {
	text, isLiteral := literal(p.node.(*syntax.Word))
	if array, _, is := strings.Cut(text, "["); !isLiteral || is && !c.keyed[array] {
		c.sinks = append(c.sinks, p)
	}
}

// expansion notes the arithmetic in an expansion: an index, ${x:1:2}, and the names in ${!x} and ${x@P}.
func (c *calculation) expansion(at func(syntax.Node) place, p *syntax.ParamExp) {
	if p.Index != nil && !c.keyed[p.Param.Value] {
		c.sinks = append(c.sinks, at(p.Index))
	}
	if p.Slice != nil {
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if x != nil {
				c.sinks = append(c.sinks, at(x))
			}
		}
	}
	if p.Excl && p.Names == 0 && p.Index == nil || p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		c.indirect = append(c.indirect, at(p))
	}
	if _, hasDefault := defaultOf(p); hasDefault && p.Exp.Word != nil { // : ${x:=text}
		c.assigned(p.Param.Value, at(p.Exp.Word))
	}
}

// assignment notes the texts and the indexes in x=text, x[i]=text and x=([i]=text).
func (c *calculation) assignment(at func(syntax.Node) place, s *syntax.Assign) {
	element := func(index syntax.ArithmExpr, value *syntax.Word) {
		if index != nil && c.keyed[s.Name.Value] {
			c.assigned("!"+s.Name.Value, at(index))
		} else if index != nil {
			c.sinks = append(c.sinks, at(index))
		}
		if value != nil {
			c.assigned(s.Name.Value, at(value))
		}
	}
	element(s.Index, s.Value)
	if s.Array != nil {
		for _, e := range s.Array.Elems {
			element(e.Index, e.Value)
		}
	}
}

// assigned notes texts that a variable gets. A name that is not known is "".
func (c *calculation) assigned(name string, texts ...place) {
	if name, _, _ = strings.Cut(name, "["); name == "" {
		c.wild = append(c.wild, texts...)
		return
	}
	c.texts[name] = append(c.texts[name], texts...)
}

// command notes what a simple command gives to variables and functions.
func (c *calculation) command(at func(syntax.Node) place, call *syntax.CallExpr) {
	_, words := simple(call)
	if len(words) == 0 {
		return
	}
	p := at(call)
	if f := c.functions[words[0]]; f != nil {
		c.calls[f] = append(c.calls[f], p)
	}
	switch words[0] {
	case "[", "test":
		for i := 1; i+1 < len(words); i++ {
			switch w := words[i]; {
			case i > 1 && isNumeric(w):
				c.compared = append(c.compared, at(call.Args[i-1]), at(call.Args[i+1]))
			case w == "-v" || w == "-R":
				c.name(at(call.Args[i+1]))
			}
		}
	case "shift":
		c.shifts[p.in] = true
	case "set":
		for _, w := range call.Args[1:] {
			if !c.settledSets[call] {
				c.sets[p.in] = append(c.sets[p.in], at(w))
			}
		}
	case "unset":
		for _, w := range call.Args[1:] {
			c.name(at(w))
		}
	case "printf":
		if len(words) > 3 && words[1] == "-v" {
			c.name(at(call.Args[2]))
			for _, w := range call.Args[3:] {
				c.assigned(words[2], at(w))
			}
		}
	case "read", "mapfile", "readarray":
		names := namesRead(words)
		p.cut = len(names) > 1
		for _, i := range names {
			c.name(at(call.Args[i]))
			c.reads[words[i]] = append(c.reads[words[i]], p)
		}
		if len(names) == 0 {
			c.reads["REPLY"] = append(c.reads["REPLY"], p)
			c.reads["MAPFILE"] = append(c.reads["MAPFILE"], p)
		}
	}
}

// namesRead returns the places of the names of variables among the words of read.
func namesRead(words []string) (list []int) {
	valued := "dnOsucC"
	if words[0] == "read" {
		valued = "dinNptu"
	}
	for i := 1; i < len(words); i++ {
		if w := words[i]; !strings.HasPrefix(w, "-") {
			list = append(list, i)
		} else if strings.ContainsAny(w[len(w)-1:], valued) {
			i++
		}
	}
	return list
}

// maxSearched limits the search for the texts that commands read, in comparisons.
const maxSearched = 1 << 22

// inputs returns the texts that a command can read from its standard input.
func (c *calculation) inputs(p place) (texts []place) {
	for _, f := range c.feeds {
		if contains(f.to, p.node) {
			texts = append(texts, f.text)
		}
	}
	if c.searched += len(c.feeds); c.searched > maxSearched {
		c.all(way{})
		c.feeds = nil
	}
	if _, done := c.inherited[p.in]; !done && p.in != nil {
		c.inherited[p.in] = nil
		for _, call := range c.calls[p.in] {
			c.inherited[p.in] = append(c.inherited[p.in], c.inputs(call)...)
		}
	}
	return append(texts, c.inherited[p.in]...)
}

// contains reports whether a node is in the text of another one.
func contains(outer, inner syntax.Node) bool {
	return outer.Pos().Offset() <= inner.Pos().Offset() && inner.End().Offset() <= outer.End().Offset()
}

// once reports whether something is new on a way.
func (c *calculation) once(what string, w way) bool {
	key := fmt.Sprint(what, w.plain, w.exact)
	was := c.seen[key]
	c.seen[key] = true
	return !was
}

func (c *calculation) follow(list []place, w way) {
	for _, p := range list {
		c.spread(p, way{w.names, w.plain || p.cut, w.exact})
	}
}

// spread follows a text to the arguments in it. A text that is a name is a variable, too.
func (c *calculation) spread(p place, w way) {
	if word, ok := p.node.(*syntax.Word); ok && !w.names {
		text, known := textOf(word.Parts, false, nothing)
		w.plain = w.plain || !known && strings.Trim(text, "0123456789 \t\n") != ""
		if w.exact && (w.plain || !known && parameter(word) == nil) {
			return
		}
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
func (c *calculation) parameter(in *syntax.FuncDecl, p *syntax.ParamExp, w way) {
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
		c.plain = c.plain || !w.exact
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
	if a := c.byVariable[name]; a != nil {
		c.mark(a, w)
	}
	if w.names = false; len(c.texts[name]) > 0 && !w.exact && c.once("", w) {
		c.follow(c.wild, w)
	}
	c.follow(c.texts[name], w)
}

// positional follows an argument of a function or of the script, or all of them if n is 0. It is known if the reader
// found what the argument is there.
func (c *calculation) positional(in *syntax.FuncDecl, n int, known bool, w way) {
	w.names = false
	if in == nil || c.passed[in] {
		if !known {
			c.all(w)
		}
		if c.once("set", w) {
			c.follow(c.sets[nil], w)
		}
	}
	if in == nil || !c.once(fmt.Sprint(in.Name.Value, " ", n), w) {
		return
	}
	c.follow(c.sets[in], w)
	for _, call := range c.calls[in] {
		words := call.node.(*syntax.CallExpr).Args[1:]
		if len(words) == 1 && isAll(words[0]) && c.passed[in] && (call.in == nil || c.passed[call.in]) {
			continue
		}
		all := n == 0 || c.shifts[in] || len(c.sets[in]) > 0
		for i, word := range words {
			if all = all || i < n && isSeveral(word); all || i == n-1 {
				c.spread(place{in: call.in, node: word}, w)
			}
		}
	}
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

// mark notes that an argument reaches an expression. The word of a loop can be each operand.
func (c *calculation) mark(a *Argument, w way) {
	isFound := slices.Contains(c.operands, a) || slices.Contains(c.script.Arguments, a)
	switch {
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
		if !w.exact {
			c.mark(a, w)
		}
	}
}

// output follows what commands print to the words that can be in it.
func (c *calculation) output(in *syntax.FuncDecl, list []*syntax.Stmt, w way) {
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
	if w.names = false; !w.exact {
		for _, stmt := range list {
			syntax.Walk(stmt, visit)
		}
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
func (c *calculation) printed(in *syntax.FuncDecl, call *syntax.CallExpr, w way) {
	name := programOf(call)
	if f := c.functions[name]; f != nil {
		if c.once("output "+name, w) {
			c.output(f, []*syntax.Stmt{f.Body}, w)
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
