package source

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

// outcomeOf returns how statements end.
func (r *reader) outcomeOf(list []*syntax.Stmt) outcome { return r.outcomeIn(list, map[string]bool{}) }

func (r *reader) outcomeIn(list []*syntax.Stmt, seen map[string]bool) outcome {
	usage := false
	for _, stmt := range list {
		switch c := stmt.Cmd.(type) {
		case *syntax.Block:
			if o := r.outcomeIn(c.Stmts, seen); o != goesOn {
				return o
			}
		case *syntax.BinaryCmd:
			if o := r.outcomeIn([]*syntax.Stmt{c.X, c.Y}, seen); o != goesOn && c.Op == syntax.AndStmt {
				return o
			}
		case *syntax.CallExpr:
			_, words := simple(c)
			if len(words) == 0 {
				continue
			}
			usage = usage || saysUsage(words)
			if o := r.outcomeOfCall(words, usage, seen); o != goesOn {
				return o
			}
		}
	}
	return goesOn
}

func (r *reader) outcomeOfCall(words []string, usage bool, seen map[string]bool) outcome {
	name := words[0]
	switch {
	case name == "exit" || name == "return":
		if len(words) > 1 && words[1] == "0" && !usage {
			return endsWell
		}
		return fails
	case r.functions[name] != nil && !seen[name]:
		seen[name] = true
		defer delete(seen, name)
		o := goesOn
		if body, ok := r.functions[name].Body.Cmd.(*syntax.Block); ok {
			o = r.outcomeIn(body.Stmts, seen)
		}
		if o == endsWell && isUsage(name) {
			return fails
		}
		return o
	case r.functions[name] == nil && (isUsage(name) || isFailure(name)):
		return probablyFails
	}
	return goesOn
}

func isUsage(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "usage") || strings.Contains(name, "help")
}

func isFailure(name string) bool {
	switch name {
	case "die", "fail", "fatal", "abort", "bail", "error_exit", "err_exit":
		return true
	}
	return false
}

// saysUsage reports whether a command prints a usage text, so that an exit 0 after it is the end of a wrong call.
func saysUsage(words []string) bool {
	if isUsage(words[0]) {
		return true
	}
	switch words[0] {
	case "echo", "printf", "cat":
		return strings.Contains(strings.ToLower(strings.Join(words[1:], " ")), "usage")
	}
	return false
}
