package shellscript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/text/lazyregexp"
)

// An expander returns the text of an expansion, and whether it is known.
type expander func(syntax.WordPart) (text string, known bool)

func nothing(syntax.WordPart) (string, bool) { return "", false }

var (
	escaped       = lazyregexp.New(`(?s)\\(.)`)
	escapedQuoted = lazyregexp.New("\\\\([$`\"\\\\])")
)

// textOf returns the text of the parts of a word, and whether all of it is known.
func textOf(parts []syntax.WordPart, quoted bool, expand expander) (text string, known bool) {
	var b strings.Builder
	known = true
	for _, part := range parts {
		text, ok := "", true
		switch part := part.(type) {
		case *syntax.Lit:
			text = part.Value
			switch {
			case !strings.ContainsRune(text, '\\'):
			case quoted:
				text = escapedQuoted.ReplaceAllString(text, "$1")
			default:
				text = escaped.ReplaceAllString(text, "$1")
			}
		case *syntax.SglQuoted:
			text = part.Value
		case *syntax.DblQuoted:
			text, ok = textOf(part.Parts, true, expand)
		default:
			text, ok = expand(part)
		}
		b.WriteString(text)
		known = known && ok
	}
	return b.String(), known
}

// literal returns the text of a word, and whether the word is literal: it has no expansions.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	text, known := textOf(w.Parts, false, nothing)
	if !known {
		return "", false
	}
	return text, true
}

// parameter returns the expansion that a word consists of: $x, "$x", "${x:-y}".
func parameter(w *syntax.Word) *syntax.ParamExp {
	if w == nil || len(w.Parts) != 1 {
		return nil
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, _ := part.(*syntax.ParamExp)
	if p == nil || p.Param == nil || p.Excl {
		return nil
	}
	return p
}

// nameOf returns the name of the parameter that a word consists of, or "".
func nameOf(w *syntax.Word) string {
	if p := parameter(w); p != nil && !p.Length {
		return p.Param.Value
	}
	return ""
}

// position returns the number of a positional parameter: 1 for $1. It is 0 for every other name.
func position(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil || n > 99 {
		return 0
	}
	return n
}

// isAll reports whether a word is "$@" or $*, all arguments.
func isAll(w *syntax.Word) bool {
	p := parameter(w)
	return p != nil && (p.Param.Value == "@" || p.Param.Value == "*") && p.Index == nil && !p.Length
}

// overAll reports whether a loop is over all arguments.
func overAll(c *syntax.ForClause) bool {
	loop, ok := c.Loop.(*syntax.WordIter)
	return ok && !c.Select && (!loop.InPos.IsValid() || len(loop.Items) == 1 && isAll(loop.Items[0]))
}

// offset returns the place at which an expansion of a list begins: 2 for ${@:2}. It is 0 without a literal place.
func offset(p *syntax.ParamExp) int {
	if p.Slice == nil {
		return 0
	}
	w, _ := p.Slice.Offset.(*syntax.Word)
	text, _ := literal(w)
	return position(text)
}

// isCount reports whether a word is $#.
func isCount(w *syntax.Word) bool {
	p := parameter(w)
	return p != nil && (p.Param.Value == "#" || p.Length && p.Param.Value == "@")
}

// simple returns the words of a simple command as far as they are literal; others are "".
func simple(cmd syntax.Command) (*syntax.CallExpr, []string) {
	c, ok := cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return c, nil
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i], _ = literal(w)
	}
	return c, words
}

// programOf returns the literal name of the program that a node starts, or "".
func programOf(n syntax.Node) string {
	c, ok := n.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return ""
	}
	name, _ := literal(c.Args[0])
	return name
}

// isAllIn reports whether an assignment is list=("$@") or list+=("$@").
func isAllIn(s *syntax.Assign) bool {
	return s.Array != nil && len(s.Array.Elems) == 1 && isAll(s.Array.Elems[0].Value)
}

// assignments returns the assignments that a command makes: x=1, local x=1, export x=1.
func assignments(cmd syntax.Command) []*syntax.Assign {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return c.Assigns
		}
	case *syntax.DeclClause:
		return c.Args
	}
	return nil
}

// each calls f with each node below a node, without the bodies of functions that are declared there.
func each(n syntax.Node, f func(syntax.Node)) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if n == nil {
			return false
		}
		if _, isFunction := n.(*syntax.FuncDecl); isFunction {
			return false
		}
		f(n)
		return true
	})
}

// eachOf calls f with each node of some statements.
func eachOf(list []*syntax.Stmt, f func(syntax.Node)) {
	for _, stmt := range list {
		each(stmt, f)
	}
}

// defaultOf returns the literal default of an expansion: ${x:-y}, ${x:=y}.
func defaultOf(p *syntax.ParamExp) (text string, has bool) {
	if p.Exp == nil {
		return "", false
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		text, _ = literal(p.Exp.Word)
		return text, true
	}
	return "", false
}

// isRequired reports whether a script ends without the variable of an expansion: ${x:?message}.
func isRequired(p *syntax.ParamExp) bool {
	return p.Exp != nil && (p.Exp.Op == syntax.ErrorUnset || p.Exp.Op == syntax.ErrorUnsetOrNull)
}

// calls reports whether some statements call one of some commands.
func calls(list []*syntax.Stmt, names ...string) (found bool) {
	eachOf(list, func(n syntax.Node) { found = found || slices.Contains(names, programOf(n)) })
	return found
}

// expands reports whether a word contains an expansion of a parameter whose name is accepts.
func expands(w *syntax.Word, is func(name string) bool) (found bool) {
	if w != nil {
		syntax.Walk(w, func(n syntax.Node) bool {
			p, ok := n.(*syntax.ParamExp)
			found = found || ok && p.Param != nil && is(p.Param.Value)
			c, ok := n.(*syntax.CmdSubst)
			return !found && !(ok && len(c.Stmts) == 1 && printsNumbers(c.Stmts[0].Cmd))
		})
	}
	return found
}

// refersTo reports whether a value contains the variable itself, as in X=${X:-1}.
func refersTo(w *syntax.Word, name string) bool {
	return expands(w, func(other string) bool { return other == name })
}

// Marks at the beginning of the text of a word: the folder of the script, and a file that it made with mktemp.
const (
	here      = "\x00"
	temporary = "\x01"
)

// maxValue limits the text of a variable, in bytes: variables can refer to each other.
const maxValue = 4096

// evaluate returns the text of a word, and whether it is known before the script runs.
func (r *reader) evaluate(w *syntax.Word) (string, bool) { return textOf(w.Parts, false, r.expansion) }

// shown returns the text of a word for people.
func (r *reader) shown(w *syntax.Word) string {
	text, _ := r.evaluate(w)
	return strings.NewReplacer(here, "", temporary, "").Replace(text)
}

// fileOf returns the path that a word names. It is relative to the folder of the script if it is in there.
func (r *reader) fileOf(w *syntax.Word) (name string, own, known bool) {
	name, known = r.evaluate(w)
	if name, own = strings.CutPrefix(name, here); own {
		r.script.Effects.OwnFolder = true
		name = strings.TrimPrefix(name, "/")
	}
	return path.Clean(name), own, known && !strings.ContainsAny(name, here+temporary)
}

// expansion returns the text of an expansion: the folder of the script, a default, or the one value of a variable.
func (r *reader) expansion(part syntax.WordPart) (string, bool) {
	switch p := part.(type) {
	case *syntax.CmdSubst:
		return r.output(p)
	case *syntax.ParamExp:
		switch {
		case p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil:
		case isOwnName(p.Param.Value):
			if p.Exp != nil && p.Exp.Op == syntax.RemSmallSuffix { // ${0%/*}
				return here, true
			}
			return "SCRIPT", false
		case p.Index != nil:
		case p.Param.Value == "HOME":
			return "~", true
		default:
			text, known := r.value(p.Param.Value)
			if !known && p.Exp != nil {
				if _, hasDefault := defaultOf(p); hasDefault && p.Exp.Word != nil {
					return r.evaluate(p.Exp.Word)
				}
			}
			return text, known
		}
	}
	return "", false
}

// isOwnName reports whether a parameter has the path of the script.
func isOwnName(name string) bool { return name == "0" || name == "BASH_SOURCE" }

// output returns the output of a command if the reader needs it: $(dirname "$0"), $(mktemp).
func (r *reader) output(c *syntax.CmdSubst) (text string, known bool) {
	text = "SCRIPT"
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if programOf(n) == "mktemp" {
				text, known = temporary, true
			} else if programOf(n) == "basename" {
				return false
			}
		case *syntax.ParamExp:
			if !known && n.Param != nil && isOwnName(n.Param.Value) {
				text, known = here, true
			}
		}
		return true
	})
	return text, known
}

// value returns the text of a variable: the only value that it gets. The folder of the script, or a file that it made,
// can be one of several values.
func (r *reader) value(name string) (string, bool) {
	found, done := r.known[name]
	if !done {
		r.known[name] = nil // for variables that refer to each other
		for _, s := range r.assignments[name] {
			if s.Value == nil {
				continue
			}
			text, known := r.evaluate(s.Value)
			marked := strings.HasPrefix(text, here) || strings.HasPrefix(text, temporary)
			if known && len(text) <= maxValue && (len(r.assignments[name]) == 1 || marked) {
				found = &text
			}
		}
		r.known[name] = found
	}
	if found == nil {
		return "", false
	}
	return *found, true
}

// isAssigned reports whether a variable gets a value that is not its own, as in X=${X:-1}.
func (r *reader) isAssigned(name string) bool {
	return slices.ContainsFunc(r.assignments[name], func(s *syntax.Assign) bool { return s.Value == nil }) ||
		slices.ContainsFunc(r.definitions[name], func(s site) bool {
			w, isWord := s.node.(*syntax.Word)
			return !isWord || !refersTo(w, name)
		})
}

// readSources reads the files next to the script that it sources, and those that they source.
func (r *reader) readSources() {
	for i := 0; i < len(r.calls["source"]) && len(r.sources) < 16; i++ {
		c := r.calls["source"][i].node.(*syntax.CallExpr)
		if len(c.Args) < 2 {
			continue
		}
		name, _, known := r.fileOf(c.Args[1])
		if slices.Contains(r.script.Sources, name) {
			continue
		}
		var text []byte
		if known && r.nextTo != nil && name[0] != '/' && name[0] != '~' {
			text = r.nextTo(name)
		}
		if file, err := parse(text); text == nil || len(text) > MaxSize || err != nil {
			r.unread = true
		} else {
			r.script.Sources = append(r.script.Sources, name)
			r.sources = append(r.sources, file)
			clear(r.known)
			r.collect("", file)
		}
	}
}
