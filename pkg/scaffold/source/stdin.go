package source

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A filter is a program that reads standard input if no operand names a file.
type filter struct {
	words  int    // operands before the files, such as the program of awk
	values string // options with a value in the next word
	text   string // options that take the place of the first operand
	never  string // options with which it reads files only
}

// filters returns how a program reads standard input.
func filters(name string) (f filter, ok bool) {
	switch name {
	case "cat", "tac", "rev", "uniq", "wc", "nl", "md5sum", "sha1sum", "sha256sum", "hexdump":
		return filter{}, true
	case "base64":
		return filter{values: "w"}, true
	case "column":
		return filter{values: "s"}, true
	case "sort":
		return filter{values: "ktoST"}, true
	case "head", "tail":
		return filter{values: "nc"}, true
	case "cut":
		return filter{values: "dfcb"}, true
	case "paste", "fold", "fmt":
		return filter{values: "dw"}, true
	case "grep", "egrep", "fgrep":
		return filter{words: 1, values: "efmABC", text: "ef", never: "rR"}, true
	case "sed":
		return filter{words: 1, values: "ef", text: "ef"}, true
	case "awk", "gawk", "mawk":
		return filter{words: 1, values: "vFf", text: "f"}, true
	case "jq":
		return filter{words: 1, values: "f", text: "f"}, true
	case "tr", "tee", "xargs", "mapfile", "readarray":
		return filter{words: 1 << 10}, true
	}
	return f, false
}

// standardInput adds an argument if a command reads the standard input of the script.
func (r *reader) standardInput() {
	s := r.script
	if len(s.Questions) > 0 {
		return
	}
	in := inputFinder{r: r, visited: map[string]bool{}}
	if in.commands(r.file.Stmts); in.line == 0 {
		return
	}
	taken := Names{}
	for _, a := range s.Arguments {
		taken[a.Name] = true
	}
	s.Arguments = append(s.Arguments, &Argument{Name: taken.Add("input"), Value: true, Kind: Input,
		Text: "The text that the script reads", Line: in.line})
}

// An inputFinder follows the commands that have the script's standard input.
type inputFinder struct {
	r       *reader
	visited map[string]bool // functions
	line    int             // of the first command that reads it; 0: none
}

func (in *inputFinder) commands(list []*syntax.Stmt) {
	for _, s := range list {
		in.follow(s)
	}
}

func (in *inputFinder) follow(s *syntax.Stmt) {
	if in.line > 0 {
		return
	}
	if at := slices.IndexFunc(s.Redirs, redirectsInput); at >= 0 {
		if in.isInput(s.Redirs[at].Word) { // < "${1:-/dev/stdin}"
			in.note(s)
		}
		return
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		in.command(c)
	case *syntax.BinaryCmd:
		in.follow(c.X)
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			in.follow(c.Y)
		}
	case *syntax.Block:
		in.commands(c.Stmts)
	case *syntax.Subshell:
		in.commands(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			in.commands(c.Cond)
			in.commands(c.Then)
		}
	case *syntax.WhileClause:
		for _, s := range c.Cond {
			if programOf(s.Cmd) == "read" && !slices.ContainsFunc(s.Redirs, redirectsInput) {
				in.note(s)
			}
		}
		in.commands(c.Cond)
		in.commands(c.Do)
	case *syntax.ForClause:
		in.commands(c.Do)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			in.commands(item.Stmts)
		}
	}
}

// redirectsInput reports whether a command has another standard input.
func redirectsInput(r *syntax.Redirect) bool {
	if r.N != nil && r.N.Value != "0" {
		return false
	}
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	}
	return false
}

func (in *inputFinder) note(n syntax.Node) {
	if in.line == 0 {
		in.line = int(n.Pos().Line())
	}
}

// command reads a simple command, and the commands whose output it contains.
func (in *inputFinder) command(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		if a.Value != nil {
			in.substitutions(a.Value)
		}
	}
	for _, w := range c.Args {
		in.substitutions(w)
	}
	name := programOf(c)
	if f := in.r.functions[name]; f != nil {
		if !in.visited[name] {
			in.visited[name] = true
			in.follow(f.Body)
		}
		return
	}
	if f, ok := filters(name); ok && f.reads(c.Args[1:], in.isInput) {
		in.note(c)
	}
}

func (in *inputFinder) substitutions(w *syntax.Word) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.CmdSubst:
			in.commands(p.Stmts)
		case *syntax.DblQuoted:
			in.substitutions(&syntax.Word{Parts: p.Parts})
		}
	}
}

// isInput reports whether a word is standard input if the caller does not give a file, as in ${1:--}.
func (in *inputFinder) isInput(w *syntax.Word) bool {
	p := parameter(w)
	if p == nil {
		return false
	}
	text := ""
	if a := in.r.byVariable[p.Param.Value]; a != nil && a.Default != nil {
		text = *a.Default
	} else if p.Exp != nil {
		text, _ = literal(p.Exp.Word)
	}
	return isStandardInput(text)
}

func isStandardInput(file string) bool { return file == "-" || file == "/dev/stdin" }

// isOption reports whether a word begins with a dash, whatever follows: -F"$delimiter".
func isOption(w *syntax.Word) bool {
	first, ok := w.Parts[0].(*syntax.Lit)
	return ok && strings.HasPrefix(first.Value, "-")
}

// reads reports whether a filter with these words reads standard input.
func (f filter) reads(words []*syntax.Word, isInput func(*syntax.Word) bool) bool {
	left := f.words
	for i := 0; i < len(words); i++ {
		text, ok := literal(words[i])
		switch {
		case ok && text == "-", !ok && isInput(words[i]):
			return true
		case !ok && isOption(words[i]):
		case !ok || !strings.HasPrefix(text, "-"):
			if left--; left < 0 {
				return false
			}
		case strings.HasPrefix(text, "--"):
		case strings.ContainsAny(text[1:], f.never):
			return false
		default:
			if strings.ContainsAny(text[1:], f.text) {
				left = 0
			}
			if at := strings.IndexAny(text[1:], f.values); at == len(text)-2 {
				i++
			}
		}
	}
	return true
}
