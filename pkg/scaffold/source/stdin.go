package source

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// standardInput adds an argument if a command reads the standard input of the script.
func (r *reader) standardInput() {
	if len(r.script.Questions) > 0 {
		return
	}
	if line := r.inputLine(r.file, map[string]bool{}); line > 0 {
		r.script.Arguments = append(r.script.Arguments, &Argument{Name: r.names.Add("input"), Value: true, Kind: Input,
			Text: "The text that the script reads", Line: line})
	}
}

// inputLine returns the line of the first command that reads the standard input of a node, or 0.
// entered are functions whose commands were read.
func (r *reader) inputLine(root syntax.Node, entered map[string]bool) (line int) {
	syntax.Walk(root, func(n syntax.Node) bool {
		reads := false
		switch n := n.(type) {
		case nil, *syntax.FuncDecl, *syntax.ProcSubst:
			return false
		case *syntax.Stmt:
			if at := slices.IndexFunc(n.Redirs, redirectsInput); at >= 0 {
				if line == 0 && r.isInput(n.Redirs[at].Word) { // < "${1:-/dev/stdin}"
					line = int(n.Pos().Line())
				}
				return false
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				line = max(line, r.inputLine(n.X, entered))
				return false
			}
		case *syntax.WhileClause:
			reads = slices.ContainsFunc(n.Cond, func(s *syntax.Stmt) bool {
				return programOf(s.Cmd) == "read" && !slices.ContainsFunc(s.Redirs, redirectsInput)
			})
		case *syntax.CallExpr:
			name := programOf(n)
			f := r.functions[name]
			switch {
			case f == nil:
				reads = r.readsInput(name, n.Args)
			case !entered[name]:
				entered[name] = true
				line = max(line, r.inputLine(f.Body, entered))
			}
		}
		if reads && line == 0 {
			line = int(n.Pos().Line())
		}
		return line == 0
	})
	return line
}

// redirectsInput reports whether a command has another standard input.
func redirectsInput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return r.N == nil || r.N.Value == "0"
	}
	return false
}

// isInput reports whether a word is standard input if the caller does not give a file, as in ${1:--}.
func (r *reader) isInput(w *syntax.Word) bool {
	if a := r.byVariable[nameOf(w)]; a != nil && a.Default != nil {
		return isStandardInput(*a.Default)
	}
	text, known := r.evaluate(w)
	return known && isStandardInput(text)
}

func isStandardInput(file string) bool { return file == "-" || file == "/dev/stdin" }

// readsInput reports whether a program with these words reads standard input.
func (r *reader) readsInput(program string, words []*syntax.Word) bool {
	values, isFilter := property(program, "input")
	instead, needsFirst := property(program, "first")
	never, _ := property(program, "never")
	if _, always := property(program, "always"); !isFilter || always {
		return isFilter
	}
	for i := 1; i < len(words); i++ {
		text, _ := textOf(words[i].Parts, false, nothing)
		option, isOption := strings.CutPrefix(text, "-")
		switch {
		case r.isInput(words[i]):
			return true
		case !isOption && !needsFirst:
			return false
		case !isOption:
			needsFirst = false
		case strings.HasPrefix(option, "-"):
		case strings.ContainsAny(option, never):
			return false
		default:
			needsFirst = needsFirst && !strings.ContainsAny(option, instead)
			if at := strings.IndexAny(option, values); at >= 0 && at == len(option)-1 {
				if _, whole := literal(words[i]); whole {
					i++
				}
			}
		}
	}
	return true
}
