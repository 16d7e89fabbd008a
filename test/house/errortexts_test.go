package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// searches are the functions that find one text in another one. Functions that only cut a prefix off for people
// (TrimPrefix) decide nothing.
var searches = []string{
	"Contains", "ContainsAny", "ContainsRune", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "HasPrefix",
	"HasSuffix", "Index", "IndexAny", "IndexByte", "LastIndex", "Match", "MatchString", "FindString",
	"FindStringSubmatch", "Sscanf", "SplitN", "Split", "Fields",
}

// Programs decide by the kind of an error, never by its text (CLI-1009). The rule covers the text where it is taken:
// a text that is kept in a variable first is not seen.
func TestErrorTextsDecideNothing(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, dir := range []string{"cmd", "pkg", "schemas", "sdk", "lib", "providers", "release", "otel"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, pos := range decisionsByText(parsed) {
				t.Errorf("%s: decides by the text of an error; use errors.Is or errors.As", files.Position(pos))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// decisionsByText are the places where a file searches or compares the text of an error.
func decisionsByText(file *ast.File) (list []token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if ok && slices.Contains(searches, f.Sel.Name) && slices.ContainsFunc(n.Args, isErrorText) {
				list = append(list, n.Pos())
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (isErrorText(n.X) || isErrorText(n.Y)) {
				list = append(list, n.Pos())
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isErrorText(n.Tag) {
				list = append(list, n.Pos())
			}
		}
		return true
	})
	return list
}

// isErrorText reports whether an expression takes the text of an error, converted or not.
func isErrorText(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
			f, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && f.Sel.Name == "Error"
		}
		_, isFunction := n.(*ast.FuncLit)
		return !isFunction
	})
	return found
}

// The rule finds what it is about.
func TestDecisionsByText(t *testing.T) {
	const text = `package x
func f(err error) {
	_ = strings.Contains(err.Error(), "a")
	_ = bytes.HasPrefix([]byte(err.Error()), nil)
	_ = err.Error() == "b"
	switch strings.ToLower(err.Error()) {
	}
	_ = strings.TrimPrefix(err.Error(), "json: ")
	_ = strings.Contains(name, "a") || errors.Is(err, errOther)
}
`
	parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if found := decisionsByText(parsed); len(found) != 4 {
		t.Errorf("%d found, not 4", len(found))
	}
}
