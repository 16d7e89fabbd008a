package shellscript

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/text/lazyregexp"
)

// A predicateKind is the kind of a predicate about a parameter x, or about the number of arguments.
type predicateKind int

const (
	isEmpty           predicateKind = iota + 1 // x is empty
	hasTooFew                                  // there are fewer arguments than the minimum
	hasArguments                               // there is an argument
	isNotOneOf                                 // x differs from each of the words
	isNotJoinedOption                          // x does not match the word, such as --name=*
	isNotInteger                               // x is not an integer
	isNotFile
	isNotDirectory
)

// A predicate follows from a condition that is true, or from one that is false. Both [ -z "$1" ] if true and
// [ -n "$1" ] if false have the predicate isEmpty.
type predicate struct {
	kind    predicateKind
	tested  *syntax.ParamExp
	minimum int
	words   []string
}

func (p predicate) name() string {
	if p.tested == nil {
		return ""
	}
	return p.tested.Param.Value
}

// maxConditionBytes limits the size of a condition that is understood, in bytes.
const maxConditionBytes = 2000

// predicates returns the predicates that follow if a condition has the given truth. If the condition ends the script,
// each of them alone is enough to end it.
func predicates(stmt *syntax.Stmt, truth bool) []predicate {
	if stmt.End().Offset()-stmt.Pos().Offset() > maxConditionBytes {
		return nil
	}
	truth = truth != stmt.Negated
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		return joinPredicates(predicates(c.X, truth), predicates(c.Y, truth), c.Op == syntax.OrStmt, truth)
	case *syntax.Block:
		if len(c.Stmts) == 1 {
			return predicates(c.Stmts[0], truth)
		}
	case *syntax.TestClause:
		return exprPredicates(c.X, truth)
	case *syntax.ArithmCmd:
		return exprPredicates(c.X, truth)
	case *syntax.CallExpr:
		return bracketPredicates(bracketWords(c), truth)
	}
	return nil
}

// bracketWords returns the words between [ and ], or after test.
func bracketWords(c *syntax.CallExpr) []*syntax.Word {
	_, words := literalWords(c)
	switch last := len(words) - 1; {
	case last > 0 && words[0] == "[" && words[last] == "]":
		return c.Args[1:last]
	case last > 0 && words[0] == "test":
		return c.Args[1:]
	}
	return nil
}

// joinPredicates returns the predicates that are certain if "or" or "and" joins two conditions. A script that ends if
// one of several arguments is missing needs all of them. If it ends only if all of them are missing, no single one is
// certainly needed. Words that are compared one by one are a choice.
func joinPredicates(x, y []predicate, or, truth bool) []predicate {
	list := append(x, y...)
	one := func(t predicate) bool { return t.kind == isNotOneOf && t.name() != "" && t.name() == list[0].name() }
	switch {
	case or == truth:
		return slices.DeleteFunc(list, func(t predicate) bool { return t.kind == isNotOneOf })
	case len(list) > 0 && !slices.ContainsFunc(list, func(t predicate) bool { return !one(t) }): // neither a nor b
		for _, t := range list[1:] {
			list[0].words = append(list[0].words, t.words...)
		}
		return list[:1]
	}
	return nil
}

// bracketPredicates reads the words of [ … ].
func bracketPredicates(words []*syntax.Word, truth bool) []predicate {
	for _, joint := range []string{"-o", "-a"} {
		for i, w := range words {
			if text, _ := literal(w); text == joint {
				x, y := bracketPredicates(words[:i], truth), bracketPredicates(words[i+1:], truth)
				return joinPredicates(x, y, joint == "-o", truth)
			}
		}
	}
	if len(words) == 0 {
		return nil
	}
	first, _ := literal(words[0])
	switch {
	case len(words) > 1 && first == "!":
		return bracketPredicates(words[1:], !truth)
	case len(words) == 1:
		return unaryPredicate("-n", words[0], truth)
	case len(words) == 2:
		return unaryPredicate(first, words[1], truth)
	case len(words) == 3:
		op, _ := literal(words[1])
		return comparisonPredicate(op, words[0], words[2], truth)
	}
	return nil
}

// exprPredicates reads the expression of [[ … ]] or of (( … )).
func exprPredicates(x syntax.Node, truth bool) []predicate {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return exprPredicates(x.X, truth)
	case *syntax.ParenArithm:
		return exprPredicates(x.X, truth)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return exprPredicates(x.X, !truth)
		}
		return unaryPredicate(x.Op.String(), x.X, truth)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Not {
			return exprPredicates(x.X, !truth)
		}
	case *syntax.BinaryTest:
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
			return joinPredicates(exprPredicates(x.X, truth), exprPredicates(x.Y, truth), x.Op == syntax.OrTest, truth)
		}
		return comparisonPredicate(x.Op.String(), x.X, x.Y, truth)
	case *syntax.BinaryArithm:
		if x.Op == syntax.AndArit || x.Op == syntax.OrArit {
			return joinPredicates(exprPredicates(x.X, truth), exprPredicates(x.Y, truth), x.Op == syntax.OrArit, truth)
		}
		return comparisonPredicate(x.Op.String(), x.X, x.Y, truth)
	case *syntax.Word:
		return unaryPredicate("-n", x, truth)
	}
	return nil
}

// falseTests has the predicate that follows if a test of a text or of a file is false.
var falseTests = map[string]predicateKind{"-n": isEmpty, "-f": isNotFile, "-e": isNotFile, "-r": isNotFile,
	"-s": isNotFile, "-d": isNotDirectory}

// unaryPredicate reads a test with one operand.
func unaryPredicate(op string, node syntax.Node, truth bool) []predicate {
	word, _ := node.(*syntax.Word)
	x := expansionIn(word)
	switch {
	case x == nil:
		return nil
	case op == "-n" && (isArgumentCount(word) || x.Length):
		return countPredicate("!=", x, 0, truth) // (( $# ))
	case op == "-z":
		op, truth = "-n", !truth
	}
	if kind := falseTests[op]; kind > 0 && !truth {
		return []predicate{{kind: kind, tested: x}}
	}
	return nil
}

var (
	integerPattern = lazyregexp.New(`^\^[-+?\[\]()]*\[(0-9|1-9|\[:digit:\])\](\[0-9\])?(\+|\*|\{\d(,\d*)?\})?\$$`)
	choicePattern  = lazyregexp.New(`^\^\(([\w.-]+(?:\|[\w.-]+)+)\)\$$`)
)

// comparisonPredicate reads a test with two operands.
func comparisonPredicate(op string, left, right syntax.Node, truth bool) []predicate {
	word, _ := left.(*syntax.Word)
	other, _ := right.(*syntax.Word)
	x := expansionIn(word)
	text, isLiteral := literal(other)
	switch {
	case x != nil && op == "!=" && !truth && x.Exp != nil && parameterOf(other) == x.Param.Value: // "${1#--name=}" != "$1"
		if text, ok := literal(x.Exp.Word); ok && x.Exp.Op == syntax.RemSmallPrefix && isJoinedPattern(text+"*") {
			return []predicate{{kind: isNotJoinedOption, tested: x, words: []string{text + "*"}}}
		}
	case x == nil || other == nil || !isLiteral:
	case isArgumentCount(word) || x.Length:
		return countPredicate(op, x, number(text), truth)
	case op == "=~" && !truth && integerPattern.MatchString(text):
		return []predicate{{kind: isNotInteger, tested: x}}
	case op == "=~" && !truth:
		if m := choicePattern.FindStringSubmatch(text); m != nil {
			return []predicate{{kind: isNotOneOf, tested: x, words: strings.Split(m[1], "|")}}
		}
	case (op == "=" || op == "==") && !truth && isJoinedPattern(text):
		return []predicate{{kind: isNotJoinedOption, tested: x, words: []string{text}}}
	case op == "!=" && truth, (op == "=" || op == "==") && !truth:
		if text != "" && !strings.ContainsAny(text, "*?[") {
			return []predicate{{kind: isNotOneOf, tested: x, words: []string{text}}}
		}
	case (op == "!=" || op == "=" || op == "==") && text == "":
		return []predicate{{kind: isEmpty, tested: x}}
	}
	return nil
}

// isJoinedPattern reports whether a pattern is an option with a value: --name=*.
func isJoinedPattern(pattern string) bool {
	name, value, _ := strings.Cut(pattern, "=")
	return value == "*" && !isNotOption(name) && !strings.ContainsAny(name, "*?[")
}

// signs has the sign of each operator of test, and opposites the comparison that is true if another one is false.
var (
	signs     = map[string]string{"-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">=", "-eq": "==", "=": "==", "-ne": "!="}
	opposites = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
)

// countPredicate reads a comparison of a number with $#, or with the length of an array.
func countPredicate(op string, x *syntax.ParamExp, n int, truth bool) []predicate {
	op = cmp.Or(signs[op], op)
	if !truth {
		op = opposites[op]
	}
	minimum, list := 0, x.Length && syntax.ValidName(x.Param.Value)
	switch {
	case (op == ">" || op == "!=") && n == 0 && !list:
		return []predicate{{kind: hasArguments}}
	case op == "<" || op == "!=":
		minimum = n
	case op == "<=" || op == "==" && n == 0:
		minimum = n + 1
	}
	switch {
	case minimum == 0:
		return nil
	case list:
		return []predicate{{kind: isEmpty, tested: x}}
	}
	return []predicate{{kind: hasTooFew, minimum: minimum}}
}

// isNumeric reports whether a test compares numbers.
func isNumeric(op string) bool { return strings.HasPrefix(op, "-") && signs[op] != "" }

// An outcome is the way in which statements end.
type outcome int

const (
	continues     outcome = iota
	succeeds              // the script ends with status 0
	fails                 // it ends with an error
	probablyFails         // it calls a function with a name such as usage or die, whose body is not known
)

// isError reports whether statements end the script with an error, for certain or probably.
func (o outcome) isError() bool { return o == fails || o == probablyFails }

// outcomeOf returns how statements end.
func (r *reader) outcomeOf(list []*syntax.Stmt) outcome {
	usage, o := false, continues
	for _, stmt := range list {
		switch c := stmt.Cmd.(type) {
		case *syntax.Block:
			o = r.outcomeOf(c.Stmts)
		case *syntax.BinaryCmd:
			if c.Op == syntax.AndStmt {
				o = r.outcomeOf([]*syntax.Stmt{c.X, c.Y})
			}
		case *syntax.CallExpr:
			_, words := literalWords(c)
			usage = usage || saysUsage(words)
			switch name := commandName(c); {
			case name == "":
			case name == "exit" || name == "return":
				if o = fails; len(words) > 1 && words[1] == "0" && !usage {
					o = succeeds
				}
			case r.functions[name] != nil:
				o = r.outcomeOfFunction(name)
			case isUsage(name) || isFailure(name):
				o = probablyFails
			}
		}
		if o != continues {
			break
		}
	}
	return o
}

func (r *reader) outcomeOfFunction(name string) outcome {
	if _, done := r.functionOutcomes[name]; !done {
		r.functionOutcomes[name] = continues // for functions that call each other
		o := r.outcomeOf([]*syntax.Stmt{r.functions[name].Body})
		if o == succeeds && isUsage(name) {
			o = fails
		}
		r.functionOutcomes[name] = o
	}
	return r.functionOutcomes[name]
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
