package shellscript

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/text/lazyregexp"
)

// A testKind is the kind of fact that a test establishes.
type testKind int

const (
	isEmpty    testKind = iota + 1 // x is empty
	isShort                        // fewer than n arguments
	isLong                         // any argument
	isOther                        // x differs from each of the words
	isNoValue                      // x is not an option with a value such as --name=*, which is the word
	isNoNumber                     // x is not an integer
	isNoFile
	isNoDirectory
)

// A test is a fact that follows if a condition is true, or if it is false.
type test struct {
	kind  testKind
	x     *syntax.ParamExp
	n     int
	words []string
}

func (t test) name() string {
	if t.x == nil {
		return ""
	}
	return t.x.Param.Value
}

// maxTest limits the size of a condition that is understood, in bytes.
const maxTest = 2000

// tests returns the facts that follow if a condition has a truth. If the condition ends the script, each fact alone
// is enough to end it.
func tests(stmt *syntax.Stmt, truth bool) []test {
	if stmt.End().Offset()-stmt.Pos().Offset() > maxTest {
		return nil
	}
	truth = truth != stmt.Negated
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		return joined(tests(c.X, truth), tests(c.Y, truth), c.Op == syntax.OrStmt, truth)
	case *syntax.Block:
		if len(c.Stmts) == 1 {
			return tests(c.Stmts[0], truth)
		}
	case *syntax.TestClause:
		return expression(c.X, truth)
	case *syntax.ArithmCmd:
		return expression(c.X, truth)
	case *syntax.CallExpr:
		if words := bracketed(c); words != nil {
			return bracket(words, truth)
		}
	}
	return nil
}

// bracketed returns the words between [ and ], or after test.
func bracketed(c *syntax.CallExpr) []*syntax.Word {
	_, words := simple(c)
	switch last := len(words) - 1; {
	case last > 0 && words[0] == "[" && words[last] == "]":
		return c.Args[1:last]
	case last > 0 && words[0] == "test":
		return c.Args[1:]
	}
	return nil
}

// joined returns the facts that are certain if "or" or "and" joins two conditions. A script that ends if one of
// several arguments is missing needs all of them. If it ends only if all of them are missing, no single one is
// certainly needed. Words that are compared one by one are a choice.
func joined(x, y []test, or, truth bool) []test {
	list := append(x, y...)
	one := func(t test) bool { return t.kind == isOther && t.name() != "" && t.name() == list[0].name() }
	switch {
	case or == truth:
		return slices.DeleteFunc(list, func(t test) bool { return t.kind == isOther })
	case len(list) > 0 && !slices.ContainsFunc(list, func(t test) bool { return !one(t) }): // neither a nor b
		for _, t := range list[1:] {
			list[0].words = append(list[0].words, t.words...)
		}
		return list[:1]
	}
	return nil
}

// bracket reads the words of [ … ].
func bracket(words []*syntax.Word, truth bool) []test {
	for _, joint := range []string{"-o", "-a"} {
		for i, w := range words {
			if text, _ := literal(w); text == joint {
				return joined(bracket(words[:i], truth), bracket(words[i+1:], truth), joint == "-o", truth)
			}
		}
	}
	if len(words) == 0 {
		return nil
	}
	first, _ := literal(words[0])
	switch {
	case len(words) > 1 && first == "!":
		return bracket(words[1:], !truth)
	case len(words) == 1:
		return unary("-n", words[0], truth)
	case len(words) == 2:
		return unary(first, words[1], truth)
	case len(words) == 3:
		op, _ := literal(words[1])
		return compare(op, words[0], words[2], truth)
	}
	return nil
}

// expression reads the expression of [[ … ]] or of (( … )).
func expression(x syntax.Node, truth bool) []test {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return expression(x.X, truth)
	case *syntax.ParenArithm:
		return expression(x.X, truth)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return expression(x.X, !truth)
		}
		return unary(x.Op.String(), x.X, truth)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Not {
			return expression(x.X, !truth)
		}
	case *syntax.BinaryTest:
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
			return joined(expression(x.X, truth), expression(x.Y, truth), x.Op == syntax.OrTest, truth)
		}
		return compare(x.Op.String(), x.X, x.Y, truth)
	case *syntax.BinaryArithm:
		if x.Op == syntax.AndArit || x.Op == syntax.OrArit {
			return joined(expression(x.X, truth), expression(x.Y, truth), x.Op == syntax.OrArit, truth)
		}
		return compare(x.Op.String(), x.X, x.Y, truth)
	case *syntax.Word:
		return unary("-n", x, truth)
	}
	return nil
}

// kinds are the tests of files and of texts. If a test is false, the fact of its kind is true.
var kinds = map[string]testKind{"-n": isEmpty, "-f": isNoFile, "-e": isNoFile, "-r": isNoFile, "-s": isNoFile,
	"-d": isNoDirectory}

// unary reads a test with one side.
func unary(op string, node syntax.Node, truth bool) []test {
	word, _ := node.(*syntax.Word)
	x := parameter(word)
	switch {
	case x == nil:
		return nil
	case op == "-n" && (isCount(word) || x.Length):
		return counted("!=", x, 0, truth) // (( $# ))
	case op == "-z":
		op, truth = "-n", !truth
	}
	if kind := kinds[op]; kind > 0 && !truth {
		return []test{{kind: kind, x: x}}
	}
	return nil
}

var (
	integers = lazyregexp.New(`^\^[-+?\[\]()]*\[(0-9|1-9|\[:digit:\])\](\[0-9\])?(\+|\*|\{\d(,\d*)?\})?\$$`)
	listed   = lazyregexp.New(`^\^\(([\w.-]+(?:\|[\w.-]+)+)\)\$$`)
)

// compare reads a test with two sides.
func compare(op string, left, right syntax.Node, truth bool) []test {
	word, _ := left.(*syntax.Word)
	other, _ := right.(*syntax.Word)
	x := parameter(word)
	text, isLiteral := literal(other)
	switch {
	case x != nil && op == "!=" && !truth && x.Exp != nil && nameOf(other) == x.Param.Value: // "${1#--name=}" != "$1"
		if text, ok := literal(x.Exp.Word); ok && x.Exp.Op == syntax.RemSmallPrefix && hasValue(text+"*") {
			return []test{{kind: isNoValue, x: x, words: []string{text + "*"}}}
		}
	case x == nil || other == nil || !isLiteral:
	case isCount(word) || x.Length:
		return counted(op, x, position(text), truth)
	case op == "=~" && !truth && integers.MatchString(text):
		return []test{{kind: isNoNumber, x: x}}
	case op == "=~" && !truth:
		if m := listed.FindStringSubmatch(text); m != nil {
			return []test{{kind: isOther, x: x, words: strings.Split(m[1], "|")}}
		}
	case (op == "=" || op == "==") && !truth && hasValue(text):
		return []test{{kind: isNoValue, x: x, words: []string{text}}}
	case op == "!=" && truth, (op == "=" || op == "==") && !truth:
		if text != "" && !strings.ContainsAny(text, "*?[") {
			return []test{{kind: isOther, x: x, words: []string{text}}}
		}
	case (op == "!=" || op == "=" || op == "==") && text == "":
		return []test{{kind: isEmpty, x: x}}
	}
	return nil
}

// hasValue reports whether a pattern is an option with a value: --name=*.
func hasValue(pattern string) bool {
	name, value, _ := strings.Cut(pattern, "=")
	return value == "*" && !isNoOption(name) && !strings.ContainsAny(name, "*?[")
}

// signs has the sign of each operator of test, and opposites the comparison that holds if another one does not.
var (
	signs     = map[string]string{"-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">=", "-eq": "==", "=": "==", "-ne": "!="}
	opposites = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
)

// counted reads a comparison of a number with $#, or with the length of a list.
func counted(op string, x *syntax.ParamExp, n int, truth bool) []test {
	op = cmp.Or(signs[op], op)
	if !truth {
		op = opposites[op]
	}
	least, list := 0, x.Length && syntax.ValidName(x.Param.Value)
	switch {
	case (op == ">" || op == "!=") && n == 0 && !list:
		return []test{{kind: isLong}}
	case op == "<" || op == "!=":
		least = n
	case op == "<=" || op == "==" && n == 0:
		least = n + 1
	}
	switch {
	case least == 0:
		return nil
	case list:
		return []test{{kind: isEmpty, x: x}}
	}
	return []test{{kind: isShort, n: least}}
}

// isNumeric reports whether a test compares numbers.
func isNumeric(op string) bool { return strings.HasPrefix(op, "-") && signs[op] != "" }

// An outcome is the way in which statements end.
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
