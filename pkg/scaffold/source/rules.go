package source

import (
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// branch reads an if. A condition whose first branch ends the script is a rule for the arguments.
func (r *reader) branch(c *syntax.IfClause, certain bool) {
	if len(c.Cond) == 1 {
		switch {
		case r.leading(c.Cond[0], c.Then):
			if c.Else != nil && len(c.Else.Cond) > 0 {
				r.branch(c.Else, false)
			} else if c.Else != nil {
				r.statements(c.Else.Then, false)
			}
			return
		case certain && r.refuses(c.Cond[0], c.Then):
			r.noOperands = true
			return
		}
	}
	r.useOf(c.Cond)
	if len(c.Cond) > 0 {
		cond := c.Cond[len(c.Cond)-1]
		end := r.outcomeOf(c.Then)
		switch {
		case certain && (end == fails || end == probablyFails):
			r.rule(cond, true, end)
		case c.Else != nil && len(c.Else.Cond) == 0 && certain && r.outcomeOf(c.Else.Then) == fails:
			r.rule(cond, false, fails)
		default:
			r.fallback(cond, true, c.Then)
		}
	}
	before := r.shifted
	r.statements(c.Then, false)
	if c.Else == nil {
		return
	}
	taken := r.shifted
	r.shifted = before
	if len(c.Else.Cond) > 0 {
		r.branch(c.Else, false)
	} else {
		r.literals(c.Else.Then)
		r.statements(c.Else.Then, false)
	}
	r.shifted = max(r.shifted, taken)
}

// literals reads x=local in the branch for a missing argument, if the other branch has x=$1.
func (r *reader) literals(list []*syntax.Stmt) {
	for _, stmt := range list {
		for _, s := range assignments(stmt.Cmd) {
			if s.Name == nil || s.Naked || s.Array != nil {
				continue
			}
			text, ok := literal(s.Value)
			if a := r.byVariable[s.Name.Value]; ok && a != nil && a.Default == nil && a.place > 0 {
				a.Default, a.omitted = &text, true
			}
		}
	}
}

// binary reads a && b and a || b.
func (r *reader) binary(c *syntax.BinaryCmd, certain bool) {
	body := []*syntax.Stmt{c.Y}
	switch {
	case c.Op == syntax.AndStmt && r.leading(c.X, body):
		return
	case c.Op == syntax.AndStmt && certain && r.refuses(c.X, body):
		r.noOperands = true
		return
	case c.Op == syntax.AndStmt || c.Op == syntax.OrStmt:
		end := r.outcomeOf(body)
		truth := c.Op == syntax.AndStmt
		r.use(c.X)
		if certain && (end == fails || end == probablyFails) {
			r.rule(c.X, truth, end)
		} else {
			r.fallback(c.X, truth, body)
			if certain && truth && end == goesOn { // a command that runs, and one that runs if it worked
				r.statement(c.X, false)
			}
		}
		r.statement(c.Y, false)
		return
	}
	r.statement(c.X, certain)
	r.statement(c.Y, certain)
}

// fallback reads [ -z "$x" ] && x=literal, a default.
func (r *reader) fallback(cond *syntax.Stmt, truth bool, then []*syntax.Stmt) {
	for _, t := range r.tests(cond, truth) {
		name := nameOf(t.x)
		a := r.argumentOf(t.x)
		if t.kind != isEmpty && t.kind != isShort {
			continue
		}
		for _, stmt := range then {
			for _, s := range assignments(stmt.Cmd) {
				text, ok := literal(s.Value)
				if s.Name == nil || s.Naked || !ok {
					continue
				}
				switch {
				case t.kind == isEmpty && s.Name.Value == name && a != nil && a.Default == nil:
					a.Default, a.omitted = &text, true
				case t.kind == isEmpty && s.Name.Value == name && position(name) == 0:
					r.settings = append(r.settings, Variable{Name: name, Default: text, Line: int(s.Pos().Line())})
				case t.kind == isEmpty && a != nil || t.kind == isShort:
					r.initial[s.Name.Value] = text
				}
			}
		}
	}
}

// A testKind is what a test finds out.
type testKind int

const (
	isEmpty    testKind = iota // x is empty
	isShort                    // fewer than n arguments
	isLong                     // any argument
	isOther                    // x is none of the words
	isNoNumber                 // x is not an integer
	isNoFile
	isNoDirectory
)

// A test is what holds if a condition has a truth.
type test struct {
	kind  testKind
	x     *syntax.Word
	n     int
	words []string
}

// rule reads a condition after which the script ends.
func (r *reader) rule(cond *syntax.Stmt, truth bool, end outcome) {
	for _, t := range r.tests(cond, truth) {
		switch t.kind {
		case isShort:
			r.counts = append(r.counts, count{r.shifted + t.n, r.options, end, cond.Pos()})
			continue
		case isLong:
			continue
		}
		a := r.argumentOf(t.x)
		if a == nil {
			if name := nameOf(t.x); name != "" && t.kind == isEmpty && !r.assigned[name] {
				r.settings = append(r.settings, Variable{Name: name, Required: true, Line: int(cond.Pos().Line())})
			}
			continue
		}
		switch t.kind {
		case isEmpty:
			a.require(end)
		case isOther:
			if len(a.Choices) == 0 {
				a.Choices = t.words
			}
		case isNoNumber:
			a.Kind = Integer
		case isNoFile:
			a.is(File)
			a.requireFile(end)
		case isNoDirectory:
			a.is(Directory)
			a.requireFile(end)
		}
	}
}

// requireFile notes that the script ends without a file that the argument names. A default can name one.
func (a *Argument) requireFile(end outcome) {
	if a.place > 0 && !a.Repeat && !a.omitted && a.Default == nil {
		a.require(end)
	}
}

func (a *Argument) is(k Kind) {
	if a.Kind == Text {
		a.Kind = k
	}
}

// require notes that the script ends without the argument.
func (a *Argument) require(end outcome) {
	a.Required = true
	if end == probablyFails && !slices.Contains(a.Doubts, DoubtRequired) {
		a.Doubts = append(a.Doubts, DoubtRequired)
	}
}

// argumentOf returns the argument that a word consists of, or nil.
func (r *reader) argumentOf(w *syntax.Word) *Argument {
	name := nameOf(w)
	if n := position(name); n > 0 {
		return r.operand(n, w.Pos())
	}
	return r.byVariable[name]
}

// tests returns what holds if a condition has a truth: all of it, or one of it for the end of the script.
func (r *reader) tests(stmt *syntax.Stmt, truth bool) []test {
	if stmt.Negated {
		truth = !truth
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		list := append(r.tests(c.X, truth), r.tests(c.Y, truth)...)
		return joined(list, c.Op == syntax.OrStmt, truth)
	case *syntax.Block:
		if len(c.Stmts) == 1 {
			return r.tests(c.Stmts[0], truth)
		}
	case *syntax.TestClause:
		return clause(c.X, truth)
	case *syntax.ArithmCmd:
		return arithmetic(c.X, truth)
	case *syntax.CallExpr:
		if len(c.Args) > 1 && len(c.Assigns) == 0 {
			first, _ := literal(c.Args[0])
			last, _ := literal(c.Args[len(c.Args)-1])
			if first == "[" && last == "]" {
				return bracket(c.Args[1:len(c.Args)-1], truth)
			}
			if first == "test" {
				return bracket(c.Args[1:], truth)
			}
		}
	}
	return nil
}

// joined keeps what is certain for two tests that are joined by "or" or by "and". A script that ends if one of several
// things is missing needs all of them. If it ends only without all of them, it needs none for certain. Words that are
// compared one by one are a choice.
func joined(list []test, or, truth bool) []test {
	var words []string
	for _, t := range list {
		if t.kind != isOther || nameOf(t.x) == "" || nameOf(t.x) != nameOf(list[0].x) {
			words = nil
			break
		}
		words = append(words, t.words...)
	}
	switch {
	case or != truth && len(words) > 0: // neither a nor b
		return []test{{kind: isOther, x: list[0].x, words: words}}
	case or == truth:
		return slices.DeleteFunc(list, func(t test) bool { return t.kind == isOther })
	}
	return nil
}

// bracket reads the words of [ … ].
func bracket(words []*syntax.Word, truth bool) []test {
	for _, joint := range []string{"-o", "-a"} {
		for i, w := range words {
			if text, _ := literal(w); text == joint {
				return joined(append(bracket(words[:i], truth), bracket(words[i+1:], truth)...), joint == "-o", truth)
			}
		}
	}
	if len(words) > 1 {
		if text, _ := literal(words[0]); text == "!" {
			return bracket(words[1:], !truth)
		}
	}
	switch len(words) {
	case 1:
		return unary("-n", words[0], truth)
	case 2:
		op, _ := literal(words[0])
		return unary(op, words[1], truth)
	case 3:
		op, _ := literal(words[1])
		return compare(op, words[0], words[2], truth)
	}
	return nil
}

// clause reads the expression of [[ … ]].
func clause(x syntax.TestExpr, truth bool) []test {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return clause(x.X, truth)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return clause(x.X, !truth)
		}
		if w, ok := x.X.(*syntax.Word); ok {
			return unary(x.Op.String(), w, truth)
		}
	case *syntax.BinaryTest:
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
			return joined(append(clause(x.X, truth), clause(x.Y, truth)...), x.Op == syntax.OrTest, truth)
		}
		left, ok1 := x.X.(*syntax.Word)
		right, ok2 := x.Y.(*syntax.Word)
		if ok1 && ok2 {
			return compare(x.Op.String(), left, right, truth)
		}
	case *syntax.Word:
		return unary("-n", x, truth)
	}
	return nil
}

func unary(op string, x *syntax.Word, truth bool) []test {
	one := func(kind testKind, when bool) []test {
		if truth == when {
			return []test{{kind: kind, x: x}}
		}
		return nil
	}
	switch op {
	case "-z":
		return one(isEmpty, true)
	case "-n":
		return one(isEmpty, false)
	case "-f", "-e", "-r", "-s":
		return one(isNoFile, false)
	case "-d":
		return one(isNoDirectory, false)
	}
	return nil
}

var (
	integers = lazyregexp.New(`^\^[-+?\[\]()]*\[(0-9|1-9|\[:digit:\])\](\[0-9\])?(\+|\*|\{\d(,\d*)?\})?\$$`)
	listed   = lazyregexp.New(`^\^\(([\w.-]+(?:\|[\w.-]+)+)\)\$$`)
)

// compare reads a test with two sides.
func compare(op string, x, y *syntax.Word, truth bool) []test {
	right, isLiteral := literal(y)
	if list := lengthOf(x); list != nil && isLiteral && len(counted(op, position(right), truth)) > 0 {
		return []test{{kind: isEmpty, x: list}}
	}
	if isCount(x) && isLiteral {
		return counted(op, position(right), truth)
	}
	if nameOf(x) == "" {
		return nil
	}
	switch op {
	case "=", "==":
		switch {
		case isLiteral && right == "" && truth:
			return []test{{kind: isEmpty, x: x}}
		case isLiteral && right != "" && !truth && !strings.ContainsAny(right, "*?["):
			return []test{{kind: isOther, x: x, words: []string{right}}}
		}
	case "!=":
		return compare("=", x, y, !truth)
	case "=~":
		pattern := source(y)
		if truth {
			return nil
		}
		if integers.MatchString(pattern) {
			return []test{{kind: isNoNumber, x: x}}
		}
		if m := listed.FindStringSubmatch(pattern); m != nil {
			return []test{{kind: isOther, x: x, words: strings.Split(m[1], "|")}}
		}
	}
	return nil
}

// source returns a word as it is written, for regular expressions.
func source(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		default:
			b.WriteString("?")
		}
	}
	return b.String()
}

// counted reads a comparison of $# with a number.
func counted(op string, n int, truth bool) []test {
	least := 0
	switch {
	case n == 0 && truth && (op == "-gt" || op == "-ne" || op == "!=" || op == ">"):
		return []test{{kind: isLong}}
	case op == "-lt" && truth, op == "-ge" && !truth, op == "<" && truth, op == ">=" && !truth:
		least = n
	case op == "-le" && truth, op == "-gt" && !truth, op == "<=" && truth, op == ">" && !truth:
		least = n + 1
	case (op == "-eq" || op == "=" || op == "==") && truth && n == 0:
		least = 1
	case (op == "-ne" || op == "!=") && !truth && n == 0:
		least = 1
	case (op == "-ne" || op == "!=") && truth, (op == "-eq" || op == "=" || op == "==") && !truth:
		least = n
	}
	if least == 0 {
		return nil
	}
	return []test{{kind: isShort, n: least}}
}

// arithmetic reads (( $# < 2 )).
func arithmetic(x syntax.ArithmExpr, truth bool) []test {
	switch x := x.(type) {
	case *syntax.ParenArithm:
		return arithmetic(x.X, truth)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Not {
			return arithmetic(x.X, !truth)
		}
	case *syntax.Word:
		if list := lengthOf(x); list != nil && !truth {
			return []test{{kind: isEmpty, x: list}}
		}
		if isCount(x) {
			return counted("!=", 0, truth)
		}
	case *syntax.BinaryArithm:
		if x.Op == syntax.AndArit || x.Op == syntax.OrArit {
			return joined(append(arithmetic(x.X, truth), arithmetic(x.Y, truth)...), x.Op == syntax.OrArit, truth)
		}
		left, ok1 := x.X.(*syntax.Word)
		right, ok2 := x.Y.(*syntax.Word)
		if ok1 && ok2 && isCount(left) {
			if text, ok := literal(right); ok {
				return counted(x.Op.String(), position(text), truth)
			}
		} else if ok1 && ok2 && lengthOf(left) != nil {
			return compare(x.Op.String(), left, right, truth)
		}
	}
	return nil
}

// selection reads a case. If its branch for other words ends the script, the words are the choices.
func (r *reader) selection(c *syntax.CaseClause, certain bool) {
	if r.leadingCase(c) {
		return
	}
	r.use(c.Word)
	a := r.argumentOf(c.Word)
	before, most := r.shifted, r.shifted
	var words []string
	closed, exact := false, true
	for _, b := range items(c) {
		for _, p := range b.patterns {
			switch {
			case p == "*":
				closed = r.outcomeOf(b.body) == fails || r.outcomeOf(b.body) == probablyFails
			case p == "*[!0-9]*" && r.outcomeOf(b.body) == fails, p == "*[^0-9]*" && r.outcomeOf(b.body) == fails:
				if a != nil {
					a.Kind = Integer
				}
			case p == "" || p[0] == '-' || p == "help":
			case strings.ContainsAny(p, "*?["):
				exact = false
			default:
				words = append(words, p)
			}
		}
		r.shifted = before
		r.statements(b.body, false)
		most = max(most, r.shifted)
	}
	r.shifted = most
	if a == nil || !closed || !exact || len(words) == 0 || len(a.Choices) > 0 {
		return
	}
	a.Choices = words
	if certain && a.place > 0 && a.Default == nil && !slices.ContainsFunc(items(c), hasEmpty) {
		a.Required = true
	}
}

func hasEmpty(b branchOf) bool { return slices.Contains(b.patterns, "") }
