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

func noExpansion(syntax.WordPart) (string, bool) { return "", false }

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
	text, known := textOf(w.Parts, false, noExpansion)
	if !known {
		return "", false
	}
	return text, true
}

// expansionIn returns the expansion if a word is only that: $x, "$x", "${x:-y}".
func expansionIn(w *syntax.Word) *syntax.ParamExp {
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

// parameterOf returns the name of the parameter if a word is only its expansion, or "".
func parameterOf(w *syntax.Word) string {
	if p := expansionIn(w); p != nil && !p.Length {
		return p.Param.Value
	}
	return ""
}

// number returns the number in a text, such as 1 for the name of $1. It is 0 for every other text.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 99 {
		return 0
	}
	return n
}

// isAllArguments reports whether a word is "$@" or $*.
func isAllArguments(w *syntax.Word) bool {
	p := expansionIn(w)
	return p != nil && (p.Param.Value == "@" || p.Param.Value == "*") && p.Index == nil && !p.Length
}

// loopsOverArguments reports whether a loop is for x in "$@".
func loopsOverArguments(c *syntax.ForClause) bool {
	loop, ok := c.Loop.(*syntax.WordIter)
	return ok && !c.Select && (!loop.InPos.IsValid() || len(loop.Items) == 1 && isAllArguments(loop.Items[0]))
}

// sliceStart returns the first index of a slice: 2 for ${@:2}. It is 0 if the expansion has no literal index.
func sliceStart(p *syntax.ParamExp) int {
	if p.Slice == nil {
		return 0
	}
	w, _ := p.Slice.Offset.(*syntax.Word)
	text, _ := literal(w)
	return number(text)
}

// isArgumentCount reports whether a word is $#.
func isArgumentCount(w *syntax.Word) bool {
	p := expansionIn(w)
	return p != nil && (p.Param.Value == "#" || p.Length && p.Param.Value == "@")
}

// literalWords returns the words of a simple command as far as they are literal; others are "".
func literalWords(cmd syntax.Command) (*syntax.CallExpr, []string) {
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

// commandName returns the literal name of a simple command, or "".
func commandName(n syntax.Node) string {
	c, ok := n.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return ""
	}
	name, _ := literal(c.Args[0])
	return name
}

// assignsAllArguments reports whether an assignment is list=("$@") or list+=("$@").
func assignsAllArguments(s *syntax.Assign) bool {
	return s.Array != nil && len(s.Array.Elems) == 1 && isAllArguments(s.Array.Elems[0].Value)
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

// inspect calls f with each node below a node, except in the declarations of functions.
func inspect(n syntax.Node, f func(syntax.Node)) {
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

// inspectAll calls inspect for each of some statements.
func inspectAll(list []*syntax.Stmt, f func(syntax.Node)) {
	for _, stmt := range list {
		inspect(stmt, f)
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

// callsAny reports whether some statements call one of some commands.
func callsAny(list []*syntax.Stmt, names ...string) (found bool) {
	inspectAll(list, func(n syntax.Node) { found = found || slices.Contains(names, commandName(n)) })
	return found
}

// expandsAny reports whether a word contains an expansion of a parameter for whose name is returns true.
func expandsAny(w *syntax.Word, is func(name string) bool) (found bool) {
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
	return expandsAny(w, func(other string) bool { return other == name })
}

// The marks at the beginning of an evaluated text: the folder of the script, and a file that it made with mktemp.
const (
	scriptFolder  = "\x00"
	temporaryFile = "\x01"
)

// maxConstantBytes limits the text of a variable, in bytes: variables can refer to each other.
const maxConstantBytes = 4096

// evaluate returns the text of a word, and whether it is known before the script runs.
func (r *reader) evaluate(w *syntax.Word) (string, bool) { return textOf(w.Parts, false, r.expand) }

// displayText returns the text of a word for people.
func (r *reader) displayText(w *syntax.Word) string {
	text, _ := r.evaluate(w)
	return strings.NewReplacer(scriptFolder, "", temporaryFile, "").Replace(text)
}

// pathOf returns the path that a word names. If own is set, it is relative to the folder of the script.
func (r *reader) pathOf(w *syntax.Word) (name string, own, known bool) {
	name, known = r.evaluate(w)
	if name, own = strings.CutPrefix(name, scriptFolder); own {
		r.script.Effects.OwnFolder = true
		name = strings.TrimPrefix(name, "/")
	}
	return path.Clean(name), own, known && !strings.ContainsAny(name, scriptFolder+temporaryFile)
}

// expand returns the text of an expansion: the folder of the script, a default, or the one value of a variable.
func (r *reader) expand(part syntax.WordPart) (string, bool) {
	switch p := part.(type) {
	case *syntax.CmdSubst:
		return r.commandOutput(p)
	case *syntax.ParamExp:
		switch {
		case p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil:
		case isScriptPath(p.Param.Value):
			if p.Exp != nil && p.Exp.Op == syntax.RemSmallSuffix { // ${0%/*}
				return scriptFolder, true
			}
			return "SCRIPT", false
		case p.Index != nil:
		case p.Param.Value == "HOME":
			return "~", true
		default:
			text, known := r.constant(p.Param.Value)
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

// isScriptPath reports whether a parameter has the path of the script.
func isScriptPath(name string) bool { return name == "0" || name == "BASH_SOURCE" }

// commandOutput returns the output of a command if the reader needs it: $(dirname "$0"), $(mktemp).
func (r *reader) commandOutput(c *syntax.CmdSubst) (text string, known bool) {
	text = "SCRIPT"
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if commandName(n) == "mktemp" {
				text, known = temporaryFile, true
			} else if commandName(n) == "basename" {
				return false
			}
		case *syntax.ParamExp:
			if !known && n.Param != nil && isScriptPath(n.Param.Value) {
				text, known = scriptFolder, true
			}
		}
		return true
	})
	return text, known
}

// constant returns the text of a variable that has one value in the whole script. The folder of the script, or a file
// that it made, can be one of several values.
func (r *reader) constant(name string) (string, bool) {
	found, done := r.constants[name]
	if !done {
		r.constants[name] = nil // for variables that refer to each other
		for _, s := range r.assignments[name] {
			if s.Value == nil {
				continue
			}
			text, known := r.evaluate(s.Value)
			marked := strings.HasPrefix(text, scriptFolder) || strings.HasPrefix(text, temporaryFile)
			if known && len(text) <= maxConstantBytes && (len(r.assignments[name]) == 1 || marked) {
				found = &text
			}
		}
		r.constants[name] = found
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
		name, _, known := r.pathOf(c.Args[1])
		if slices.Contains(r.script.Sources, name) {
			continue
		}
		var text []byte
		if known && r.nextTo != nil && name[0] != '/' && name[0] != '~' {
			text = r.nextTo(name)
		}
		if file, err := parse(text); text == nil || len(text) > MaxSize || err != nil {
			r.missingSource = true
		} else {
			r.script.Sources = append(r.script.Sources, name)
			r.sources = append(r.sources, file)
			clear(r.constants)
			r.collect("", file)
		}
	}
}
