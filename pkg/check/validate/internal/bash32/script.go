package bash32

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Script lists the definitions, commands and variables of a script. Comments, strings and here
// documents do not count.
type Script struct {
	Functions []Name // definitions
	Reads     []Name // variables
	Needs     []Name // variables that are read without a default
	Settings  []Setting
	Commands  []Command
	Compared  []Comparison
	Written   []Name // files that redirections write, except computed paths and /dev

	file          *syntax.File
	checksVersion bool
}

// A Name is a name on a line.
type Name struct {
	Name string
	Line int
}

// A Setting assigns a value to a variable.
type Setting struct {
	Name
	Value    string // "" if it is computed
	ReadsOwn bool   // the value contains the variable itself, as in X=${X:-1}
}

// A Command is a simple command, or a declaration such as declare and export.
type Command struct {
	Line  int
	Words []string // without quotes; expansions begin with $
}

// A Comparison compares a variable with a text or pattern.
type Comparison struct {
	Name
	With string
}

// Read parses a script. ok is false if it cannot be parsed.
func Read(text []byte) (s *Script, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return nil, false
	}
	s = &Script{file: file, checksVersion: bytes.Contains(text, []byte("BASH_VERS"))}
	syntax.Walk(file, s.visit)
	return s, true
}

// Defines returns the line that defines a function, or 0.
func (s *Script) Defines(name string) (line int) {
	for _, f := range s.Functions {
		if f.Name == name {
			line = f.Line
		}
	}
	return line
}

// Calls reports whether the script calls a command by name.
func (s *Script) Calls(name string) bool {
	return slices.ContainsFunc(s.Commands, func(c Command) bool { return c.Words[0] == name })
}

func lineOf(n syntax.Node) int { return int(n.Pos().Line()) }

func (s *Script) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.FuncDecl:
		s.Functions = append(s.Functions, Name{n.Name.Value, lineOf(n)})
	case *syntax.CallExpr:
		s.command(n)
	case *syntax.DeclClause:
		c := Command{lineOf(n), []string{n.Variant.Value}}
		for _, a := range n.Args {
			switch {
			case a.Name != nil:
				c.Words = append(c.Words, a.Name.Value)
			case a.Value != nil:
				c.Words = append(c.Words, written(a.Value))
			}
		}
		s.Commands = append(s.Commands, c)
	case *syntax.Redirect:
		s.redirect(n)
	case *syntax.Assign:
		s.assign(n)
	case *syntax.ForClause:
		if words, isList := n.Loop.(*syntax.WordIter); isList {
			s.Settings = append(s.Settings, Setting{Name: Name{words.Name.Value, lineOf(words.Name)}})
		}
	case *syntax.ParamExp:
		if n.Param != nil {
			s.Reads = append(s.Reads, Name{n.Param.Value, lineOf(n)})
			if needs(n) {
				s.Needs = append(s.Needs, Name{n.Param.Value, lineOf(n)})
			}
		}
	case *syntax.UnaryTest:
		if word, isWord := n.X.(*syntax.Word); isWord && n.Op == syntax.TsVarSet {
			s.Reads = append(s.Reads, Name{word.Lit(), lineOf(n)})
		}
	case *syntax.BinaryTest:
		x, isWord := n.X.(*syntax.Word)
		y, isText := n.Y.(*syntax.Word)
		if isWord && isText && slices.Contains(equalities, n.Op) {
			s.compare(x, written(y))
		}
	case *syntax.CaseClause:
		for _, item := range n.Items {
			for _, pattern := range item.Patterns {
				s.compare(n.Word, written(pattern))
			}
		}
	}
	return true
}

func (s *Script) redirect(n *syntax.Redirect) {
	switch n.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		file := written(n.Word)
		if file != "" && !strings.HasPrefix(file, "/dev/") && !strings.ContainsAny(file, "$*?") {
			s.Written = append(s.Written, Name{file, lineOf(n)})
		}
	}
}

// needs reports whether an expansion has no default and does not just check whether the variable is set.
func needs(n *syntax.ParamExp) bool {
	if n.Exp == nil {
		return true
	}
	switch n.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return false
	}
	return true
}

// equalities are the operators of [[ that compare with one text or pattern.
var equalities = []syntax.BinTestOperator{
	syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.TsReMatch, syntax.TsEql, syntax.TsNeq,
}

func (s *Script) command(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	c := Command{lineOf(n.Args[0]), writtenAll(n.Args)}
	s.Commands = append(s.Commands, c)
	switch c.Words[0] {
	case "read", "printf", "mapfile", "readarray", "getopts":
		for _, word := range c.Words[1:] { // names among the words are assigned
			if syntax.ValidName(word) {
				s.Settings = append(s.Settings, Setting{Name: Name{word, c.Line}})
			}
		}
	case "[", "test":
		for i := 2; i+1 < len(n.Args); i++ {
			if op := c.Words[i]; op == "=" || op == "==" {
				s.compare(n.Args[i-1], c.Words[i+1])
			}
		}
	}
}

func (s *Script) assign(n *syntax.Assign) {
	if n.Name == nil || n.Naked {
		return
	}
	set := Setting{Name: Name{n.Name.Value, lineOf(n)}}
	if n.Value != nil {
		set.Value = written(n.Value)
		if strings.Contains(set.Value, "$") {
			set.Value = ""
		}
		syntax.Walk(n.Value, func(node syntax.Node) bool {
			if p, isParam := node.(*syntax.ParamExp); isParam && p.Param != nil && p.Param.Value == n.Name.Value {
				set.ReadsOwn = true
			}
			return true
		})
	}
	s.Settings = append(s.Settings, set)
}

// compare records comparisons of the variables in a word with a text.
func (s *Script) compare(word *syntax.Word, with string) {
	syntax.Walk(word, func(node syntax.Node) bool {
		if p, isParam := node.(*syntax.ParamExp); isParam && p.Param != nil {
			s.Compared = append(s.Compared, Comparison{Name{p.Param.Value, lineOf(p)}, with})
		}
		return true
	})
}

// written returns a word without quotes. An expansion becomes "$" and the name of its variable.
func written(word *syntax.Word) string {
	var b strings.Builder
	appendParts(&b, word.Parts)
	return b.String()
}

func writtenAll(words []*syntax.Word) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = written(word)
	}
	return texts
}

func appendParts(b *strings.Builder, parts []syntax.WordPart) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			appendParts(b, p.Parts)
		case *syntax.ParamExp:
			b.WriteByte('$')
			if p.Param != nil {
				b.WriteString(p.Param.Value)
			}
		default:
			b.WriteByte('$')
		}
	}
}

// A Process lists the commands of a script that read its standard input or its terminal. It also lists the commands
// that start processes in the background, and those that print text before a function of the SDK prints the result.
type Process struct {
	Input, Terminal, Background, Stray []Name // by command
}

// Process returns the commands of the script that concern its standard streams and the end of its process.
func (s *Script) Process() (p Process) {
	r := &reader{found: &p}
	var printed []Name
	for _, s := range s.file.Stmts {
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
	words := writtenAll(n.Args)
	return words[0] == "echo" || words[0] == "printf" && (len(words) == 1 || words[1] != "-v")
}

type reader struct {
	found *Process
	fed   bool // "exec <file" redirected the standard input of the following commands
}

// statement examines a statement. fed means that its standard input is redirected.
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
	case *syntax.FuncDecl: // the caller determines its standard input
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
	words := writtenAll(n.Args)
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
