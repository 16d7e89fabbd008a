package bash32

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Process lists the commands of a script that read its standard input or its terminal. It also lists the commands
// that start processes in the background, and those that print text before a function of the SDK prints the result.
type Process struct {
	Input, Terminal, Background, Stray []Name // commands
}

// ReadProcess parses a script. The result is empty for a script that cannot be parsed.
func ReadProcess(text []byte) (p Process) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return p
	}
	r := &reader{found: &p}
	var printed []Name
	for _, s := range file.Stmts {
		r.statement(s, false)
		switch call, isCall := s.Cmd.(*syntax.CallExpr); {
		case !isCall || len(call.Args) == 0 || len(s.Redirs) > 0:
		case printsText(call):
			printed = append(printed, Name{written(call.Args[0]), lineOf(s)})
		case strings.HasPrefix(written(call.Args[0]), "mcp_result_"):
			p.Stray = printed
		}
	}
	return p
}

func printsText(n *syntax.CallExpr) bool {
	words := []string{written(n.Args[0])}
	if len(n.Args) > 1 {
		words = append(words, written(n.Args[1]))
	}
	return words[0] == "echo" || words[0] == "printf" && (len(words) == 1 || words[1] != "-v")
}

type reader struct {
	found *Process
	fed   bool // "exec <file" has redirected the standard input of the rest
}

// statement reads a statement. fed means that its standard input is not that of the process.
func (r *reader) statement(s *syntax.Stmt, fed bool) {
	for _, redirect := range s.Redirs {
		switch redirect.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			if redirect.N == nil || redirect.N.Value == "0" {
				fed = true
			}
		}
		if redirect.Word != nil && written(redirect.Word) == "/dev/tty" && redirect.Op == syntax.RdrIn {
			r.found.Terminal = append(r.found.Terminal, Name{"/dev/tty", lineOf(s)})
		}
	}
	call, isCall := s.Cmd.(*syntax.CallExpr)
	name := ""
	if isCall && len(call.Args) > 0 {
		name = written(call.Args[0])
	}
	if name == "exec" && fed && len(call.Args) == 1 {
		r.fed = true
	}
	if s.Background && !slices.Contains([]string{"setsid", "nohup"}, name) {
		name = cmp.Or(name, "a command")
		r.found.Background = append(r.found.Background, Name{name, lineOf(s)})
	}
	if s.Cmd != nil {
		r.command(s.Cmd, fed || s.Background)
	}
}

func (r *reader) command(c syntax.Command, fed bool) {
	switch n := c.(type) {
	case *syntax.BinaryCmd:
		r.statement(n.X, fed)
		r.statement(n.Y, fed || n.Op == syntax.Pipe || n.Op == syntax.PipeAll)
		return
	case *syntax.FuncDecl: // its caller decides
		r.statement(n.Body, true)
		return
	case *syntax.CallExpr:
		if !fed && !r.fed && readsInput(n) {
			r.found.Input = append(r.found.Input, Name{written(n.Args[0]), lineOf(n)})
		}
	case *syntax.ForClause:
		if n.Select && !fed && !r.fed {
			r.found.Input = append(r.found.Input, Name{"select", lineOf(n)})
		}
	}
	syntax.Walk(c, func(node syntax.Node) bool {
		if s, isStatement := node.(*syntax.Stmt); isStatement {
			r.statement(s, fed)
			return false
		}
		return true
	})
}

func readsInput(n *syntax.CallExpr) bool {
	if len(n.Args) == 0 {
		return false
	}
	words := make([]string, len(n.Args))
	for i, word := range n.Args {
		words[i] = written(word)
	}
	switch words[0] {
	case "read", "mapfile", "readarray":
		return !slices.ContainsFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-u") })
	case "cat":
		return len(words) == 1 || slices.Contains(words[1:], "-")
	case "jq":
		return isFilterOnly(words[1:])
	}
	return false
}

// isFilterOnly reports whether the arguments of jq are one filter and flags that change only the output.
func isFilterOnly(words []string) bool {
	filters := 0
	for _, word := range words {
		switch flags, isOption := strings.CutPrefix(word, "-"); {
		case !isOption:
			filters++
		case flags == "" || strings.Trim(flags, "cerMS") != "":
			return false
		}
	}
	return filters == 1
}
