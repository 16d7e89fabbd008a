package source

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// programs is a table of what programs do that scripts often start.
//
//go:embed programs.txt
var programs string

// A trait is what a program does.
type trait struct {
	writes, network, destroys, root, terminal, endless, starts bool
	programs                                                   []string // programs that it starts
	settings                                                   []string // files in the home directory that it reads
	secrets                                                    []string // the same, and they can contain secrets
}

// add adds what more words of the command line do: "git push".
func (t *trait) add(more trait) {
	t.writes, t.network, t.destroys = t.writes || more.writes, t.network || more.network, t.destroys || more.destroys
	t.root, t.terminal, t.endless = t.root || more.root, t.terminal || more.terminal, t.endless || more.endless
}

// traits returns a line of the table: the name, then words.
func traits(name string) (t trait, known bool) {
	for line := range strings.Lines(programs) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != name {
			continue
		}
		for _, f := range fields[1:] {
			switch f {
			case "writes":
				t.writes = true
			case "network":
				t.network = true
			case "destroys":
				t.destroys = true
			case "root":
				t.root = true
			case "terminal":
				t.terminal = true
			case "endless":
				t.endless = true
			case "starts":
				t.starts = true
			default:
				if rest, ok := strings.CutPrefix(f, "settings:"); ok {
					t.settings = append(t.settings, rest)
				} else if rest, ok := strings.CutPrefix(f, "secrets:"); ok {
					t.secrets = append(t.secrets, rest)
				} else {
					t.programs = append(t.programs, f)
				}
			}
		}
		return t, true
	}
	return t, false
}

// IsStandard reports whether each system has a program, so that nobody needs to install it.
func IsStandard(name string) bool {
	t, known := traits("standard")
	return known && slices.Contains(t.programs, name)
}

// outside finds variables, programs, questions and effects in the whole text, and in files that the script sources.
func (r *reader) outside() {
	found := &finder{r: r, programs: map[string]bool{}, variables: map[string]*Variable{}}
	for _, file := range append([]*syntax.File{r.file}, r.sources...) {
		found.walk(file, r.functions)
	}
	s := r.script
	for _, v := range r.settings {
		found.variable(v)
	}
	for name, v := range found.variables {
		if r.assigned[name] || r.byVariable[name] != nil || r.unread && !v.Required && v.Default == "" {
			continue
		}
		s.Variables = append(s.Variables, *v)
	}
	slices.SortFunc(s.Variables, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	for name := range found.programs {
		s.Programs = append(s.Programs, name)
	}
	slices.Sort(s.Programs)
	e := &s.Effects
	for _, list := range []*[]string{&e.ReadPaths, &e.WritePaths, &e.Settings, &e.Secrets} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	e.WritesThere = e.WritesThere || e.StaysThere && e.Writes
}

// A finder collects what the nodes of some files show.
type finder struct {
	r         *reader
	programs  map[string]bool
	variables map[string]*Variable
	nested    int // in how many subshells the walk is
}

// ownVariables are variables of the shell and of people, and not settings of a script.
var ownVariables = lazyregexp.New(`^(?:BASH.*|COLUMNS|COMP_.*|DIRSTACK|EUID|FUNCNAME|GROUPS|HISTFILE|HOME|HOSTNAME|` +
	`HOSTTYPE|IFS|LANG|LC_.*|LINENO|LINES|LOGNAME|MACHTYPE|OLDPWD|OPTARG|OPTERR|OPTIND|OSTYPE|PATH|PIPESTATUS|PPID|` +
	`PS[0-4]|PWD|RANDOM|REPLY|SECONDS|SHELL|SHELLOPTS|SHLVL|SRANDOM|TERM|TMPDIR|TMP|TZ|UID|USER|EPOCH.*|NO_COLOR|` +
	`DEBUG|CI|VERBOSE|XDG_.*|BATS_.*|EDITOR|PAGER|DISPLAY)$`)

func (f *finder) variable(v Variable) {
	if v.Name != strings.ToUpper(v.Name) || !syntax.ValidName(v.Name) || ownVariables.MatchString(v.Name) {
		return
	}
	have := f.variables[v.Name]
	if have == nil {
		f.variables[v.Name] = &v
		return
	}
	have.Required = have.Required || v.Required
	if have.Default == "" {
		have.Default = v.Default
	}
}

func (f *finder) walk(file *syntax.File, functions map[string]*syntax.FuncDecl) {
	loops := 0
	var ends []syntax.Node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			last := ends[len(ends)-1]
			ends = ends[:len(ends)-1]
			switch last.(type) {
			case *syntax.WhileClause, *syntax.ForClause:
				loops--
			case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
				f.nested--
			}
			return true
		}
		ends = append(ends, n)
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			f.nested++
		case *syntax.WhileClause:
			loops++
			if name := programOf(n.Cond[len(n.Cond)-1].Cmd); (name == "true" || name == ":") && !leaves(n.Do) {
				f.r.script.Effects.Endless = true
			}
		case *syntax.ForClause:
			loops++
			if n.Select {
				f.selectQuestion(n)
			}
		case *syntax.ParamExp:
			f.expansion(n)
		case *syntax.Stmt:
			f.redirects(n)
			if c, ok := n.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
				f.command(c.Args, functions)
				if loops == 0 && len(n.Redirs) == 0 {
					f.question(c)
				}
			}
		}
		return true
	})
}

// leaves reports whether a loop can end.
func leaves(list []*syntax.Stmt) (found bool) {
	eachOf(list, func(n syntax.Node) {
		switch programOf(n) {
		case "break", "exit", "return", "shift":
			found = true
		}
	})
	return found
}

func (f *finder) expansion(p *syntax.ParamExp) {
	if p.Param == nil || p.Excl {
		return
	}
	v := Variable{Name: p.Param.Value, Line: int(p.Pos().Line())}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			v.Required = true
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			v.Default, _ = literal(p.Exp.Word)
		}
	}
	f.variable(v)
}

// isBuiltin reports whether Bash does the command itself.
func isBuiltin(name string) bool {
	t, _ := traits("builtin")
	return slices.Contains(t.programs, name)
}

// command reads the words of a command: the program, and what it does.
func (f *finder) command(args []*syntax.Word, functions map[string]*syntax.FuncDecl) {
	name, ok := literal(args[0])
	if !ok {
		if name = f.resolve(args[0]); name == "" {
			f.r.script.Unknown = true
			f.r.doubt(DoubtPrograms, "", args[0].Pos())
			return
		}
	}
	if functions[name] != nil {
		return
	}
	rest := args[1:]
	switch name {
	case "":
		return
	case "source", ".":
		if len(rest) > 0 {
			f.path(rest[0], false)
		}
		return
	case "command", "exec", "builtin", "nohup", "nice", "time", "env", "sudo", "doas", "timeout", "xargs", "stdbuf",
		"setsid", "ionice", "watch":
		f.prefix(name, rest, functions)
		return
	case "bash", "sh", "dash", "eval", "ssh":
		f.shell(name, rest, functions)
		if name == "eval" {
			return
		}
	case "find":
		for i, w := range rest {
			switch text, _ := literal(w); text {
			case "-exec", "-execdir", "-ok":
				if i+1 < len(rest) {
					f.command(rest[i+1:], functions)
				}
			case "-delete":
				f.r.script.Effects.Writes = true
				f.destroys(w)
			}
		}
	case "trap":
		return
	case "cd":
		if len(rest) > 0 {
			f.path(rest[0], false)
			if own, ok := f.nextTo(rest[0]); ok && own == "." && f.nested == 0 {
				f.r.script.Effects.StaysThere = true
			}
		}
	}
	if isBuiltin(name) {
		return
	}
	f.starts(name, rest)
}

// starts notes a program with its effects.
func (f *finder) starts(name string, rest []*syntax.Word) {
	e := &f.r.script.Effects
	f.programs[name] = true
	words := make([]string, len(rest))
	for i, w := range rest {
		words[i], _ = literal(w)
	}
	t, _ := traits(name)
	for i := range words { // "git push", "kubectl delete"
		if words[i] == "" || words[i][0] == '-' && len(words[i]) > 2 && words[i][1] != '-' && i > 0 {
			continue
		}
		more, known := traits(name + "+" + words[i])
		if known {
			t.add(more)
		}
	}
	for _, p := range t.programs {
		f.programs[p] = true
	}
	e.Settings = append(e.Settings, t.settings...)
	e.Secrets = append(e.Secrets, t.secrets...)
	e.Writes, e.Network, e.Root = e.Writes || t.writes, e.Network || t.network, e.Root || t.root
	e.Terminal, e.Endless = e.Terminal || t.terminal, e.Endless || t.endless
	if t.destroys && len(rest) > 0 && !f.ownFile(rest) {
		f.destroys(rest[0])
	}
	if t.starts {
		f.r.script.Unknown = true
	}
	for _, w := range rest {
		f.path(w, t.writes)
	}
}

func (f *finder) destroys(w *syntax.Word) {
	e := &f.r.script.Effects
	if e.Destroys = true; e.Line == 0 {
		e.Line = int(w.Pos().Line())
	}
}

// ownFile reports whether a command deletes only files that the script made with mktemp.
func (f *finder) ownFile(rest []*syntax.Word) bool {
	for _, w := range rest {
		if text, ok := literal(w); ok && strings.HasPrefix(text, "-") {
			continue
		}
		name := nameOf(w)
		if name == "" || !f.isTemporary(name) {
			return false
		}
	}
	return true
}

// isTemporary reports whether a variable has the output of mktemp.
func (f *finder) isTemporary(name string) (found bool) {
	for _, s := range f.r.values[name] {
		if s.Value != nil {
			each(s.Value, func(n syntax.Node) { found = found || programOf(n) == "mktemp" })
		}
	}
	return found
}

// prefix reads a command that starts the command in its arguments.
func (f *finder) prefix(name string, rest []*syntax.Word, functions map[string]*syntax.FuncDecl) {
	switch name {
	case "command", "builtin":
		if len(rest) > 0 {
			if text, _ := literal(rest[0]); text == "-v" || text == "-V" {
				return
			}
		}
	case "sudo", "doas":
		f.r.script.Effects.Root = true
		f.programs[name] = true
	case "exec", "time":
	case "watch":
		f.r.script.Effects.Endless = true
		f.programs[name] = true
	default:
		f.programs[name] = true
	}
	for len(rest) > 0 {
		text, _ := literal(rest[0])
		takes := slices.Contains([]string{"-n", "-u", "-I", "-P", "-L", "-k", "-s", "-d"}, text)
		switch {
		case strings.HasPrefix(text, "-") && takes && len(rest) > 1:
			rest = rest[2:]
		case strings.HasPrefix(text, "-"), name == "env" && strings.ContainsRune(text, '='):
			rest = rest[1:]
		case name == "timeout":
			rest, name = rest[1:], ""
		case isAll(rest[0]):
			f.r.script.Unknown = true
			f.r.doubt(DoubtPrograms, "", rest[0].Pos())
			return
		default:
			f.command(rest, functions)
			return
		}
	}
}

// shell reads the text after -c.
func (f *finder) shell(name string, rest []*syntax.Word, functions map[string]*syntax.FuncDecl) {
	if name == "ssh" || len(rest) == 0 {
		return
	}
	if first, _ := literal(rest[0]); name == "eval" && first == "set" {
		return // eval set -- "$(getopt ...)"
	}
	for i, w := range rest {
		text, ok := literal(w)
		switch {
		case name == "eval" && !ok, text == "-c" && i+1 < len(rest) && f.textOf(rest[i+1]) == "":
			f.r.script.Unknown = true
			f.r.doubt(DoubtPrograms, "", w.Pos())
		case text == "-c" && i+1 < len(rest):
			if inner, err := parse([]byte(f.textOf(rest[i+1]))); err == nil {
				f.walk(inner, functions)
			}
			return
		case name != "eval" && ok && !strings.HasPrefix(text, "-"):
			return
		case name != "eval":
			if p := f.resolve(w); p != "" {
				f.programs[p] = true
			}
			return
		}
	}
}

func (f *finder) textOf(w *syntax.Word) string {
	text, ok := literal(w)
	if !ok {
		return ""
	}
	return text
}

// resolve returns the program that a word with variables names: one next to the script, or the value of a variable.
func (f *finder) resolve(w *syntax.Word) string {
	if name := nameOf(w); name != "" {
		if f.r.isFlag(name) {
			return "true"
		}
		if f.r.byVariable[name] != nil || position(name) > 0 {
			return ""
		}
		value := f.r.value(name)
		if strings.ContainsAny(value, " $/") && !strings.HasPrefix(value, "/") {
			return ""
		}
		return value
	}
	if rest, ok := f.nextTo(w); ok && rest != "." {
		return "./" + rest
	}
	return ""
}

// isFlag reports whether a variable always has the name of a command that does nothing: $quiet || echo done.
func (r *reader) isFlag(name string) bool {
	return len(r.values[name]) > 0 && !slices.ContainsFunc(r.values[name], func(a *syntax.Assign) bool {
		text, _ := literal(a.Value)
		return text != "true" && text != "false" && text != ":"
	})
}

// nextTo returns the path of a word that begins with the folder of the script, relative to it.
func (f *finder) nextTo(w *syntax.Word) (string, bool) {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) == 0 || len(parts) > 2 || !f.isFolder(parts[0]) {
		return "", false
	}
	f.r.script.Effects.OwnFolder = true
	if len(parts) == 1 {
		return ".", true
	}
	text, ok := literal(&syntax.Word{Parts: parts[1:]})
	text = path.Clean(strings.TrimPrefix(text, "/"))
	return text, ok
}

// isFolder reports whether a part is the folder of the script: $(dirname "$0"), or a variable with such a value.
func (f *finder) isFolder(part syntax.WordPart) (found bool) {
	switch p := part.(type) {
	case *syntax.DblQuoted:
		return len(p.Parts) == 1 && f.isFolder(p.Parts[0])
	case *syntax.CmdSubst:
		syntax.Walk(p, func(n syntax.Node) bool {
			if e, ok := n.(*syntax.ParamExp); ok && e.Param != nil && isOwnName(e.Param.Value) {
				found = true
			}
			return true
		})
	case *syntax.ParamExp:
		if p.Param == nil {
			return false
		}
		if isOwnName(p.Param.Value) {
			return p.Exp != nil // ${0%/*}
		}
		return f.hasFolder(p.Param.Value)
	}
	return found
}

// hasFolder reports whether a variable has the folder of the script.
func (f *finder) hasFolder(name string) bool {
	is, known := f.r.folders[name]
	if known {
		return is
	}
	f.r.folders[name] = false // for variables that refer to each other
	for _, s := range f.r.values[name] {
		if s.Value != nil && len(s.Value.Parts) == 1 && f.isFolder(s.Value.Parts[0]) {
			f.r.folders[name] = true
		}
	}
	return f.r.folders[name]
}

// isOwnName reports whether a parameter has the path of the script.
func isOwnName(name string) bool { return name == "0" || name == "BASH_SOURCE" }

// readSources reads the files that the script sources, and those that they source.
func (r *reader) readSources() {
	f := &finder{r: r}
	files := []*syntax.File{r.file}
	for i := 0; i < len(files) && i < 16; i++ {
		syntax.Walk(files[i], func(n syntax.Node) bool {
			c, ok := n.(*syntax.CallExpr)
			if !ok || len(c.Args) < 2 {
				return true
			}
			if name, _ := literal(c.Args[0]); name != "source" && name != "." {
				return true
			}
			if file := f.sourced(c.Args[1]); file != nil {
				files = append(files, file)
			} else {
				r.unread = true
			}
			return true
		})
	}
	r.sources = files[1:]
}

// sourced returns a file next to the script that a word names, or nil.
func (f *finder) sourced(w *syntax.Word) *syntax.File {
	name, ok := f.nextTo(w)
	if !ok {
		if name, ok = literal(w); !ok || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") {
			return nil
		}
	}
	name = path.Clean(name)
	if f.r.nextTo == nil || strings.HasPrefix(name, "..") || slices.Contains(f.r.script.Sources, name) {
		return nil
	}
	text := f.r.nextTo(name)
	if text == nil || len(text) > MaxSize {
		return nil
	}
	file, err := parse(text)
	if err != nil {
		return nil
	}
	f.r.script.Sources = append(f.r.script.Sources, name)
	f.r.declare(file)
	return file
}

// redirects notes the files that a statement writes.
func (f *finder) redirects(s *syntax.Stmt) {
	for _, redirect := range s.Redirs {
		switch redirect.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			if text, ok := literal(redirect.Word); ok && strings.HasPrefix(text, "/dev/") {
				if text == "/dev/tty" {
					f.r.script.Effects.Terminal = true
				}
				if strings.HasPrefix(text, "/dev/tcp/") || strings.HasPrefix(text, "/dev/udp/") {
					f.r.script.Effects.Network = true
				}
				continue
			}
			if name := nameOf(redirect.Word); name == "" || !f.isTemporary(name) {
				f.r.script.Effects.Writes = true
			}
			f.path(redirect.Word, true)
		case syntax.RdrIn:
			f.path(redirect.Word, false)
		}
	}
}

// path notes an absolute path, or one next to the script.
func (f *finder) path(w *syntax.Word, written bool) {
	if w == nil {
		return
	}
	e := &f.r.script.Effects
	if rest, ok := f.nextTo(w); ok {
		if written && rest != "." {
			e.WritesThere = true
		}
		return
	}
	text, ok := literal(w)
	if !ok {
		if text = f.r.value(nameOf(w)); text == "" {
			text = f.home(w)
		}
	}
	text = path.Clean(text)
	if len(text) < 2 || text[0] != '/' && text[0] != '~' || strings.ContainsAny(text, "*?[ ${}") {
		return
	}
	if strings.HasPrefix(text, "/dev/") || strings.HasPrefix(text, "/proc") {
		return
	}
	if written {
		e.WritePaths = append(e.WritePaths, text)
	} else {
		e.ReadPaths = append(e.ReadPaths, text)
	}
}

// home returns the path of "$HOME/x" as ~/x, or "".
func (f *finder) home(w *syntax.Word) string {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) < 2 {
		return ""
	}
	p, ok := parts[0].(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Param.Value != "HOME" {
		return ""
	}
	text, ok := literal(&syntax.Word{Parts: parts[1:]})
	if !ok || strings.Trim(text, "/.") == "" {
		return ""
	}
	return "~" + text
}

// question notes a question that read asks.
func (f *finder) question(c *syntax.CallExpr) {
	_, words := simple(c)
	if len(words) == 0 || words[0] != "read" {
		return
	}
	q := Question{Line: int(c.Pos().Line())}
	asks := false
	for i, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			continue
		}
		q.Secret = q.Secret || strings.Contains(w, "s")
		if strings.HasSuffix(w, "p") && i+2 < len(c.Args) {
			asks = true
			q.Text = strings.TrimSpace(f.r.text(c.Args[i+2].Parts))
		}
		if strings.Contains(w, "t") || strings.Contains(w, "u") {
			return
		}
	}
	if !asks {
		return
	}
	lower := strings.ToLower(q.Text)
	q.YesNo = strings.Contains(lower, "y/n") || strings.Contains(lower, "yes/no")
	f.r.script.Questions = append(f.r.script.Questions, q)
}

// selectQuestion notes the question that select asks.
func (f *finder) selectQuestion(c *syntax.ForClause) {
	q := Question{Text: "Choose one", Line: int(c.Pos().Line())}
	if loop, ok := c.Loop.(*syntax.WordIter); ok {
		for _, w := range loop.Items {
			if text, ok := literal(w); ok {
				q.Choices = append(q.Choices, text)
			}
		}
	}
	f.r.script.Questions = append(f.r.script.Questions, q)
}
