package shellscript

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// act notes that the branch of an option does something with the value, which is one of some words.
func (r *reader) act(words []*syntax.Word) {
	if f := r.frame; f.option != nil {
		f.acts = f.acts || slices.ContainsFunc(words, func(w *syntax.Word) bool { return r.argumentOf(w) == f.option })
	}
}

// onlyActs reports whether the branch of an option calls functions and goes on, so that a second option adds to the
// first: -c) need "$OPTARG" ;;
func (r *reader) onlyActs(body []*syntax.Stmt) bool {
	only := !exits(body)
	eachOf(body, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.Assign:
			only = false
		case *syntax.CallExpr:
			name := programOf(n)
			isCheck := slices.Contains([]string{"shift", "exit", "[", "test", ":"}, name)
			only = only && (r.functions[name] != nil || isCheck || prints(name))
		}
	})
	return only
}

// exits reports whether one of some statements ends the script in every case.
func exits(list []*syntax.Stmt) bool {
	return slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return programOf(s.Cmd) == "exit" })
}

// settles reports whether a function can take one value only: it keeps it, changes the state of the shell, or ends the
// script. A function that counts, collects, or notes that something happened can take more.
func (r *reader) settles(f *syntax.FuncDecl) (found bool) {
	if settled, done := r.settled[f]; done {
		return settled
	}
	r.settled[f] = false // for functions that call each other
	if body, isBlock := f.Body.Cmd.(*syntax.Block); isBlock {
		found = exits(body.Stmts)
	}
	local, literals := map[string]bool{}, map[string]string{}
	each(f.Body, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.DeclClause:
			for _, s := range n.Args {
				if s.Name != nil && slices.Contains([]string{"local", "declare", "typeset"}, n.Variant.Value) {
					local[s.Name.Value] = true
				}
			}
		case *syntax.Assign:
			if n.Name == nil || local[n.Name.Value] || n.Naked || n.Append || isNext(n) || counts(n) {
				break
			}
			text, isLiteral := literal(n.Value)
			old, has := literals[n.Name.Value]
			found = found || !isLiteral || n.Array != nil || has && old != text
			literals[n.Name.Value] = text
		case *syntax.CallExpr:
			name := programOf(n)
			g := r.functions[name]
			changes := slices.Contains([]string{"cd", "source", ".", "read", "mapfile"}, name)
			found = found || changes || g != nil && r.settles(g)
		}
	})
	r.settled[f] = found
	return found
}

// counts reports whether a variable gets a value with the old one in it: n=$((n + 1)).
func counts(s *syntax.Assign) bool { return s.Value != nil && mentions(s.Value, s.Name.Value) }

// isNext reports whether an assignment adds to a list: list[n++]=x, list[${#list[@]}]=x.
func isNext(s *syntax.Assign) bool {
	switch index := s.Index.(type) {
	case *syntax.UnaryArithm:
		return index.Op == syntax.Inc
	case *syntax.Word:
		return mentions(index, s.Name.Value)
	}
	return false
}

// mentions reports whether the value of a variable is part of a word: $x, $((x + 1)).
func mentions(w *syntax.Word, name string) (found bool) {
	each(w, func(n syntax.Node) {
		l, isLit := n.(*syntax.Lit)
		found = found || isLit && l.Value == name
	})
	return found
}
