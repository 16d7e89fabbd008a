package bash32

import (
	"bytes"

	"mvdan.cc/sh/v3/syntax"
)

// Function returns the line on which a script defines a function, 0 where it does
// not, and whether the script calls another command anywhere. A name in a comment
// or a string does not count. A script that cannot be read defines nothing.
func Function(text []byte, name, called string) (line int, calls bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return 0, false
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			if n.Name.Value == name {
				line = int(n.Pos().Line())
			}
		case *syntax.CallExpr:
			calls = calls || len(n.Args) > 0 && literal(n.Args[0]) == called
		}
		return true
	})
	return line, calls
}
