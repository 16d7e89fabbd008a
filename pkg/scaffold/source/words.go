package source

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal returns the text of a word without expansions, and whether it is one.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	var b strings.Builder
	if !appendLiteral(&b, w.Parts) {
		return "", false
	}
	return b.String(), true
}

func appendLiteral(b *strings.Builder, parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(part.Value))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if !appendLiteral(b, part.Parts) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// unescape removes the backslashes of the shell.
func unescape(s string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
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

// isCount reports whether a word is $#.
func isCount(w *syntax.Word) bool {
	p := parameter(w)
	return p != nil && (p.Param.Value == "#" || p.Length && p.Param.Value == "@")
}

// lengthOf returns $list for ${#list[@]}, or nil.
func lengthOf(w *syntax.Word) *syntax.Word {
	p := parameter(w)
	if p == nil || !p.Length || p.Index == nil || !syntax.ValidName(p.Param.Value) {
		return nil
	}
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Dollar: p.Dollar, Short: true, Param: p.Param}}}
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
