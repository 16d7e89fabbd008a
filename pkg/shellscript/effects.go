package shellscript

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/text/lazyregexp"
)

// findEffects finds variables, programs, questions and effects in the whole text, and in files that the script sources.
func (r *reader) findEffects() {
	f := &effectFinder{reader: r, programs: map[string]bool{}, variables: map[string]*Variable{}}
	for _, file := range append([]*syntax.File{r.file}, r.sources...) {
		f.walk(file)
	}
	s, e := r.script, &r.script.Effects
	for _, v := range r.testedVariables {
		f.variable(v)
	}
	for _, name := range slices.Sorted(maps.Keys(f.variables)) {
		v := f.variables[name]
		if !r.isAssigned(name) && r.byVariable[name] == nil && (!r.missingSource || v.Required || v.Default != "") {
			s.Variables = append(s.Variables, *v)
		}
	}
	s.Programs = slices.Sorted(maps.Keys(f.programs))
	for _, list := range []*[]string{&e.ReadPaths, &e.WritePaths, &e.Settings, &e.Secrets} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	e.WritesOwnFolder = e.WritesOwnFolder || e.InOwnFolder && e.Writes
}

// An effectFinder collects the programs, variables and files that the nodes of some files name.
type effectFinder struct {
	*reader
	programs     map[string]bool
	variables    map[string]*Variable
	loopEnd      uint // the offset at which the current loop ends
	subshellEnd  uint // the offset at which the current subshell ends
	writesShared bool // the script writes a file in /tmp
}

// shellVariables are variables of the shell and of people, and not settings of a script.
var shellVariables = lazyregexp.New(`^(?:BASH.*|COLUMNS|COMP_.*|DIRSTACK|EUID|FUNCNAME|GROUPS|HISTFILE|HOME|HOSTNAME|` +
	`HOSTTYPE|IFS|LANG|LC_.*|LINENO|LINES|MACHTYPE|OLDPWD|OPTARG|OPTERR|OPTIND|OSTYPE|PATH|PIPESTATUS|PPID|` +
	`PS[0-4]|PWD|RANDOM|REPLY|SECONDS|SHELL|SHELLOPTS|SHLVL|SRANDOM|TERM|TMPDIR|TMP|UID|EPOCH.*|NO_COLOR|` +
	`DEBUG|CI|VERBOSE|XDG_.*|BATS_.*|EDITOR|PAGER|DISPLAY)$`)

func (f *effectFinder) variable(v Variable) {
	if v.Name != strings.ToUpper(v.Name) || !syntax.ValidName(v.Name) || shellVariables.MatchString(v.Name) {
		return
	}
	have := f.variables[v.Name]
	if have == nil {
		f.variables[v.Name] = &v
		return
	}
	have.Required = have.Required || v.Required
	have.Default = cmp.Or(have.Default, v.Default)
}

func (f *effectFinder) walk(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			f.subshellEnd = max(f.subshellEnd, n.End().Offset())
		case *syntax.WhileClause:
			f.loopEnd = max(f.loopEnd, n.End().Offset())
			last := n.Cond[len(n.Cond)-1:]
			if callsAny(last, "true", ":") && !callsAny(n.Do, "break", "exit", "return", "shift") {
				f.script.Effects.Endless = true
			}
		case *syntax.ForClause:
			f.loopEnd = max(f.loopEnd, n.End().Offset())
			if n.Select {
				f.selectQuestion(n)
			}
		case *syntax.ParamExp:
			f.expansion(n)
		case *syntax.Stmt:
			f.redirections(n)
			if c, words := literalWords(n.Cmd); len(words) > 0 {
				f.command(c.Args)
				if words[0] == "read" && len(n.Redirs) == 0 && n.Pos().Offset() >= f.loopEnd {
					f.question(c, words)
				}
			}
		}
		return true
	})
}

// expansion records the variable of an expansion.
func (f *effectFinder) expansion(p *syntax.ParamExp) {
	if p.Param == nil || p.Excl {
		return
	}
	v := Variable{Name: p.Param.Value, Line: int(p.Pos().Line())}
	text, hasDefault := defaultOf(p)
	v.Default, v.Required = text, !hasDefault && isRequired(p)
	f.variable(v)
}

// command records the program of a command, and its effects.
func (f *effectFinder) command(args []*syntax.Word) {
	name, known := f.programOf(args[0])
	if !known {
		f.recordUnknown(args[0])
		return
	}
	rest := args[1:]
	switch name {
	case "source", ".", "cd":
		if len(rest) > 0 {
			dir, own := f.path(rest[0], false)
			stays := name == "cd" && own && dir == "." && args[0].Pos().Offset() >= f.subshellEnd
			f.script.Effects.InOwnFolder = f.script.Effects.InOwnFolder || stays
		}
	case "eval":
		_, words := literalWords(&syntax.CallExpr{Args: args})
		if slices.Contains(words, "") && words[1] != "set" { // eval set -- "$(getopt …)"
			f.recordUnknown(args[0])
		}
	case "bash", "sh", "dash":
		f.shellCommand(rest)
	case "trap":
		if len(rest) > 1 { // trap "rm -f $tmp" EXIT
			if text, _ := textOf(rest[0].Parts, false, noExpansion); text != "" && text[0] != '-' {
				f.shellText(text, rest[0])
			}
		}
	case "awk", "gawk", "mawk", "nawk":
		f.awkCommands(rest)
	case "find":
		for i, w := range rest[:max(len(rest)-1, 0)] {
			if text, _ := literal(w); slices.Contains([]string{"-exec", "-execdir", "-ok"}, text) {
				f.command(rest[i+1:])
			}
		}
	}
	if name == "" || f.functions[name] != nil {
		return
	}
	if !isBuiltin(name) {
		f.recordProgram(name, rest)
	}
	if _, starts := property(name, "prefix"); starts {
		f.prefixCommand(name, rest)
	}
}

// recordUnknown records a command that is known only when the script runs.
func (f *effectFinder) recordUnknown(w *syntax.Word) {
	f.script.Unknown = true
	f.doubt(DoubtPrograms, "", int(w.Pos().Line()))
}

// recordProgram records a program, and the effects in its row of the table and in the rows of its subcommands.
func (f *effectFinder) recordProgram(name string, rest []*syntax.Word) {
	f.programs[name] = true
	writes := f.recordRow(name, rest) || name == "mktemp"
	for _, w := range rest { // "git push", "kubectl delete"
		word, _ := literal(w)
		writes = f.recordRow(name+"+"+word, rest) || writes
	}
	for _, w := range rest {
		f.path(w, writes)
	}
}

// recordRow records the effects in a row of the table, and reports whether the program writes files.
func (f *effectFinder) recordRow(row string, rest []*syntax.Word) (writes bool) {
	e := &f.script.Effects
	effects := map[string]*bool{"writes": &e.Writes, "network": &e.Network, "root": &e.Root, "terminal": &e.Terminal,
		"endless": &e.Endless, "starts": &f.script.Unknown}
	files := map[string]*[]string{"settings": &e.Settings, "secrets": &e.Secrets}
	for _, field := range table()[row] {
		switch word, value, _ := strings.Cut(field, ":"); {
		case effects[word] != nil:
			*effects[word] = true
			writes = writes || word == "writes"
		case files[word] != nil:
			*files[word] = append(*files[word], value)
		case word == "variable":
			f.variable(Variable{Name: value})
		case word == "destroys":
			if slices.ContainsFunc(rest, f.isForeignFile) {
				e.Destroys, e.Line = true, cmp.Or(e.Line, int(rest[0].Pos().Line()))
			}
		case word[0] != '-' && !slices.Contains(table()["=properties"], word):
			f.programs[word] = true
		}
	}
	return writes
}

// isForeignFile reports whether a word is an operand, and not a file that the script made with mktemp.
func (f *effectFinder) isForeignFile(w *syntax.Word) bool {
	text, _ := f.evaluate(w)
	return !strings.HasPrefix(text, "-") && !strings.Contains(text, temporaryFile)
}

// valueOptions are options of programs such as xargs and sudo that have a value in the next word.
var valueOptions = []string{"-n", "-u", "-I", "-P", "-L", "-k", "-s", "-d"}

// prefixCommand reads the arguments of a program that starts the command in them: sudo rm x.
func (f *effectFinder) prefixCommand(name string, rest []*syntax.Word) {
	operands := 0
	if name == "timeout" {
		operands = 1
	}
	for len(rest) > 0 {
		text, _ := literal(rest[0])
		switch {
		case name == "command" && (text == "-v" || text == "-V"):
			return
		case slices.Contains(valueOptions, text) && len(rest) > 1:
			rest = rest[2:]
		case strings.HasPrefix(text, "-"), name == "env" && strings.ContainsRune(text, '='):
			rest = rest[1:]
		case operands > 0:
			rest, operands = rest[1:], 0
		case isAllArguments(rest[0]):
			f.recordUnknown(rest[0])
			return
		default:
			f.command(rest)
			return
		}
	}
}

// shellCommand reads the arguments of sh: options, then the text after -c, or a script.
func (f *effectFinder) shellCommand(rest []*syntax.Word) {
	for i, w := range rest {
		text, isLiteral := literal(w)
		switch {
		case text == "-c" && i+1 < len(rest):
			inner, _ := literal(rest[i+1])
			f.shellText(inner, w)
		case strings.HasPrefix(text, "-"):
			continue
		case !isLiteral:
			if name, _ := f.programOf(w); name != "" {
				f.programs[name] = true
			}
		}
		return
	}
}

// shellText reads shell commands in the text of a word. The text is "" if it is known only when the script runs.
func (f *effectFinder) shellText(text string, w *syntax.Word) {
	if text == "" {
		f.recordUnknown(w)
	} else if file, err := parse([]byte(text)); err == nil {
		f.walk(file)
	}
}

// awkCommand matches a pipe to or from a command in a program of awk, and a call of system.
var awkCommand = lazyregexp.New(`[^|]\|&?\s*"([^"\\]+)"|"([^"\\]+)"\s*\|&?\s*getline|` +
	`\bsystem\((?:\s*"([^"\\]+)"\s*\))?`)

// awkCommands records the commands in the arguments of awk, which a shell starts.
func (f *effectFinder) awkCommands(rest []*syntax.Word) {
	for _, w := range rest {
		text, _ := literal(w)
		for _, m := range awkCommand.FindAllStringSubmatch(text, -1) {
			f.programs["sh"] = true
			f.shellText(m[1]+m[2]+m[3], w)
		}
	}
}

// programOf returns the program that a word names: a literal name, one next to the script, or the value of a variable.
func (f *effectFinder) programOf(w *syntax.Word) (name string, known bool) {
	if name, known = literal(w); known {
		return name, true
	}
	if f.isFlag(parameterOf(w)) {
		return "true", true
	}
	name, own, known := f.pathOf(w)
	switch {
	case !known || name == "" || f.hasArgument(w):
		return "", false
	case own:
		return "./" + name, name != "."
	}
	return name, name[0] == '/' || !strings.ContainsAny(name, " $/")
}

// isFlag reports whether a variable always has the name of a command that does nothing: $quiet || echo done.
func (r *reader) isFlag(name string) bool {
	return len(r.assignments[name]) > 0 && !slices.ContainsFunc(r.assignments[name], func(a *syntax.Assign) bool {
		text, _ := literal(a.Value)
		return text != "true" && text != "false" && text != ":"
	})
}

// redirections records the files that a statement reads and writes.
func (f *effectFinder) redirections(s *syntax.Stmt) {
	e := &f.script.Effects
	for _, redirect := range s.Redirs {
		switch redirect.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			text, _ := literal(redirect.Word)
			e.Terminal = e.Terminal || text == "/dev/tty"
			e.Network = e.Network || strings.HasPrefix(text, "/dev/tcp/") || strings.HasPrefix(text, "/dev/udp/")
			if !strings.HasPrefix(text, "/dev/") {
				e.Writes = e.Writes || f.isForeignFile(redirect.Word)
				f.path(redirect.Word, true)
			}
		case syntax.RdrIn:
			f.path(redirect.Word, false)
		}
	}
}

// path records an absolute path, or one next to the script.
func (f *effectFinder) path(w *syntax.Word, written bool) (name string, own bool) {
	e := &f.script.Effects
	if written && !f.writesShared && f.isShared(w) {
		f.writesShared = true
		f.doubt(DoubtShared, "/tmp", int(w.Pos().Line()))
	}
	name, own, known := f.pathOf(w)
	switch {
	case own:
		e.WritesOwnFolder = e.WritesOwnFolder || written && name != "."
	case !known || len(name) < 2 || name[0] != '/' && name[0] != '~' || strings.ContainsAny(name, "*?[ ${}"):
	case strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc") || strings.HasSuffix(name, "XXX"):
	case written:
		e.WritePaths = append(e.WritePaths, name)
	default:
		e.ReadPaths = append(e.ReadPaths, name)
	}
	return name, own
}

// isShared reports whether a word is a path below /tmp, or a variable that has one.
func (f *effectFinder) isShared(w *syntax.Word) bool {
	below := func(w *syntax.Word) bool {
		if w == nil {
			return false
		}
		text, _ := textOf(w.Parts, false, noExpansion) // not ${TMPDIR:-/tmp}/x
		return strings.HasPrefix(strings.TrimPrefix(text, "--tmpdir="), "/tmp")
	}
	isBelow := func(s *syntax.Assign) bool { return below(s.Value) }
	return below(w) || slices.ContainsFunc(f.assignments[parameterOf(w)], isBelow)
}

// question records a question that read asks.
func (f *effectFinder) question(c *syntax.CallExpr, words []string) {
	q := Question{Line: int(c.Pos().Line())}
	asks := false
	for i, w := range words {
		if !strings.HasPrefix(w, "-") {
			continue
		}
		if strings.ContainsAny(w, "tu") {
			return
		}
		q.Secret = q.Secret || strings.Contains(w, "s")
		if strings.HasSuffix(w, "p") && i+1 < len(c.Args) {
			asks = true
			q.Text = strings.TrimSpace(f.displayText(c.Args[i+1]))
		}
	}
	lower := strings.ToLower(q.Text)
	q.YesNo = strings.Contains(lower, "y/n") || strings.Contains(lower, "yes/no")
	if asks {
		f.script.Questions = append(f.script.Questions, q)
	}
}

// selectQuestion records the question that select asks.
func (f *effectFinder) selectQuestion(c *syntax.ForClause) {
	q := Question{Text: "Choose one", Line: int(c.Pos().Line())}
	if loop, ok := c.Loop.(*syntax.WordIter); ok {
		for _, w := range loop.Items {
			if text, ok := literal(w); ok {
				q.Choices = append(q.Choices, text)
			}
		}
	}
	f.script.Questions = append(f.script.Questions, q)
}

//go:embed programs.txt
var programs string

// table returns the rows of programs.txt by the name of the program.
var table = sync.OnceValue(func() map[string][]string {
	rows := map[string][]string{}
	for line := range strings.Lines(programs) {
		if fields := strings.Fields(line); fields[0] != "#" {
			rows[fields[0]] = fields[1:]
		}
	}
	return rows
})

// property returns the value of a word in the row of a program: "efm" for "input:efm". The value can be empty.
func property(program, word string) (value string, has bool) {
	for _, field := range table()[program] {
		if value, ok := strings.CutPrefix(field, word); ok && strings.Trim(value[:min(1, len(value))], ":") == "" {
			return strings.TrimPrefix(value, ":"), true
		}
	}
	return "", false
}

// startedProgram matches the name of a program at the beginning of a text in quotation marks.
var startedProgram = lazyregexp.New("(?:[\"'`]|(?:qx|%x)[({\\[/])([\\w.+-]+)[\"'` ]")

// SettingsOf returns the files in the home directory that the programs of a script in another language read. A program
// is one that begins a quoted text: ["git", "log"], `git log`.
func SettingsOf(text string) (files []string) {
	for _, m := range startedProgram.FindAllStringSubmatch(text, -1) {
		for _, field := range table()[m[1]] {
			if file, ok := strings.CutPrefix(field, "settings:"); ok && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// IsStandard reports whether each system has a program, so that nobody needs to install it.
func IsStandard(name string) bool { return slices.Contains(table()["=standard"], name) }

// IsShell reports whether a program runs the scripts that Read reads.
func IsShell(name string) bool { return slices.Contains(table()["=shells"], name) }

// isBuiltin reports whether the command is a builtin of Bash.
func isBuiltin(name string) bool { return slices.Contains(table()["=builtin"], name) }

// isFailure reports whether scripts call a function with this name to end with an error.
func isFailure(name string) bool { return slices.Contains(table()["=failure"], name) }

// prints reports whether a command writes its words, or a here-document, to standard output.
func prints(name string) bool { return name == "echo" || name == "printf" || name == "cat" }
