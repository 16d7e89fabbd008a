package house

import (
	"go/ast"
	"go/types"
	"runtime"
	"testing"
)

// CLI-117: a program prints texts that are not its own with cli.Printf, which keeps them on their lines.
// The functions of package fmt print constants, numbers, and data, which is a slice of bytes.
func TestMessages(t *testing.T) {
	calls := 0
	for _, p := range loadTypes(t, runtime.GOOS+"/"+runtime.GOARCH, "./cmd/...", "./pkg/...") {
		if p.Imports[module+"pkg/cli"] == nil {
			continue
		}
		for _, object := range p.TypesInfo.Uses {
			if object.Pkg() != nil && object.Pkg().Path() == module+"pkg/cli" && object.Name() == "Printf" {
				calls++
			}
		}
		for expr := range p.TypesInfo.Types {
			call, ok := expr.(*ast.CallExpr)
			if !ok || !prints(p.TypesInfo, call) {
				continue
			}
			for _, arg := range call.Args[1:] {
				if tv := p.TypesInfo.Types[arg]; tv.Value == nil && !isData(tv.Type) {
					t.Errorf("%s: %s is printed as it is; use cli.Printf", p.Fset.Position(arg.Pos()), tv.Type)
				}
			}
		}
	}
	if calls < 50 {
		t.Errorf("only %d calls of cli.Printf were found", calls)
	}
}

// prints reports whether a call prints to a writer other than a builder, buffer or hash.
func prints(info *types.Info, call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	function := info.Uses[selector.Sel]
	if function == nil || function.Pkg() == nil {
		return false
	}
	switch function.Pkg().Path() + "." + function.Name() {
	case "fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln", "io.WriteString":
	default:
		return false
	}
	switch types.TypeString(info.Types[call.Args[0]].Type, nil) {
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
