package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// CLI-117: a program prints texts that are not its own with cli.Printf, which keeps them on their lines.
// The functions of package fmt print constants, numbers, and data, which is a slice of bytes.
func TestMessages(t *testing.T) {
	root := filepath.Join("..", "..")
	calls := 0
	for _, dir := range printing(t, root) {
		p := typeCheck(t, dir)
		for _, object := range p.info.Uses {
			if object.Pkg() != nil && object.Pkg().Path() == "mcp-bash/pkg/cli" && object.Name() == "Printf" {
				calls++
			}
		}
		for expr := range p.info.Types {
			call, ok := expr.(*ast.CallExpr)
			if !ok || !prints(p, call) {
				continue
			}
			for _, arg := range call.Args[1:] {
				if tv := p.info.Types[arg]; tv.Value == nil && !isData(tv.Type) {
					t.Errorf("%s: %s is printed as it is; use cli.Printf", p.files.Position(arg.Pos()), tv.Type)
				}
			}
		}
	}
	if calls < 50 {
		t.Errorf("only %d calls of cli.Printf were found", calls)
	}
}

// printing are the directories of the packages that use package cli, and of the commands.
func printing(t *testing.T, root string) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		rel, _ := filepath.Rel(root, filepath.Dir(file))
		rel = filepath.ToSlash(rel)
		if !strings.HasPrefix(rel, "cmd/") && !strings.HasPrefix(rel, "pkg/") || slices.Contains(dirs, rel) {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range parsed.Imports {
			if imported.Path.Value == `"mcp-bash/pkg/cli"` {
				dirs = append(dirs, rel)
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// prints reports whether a call prints to a writer other than a builder, buffer or hash.
func prints(p checkedPackage, call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	function := p.info.Uses[selector.Sel]
	if function == nil || function.Pkg() == nil {
		return false
	}
	switch function.Pkg().Path() + "." + function.Name() {
	case "fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln", "io.WriteString":
	default:
		return false
	}
	switch types.TypeString(p.info.Types[call.Args[0]].Type, nil) {
	case "*strings.Builder", "*bytes.Buffer", "hash.Hash", "*text/tabwriter.Writer":
		return false
	}
	return true
}

func isData(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&(types.IsNumeric|types.IsBoolean) != 0
	case *types.Slice:
		return types.TypeString(t, nil) == "[]byte"
	}
	return false
}
