package shellscript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Trial is a call of the script that only prints, such as --help.
type Trial struct {
	Word   string
	Status int // its exit status
}

// trialWords are the words that ask a script about itself, the best first.
var trialWords = []string{"--help", "-h", "--version"}

// trial finds a call that only prints: the commands before the option, and those that handle it, change nothing. Then
// the script ends. Otherwise it returns the line of a command that can do more, or 0 if there is no such option.
func (r *reader) trial() (found *Trial, line int) {
	for _, word := range trialWords {
		p := &proof{reader: r, word: word, seen: map[string]bool{}}
		switch handled := p.findHandler(r.file.Stmts, "1", word); {
		case handled && p.firstEffect == 0:
			return &Trial{word, p.status}, 0
		case handled && line == 0:
			line = p.firstEffect
		}
	}
	return nil, line
}

// A proof follows the statements of a script up to the one that handles an option.
type proof struct {
	*reader
	word        string
	firstEffect int // the line of the first command on the way that can do more than print, or 0
	status      int
	seen        map[string]bool // functions that were followed; with "=", those that are followed now
}

// findHandler reports whether one of some statements handles the word: a case, a test, or a function that gets all
// arguments. The statements before it must only print. parameter has text, which is the word or its letter.
func (p *proof) findHandler(list []*syntax.Stmt, parameter, text string) bool {
	for _, stmt := range list {
		p.checkStatement(stmt)
		handled, harmless := false, false
		switch c := stmt.Cmd.(type) {
		case *syntax.WhileClause:
			p.checkAll(c.Cond)
			switch letters, variable := p.getopts(c.Cond); {
			case variable == "":
				handled = p.findHandler(c.Do, parameter, text)
			case len(text) == 2 && strings.Contains(letters, text[1:]) && !strings.Contains(letters, text[1:]+":"):
				handled = p.findHandler(c.Do, variable, text[1:])
			}
		case *syntax.ForClause:
			handled = loopsOverArguments(c) && p.findHandler(c.Do, c.Loop.(*syntax.WordIter).Name.Value, text)
		case *syntax.CaseClause:
			handled = parameterOf(c.Word) == parameter && p.caseHandler(c, text)
		case *syntax.IfClause:
			handled = len(c.Cond) == 1 && p.compares(c.Cond[0], parameter) && p.printsAndExits(c.Then, nil)
		case *syntax.BinaryCmd:
			handled = c.Op == syntax.AndStmt && p.compares(c.X, parameter) && p.printsAndExits([]*syntax.Stmt{c.Y}, nil)
		case *syntax.CallExpr:
			for _, a := range c.Assigns { // key=$1
				if parameter == "1" && len(c.Args) == 0 && parameterOf(a.Value) == parameter {
					parameter = a.Name.Value
				}
			}
			name := commandName(c)
			f := p.functions[name]
			if f != nil && len(c.Args) == 2 && isAllArguments(c.Args[1]) && !p.seen[name] {
				p.seen[name] = true
				handled = p.findHandler([]*syntax.Stmt{f.Body}, "1", text)
			}
			harmless = name == "shift" && parameter != "1"
		case *syntax.Block:
			handled, harmless = p.findHandler(c.Stmts, parameter, text), true
		}
		if handled {
			return true
		}
		if !harmless {
			p.check(stmt)
		}
	}
	return false
}

// caseHandler reports whether the first branch that matches a word names it, prints and ends the script.
func (p *proof) caseHandler(c *syntax.CaseClause, word string) bool {
	p.check(c.Word)
	for _, b := range c.Items {
		for _, w := range b.Patterns {
			p.check(w)
			pattern, known := literal(w)
			if known && pattern == word {
				return p.printsAndExits(b.Stmts, nil)
			}
			if is, err := path.Match(pattern, word); is || err != nil || !known {
				return false
			}
		}
	}
	return false
}

// compares reports whether a condition is true if a parameter is the word.
func (p *proof) compares(cond *syntax.Stmt, parameter string) bool {
	is := false
	switch c := cond.Cmd.(type) {
	case *syntax.BinaryCmd:
		given := func(t predicate) bool { return t.kind == hasArguments } // [ $# -gt 0 ] && …
		is = c.Op == syntax.AndStmt && slices.ContainsFunc(predicates(c.X, true), given) && p.compares(c.Y, parameter) ||
			c.Op == syntax.OrStmt && (p.compares(c.X, parameter) || p.compares(c.Y, parameter))
	case *syntax.TestClause:
		is = p.comparesExpression(c.X, parameter)
	default:
		is = p.comparesWord(predicates(cond, false), parameter)
	}
	if is {
		p.check(cond)
	}
	return is && !cond.Negated
}

// comparesExpression is [proof.compares] for a condition in [[ … ]].
func (p *proof) comparesExpression(x syntax.TestExpr, parameter string) bool {
	if or, ok := x.(*syntax.BinaryTest); ok && or.Op == syntax.OrTest {
		return p.comparesExpression(or.X, parameter) || p.comparesExpression(or.Y, parameter)
	}
	return p.comparesWord(exprPredicates(x, false), parameter)
}

// comparesWord reports whether a test compares a parameter with the word.
func (p *proof) comparesWord(list []predicate, parameter string) bool {
	return slices.ContainsFunc(list, func(t predicate) bool {
		return t.kind == isNotOneOf && t.name() == parameter && slices.Contains(t.words, p.word)
	})
}

// printsAndExits reports whether statements only print, and then end the script. arguments are the arguments of their
// function.
func (p *proof) printsAndExits(list []*syntax.Stmt, arguments []*syntax.Word) bool {
	for _, stmt := range list {
		p.checkStatement(stmt)
		switch c := stmt.Cmd.(type) {
		case *syntax.Block:
			if p.printsAndExits(c.Stmts, arguments) {
				return true
			}
			continue
		case *syntax.BinaryCmd:
			if c.Op == syntax.AndStmt && p.cannotFail(c.X) && p.printsAndExits([]*syntax.Stmt{c.X, c.Y}, arguments) {
				return true
			}
		case *syntax.CallExpr:
			name := commandName(c)
			for _, w := range c.Args {
				p.check(w)
			}
			if name == "exit" {
				p.status = p.exitStatus(c.Args[1:], arguments)
				return true
			}
			if f := p.functions[name]; f != nil && !p.seen["="+name] {
				p.seen["="+name] = true
				defer delete(p.seen, "="+name)
				if p.printsAndExits([]*syntax.Stmt{f.Body}, c.Args[1:]) {
					return true
				}
				continue
			}
		}
		p.check(stmt)
	}
	return false
}

// cannotFail reports whether a command cannot fail, because it only prints a text.
func (p *proof) cannotFail(stmt *syntax.Stmt) bool {
	name := commandName(stmt.Cmd)
	return p.functions[name] != nil || slices.Contains([]string{"echo", "printf", "cat", "shift"}, name)
}

// exitStatus returns the number after exit: exit 2, or exit "${1:-2}" in a function.
func (p *proof) exitStatus(words, arguments []*syntax.Word) int {
	if len(words) == 0 {
		return 0
	}
	text, known := literal(words[0])
	if x := expansionIn(words[0]); !known && x != nil {
		if n := number(x.Param.Value); n > 0 && n <= len(arguments) {
			text, _ = literal(arguments[n-1])
		} else if x.Exp != nil {
			text, _ = literal(x.Exp.Word)
		}
	}
	n, _ := strconv.Atoi(text)
	return n
}

// checkStatement checks a statement without its command: redirections, and running in the background.
func (p *proof) checkStatement(stmt *syntax.Stmt) {
	bare := *stmt
	bare.Cmd = nil
	p.check(&bare)
}

// check records the line of the first command below a node that can do more than print.
func (p *proof) check(n syntax.Node) {
	inspect(n, func(n syntax.Node) {
		if p.firstEffect == 0 && !p.isHarmless(n) {
			p.firstEffect = int(n.Pos().Line())
		}
	})
}

func (p *proof) checkAll(list []*syntax.Stmt) {
	for _, stmt := range list {
		p.check(stmt)
	}
}

// isHarmless reports whether a node by itself changes nothing, and leaves the arguments as they are.
func (p *proof) isHarmless(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		return !n.Background && !n.Coprocess
	case *syntax.ProcSubst, *syntax.CoprocClause, *syntax.ForClause, *syntax.WhileClause: // a loop may never end
		return false
	case *syntax.Redirect:
		if n.Hdoc != nil || n.Word == nil {
			return true
		}
		target, _ := literal(n.Word)
		return slices.Contains([]syntax.RedirOperator{syntax.DplIn, syntax.DplOut, syntax.WordHdoc, syntax.RdrIn}, n.Op) ||
			slices.Contains([]string{"/dev/null", "/dev/stderr", "/dev/stdout"}, target)
	case *syntax.CallExpr:
		return len(n.Args) == 0 || p.isHarmlessCall(n)
	}
	return true
}

func (p *proof) isHarmlessCall(c *syntax.CallExpr) bool {
	_, words := literalWords(c)
	name, rest := words[0], words[1:]
	if f := p.functions[name]; f != nil {
		if !p.seen[name] { // "$@" in it is not followed, because findHandler did that
			p.seen[name] = true
			p.check(f.Body)
		}
		return true
	}
	has := func(begins ...string) bool {
		return slices.ContainsFunc(rest, func(w string) bool {
			return slices.ContainsFunc(begins, func(s string) bool { return strings.HasPrefix(w, s) })
		})
	}
	switch name {
	case "set":
		return !has("--") && len(rest) > 0 && !slices.Contains(rest, "")
	case "date":
		return !has("-s", "--s")
	case "mktemp":
		return !has("/", "-p", "--t")
	case "sed": // sed can write files, but the kernel prevents that in a trial
		return !has("-i", "--i")
	case "eval": // "$options", which getopt has quoted
		return len(rest) == 3 && rest[0] == "set" && rest[1] == "--" && p.isGetopt(parameterOf(c.Args[3]))
	case "command":
		return len(rest) > 0 && (rest[0] == "-v" || rest[0] == "-V")
	case "trap":
		return p.isHarmlessTrap(rest)
	case "source", ".":
		return !p.missingSource && p.areSourcesHarmless()
	}
	return slices.Contains(table()["=harmless"], name)
}

// isGetopt reports whether the one value of a variable is the output of getopt.
func (p *proof) isGetopt(name string) (is bool) {
	if list := p.assignments[name]; len(list) == 1 && list[0].Value != nil {
		inspect(list[0].Value, func(n syntax.Node) { is = is || commandName(n) == "getopt" })
	}
	return is
}

// areSourcesHarmless reports whether the files that the script sources only print.
func (p *proof) areSourcesHarmless() bool {
	if !p.seen["."] {
		p.seen["."] = true
		for _, file := range p.sources {
			p.checkAll(file.Stmts)
		}
	}
	return p.firstEffect == 0
}

// isHarmlessTrap reports whether a handler for the end of the script only prints. Other signals do not come.
func (p *proof) isHarmlessTrap(words []string) bool {
	if len(words) < 2 || slices.Contains(words, "") {
		return len(words) > 1 && words[0] == ""
	}
	if words[0] == "-" || !slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.Contains([]string{"EXIT", "0", "ERR", "DEBUG", "RETURN"}, w)
	}) {
		return true
	}
	file, err := parse([]byte(words[0]))
	if err != nil {
		return false
	}
	p.checkAll(file.Stmts)
	return p.firstEffect == 0
}
