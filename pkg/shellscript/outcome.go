package shellscript

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An outcome is what happens at the end of statements.
type outcome int

const (
	goesOn outcome = iota
	endsWell
	fails
	probablyFails
)

// isError reports whether statements end the script with an error, for certain or probably.
func (o outcome) isError() bool { return o == fails || o == probablyFails }

// outcomeOf returns how statements end.
func (r *reader) outcomeOf(list []*syntax.Stmt) outcome {
	usage, o := false, goesOn
	for _, stmt := range list {
		switch c := stmt.Cmd.(type) {
		case *syntax.Block:
			o = r.outcomeOf(c.Stmts)
		case *syntax.BinaryCmd:
			if c.Op == syntax.AndStmt {
				o = r.outcomeOf([]*syntax.Stmt{c.X, c.Y})
			}
		case *syntax.CallExpr:
			_, words := simple(c)
			usage = usage || saysUsage(words)
			switch name := programOf(c); {
			case name == "":
			case name == "exit" || name == "return":
				if o = fails; len(words) > 1 && words[1] == "0" && !usage {
					o = endsWell
				}
			case r.functions[name] != nil:
				o = r.outcomeOfFunction(name)
			case isUsage(name) || isFailure(name):
				o = probablyFails
			}
		}
		if o != goesOn {
			break
		}
	}
	return o
}

func (r *reader) outcomeOfFunction(name string) outcome {
	if _, done := r.outcomes[name]; !done {
		r.outcomes[name] = goesOn // for functions that call each other
		o := r.outcomeOf([]*syntax.Stmt{r.functions[name].Body})
		if o == endsWell && isUsage(name) {
			o = fails
		}
		r.outcomes[name] = o
	}
	return r.outcomes[name]
}

func isUsage(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "usage") || strings.Contains(name, "help")
}

// saysUsage reports whether a command prints a usage text, so that an exit 0 after it is the end of a wrong call.
func saysUsage(words []string) bool {
	if len(words) == 0 {
		return false
	}
	text := strings.ToLower(strings.Join(words[1:], " "))
	return isUsage(words[0]) || prints(words[0]) && strings.Contains(text, "usage")
}
