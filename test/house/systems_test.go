package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"mcp-bash/test/checkout"
)

// loadTypes returns packages of the project with their syntax and types, from source and for the given
// system. It needs no compiled packages. Functions of libraries have no bodies.
func loadTypes(t *testing.T, system string, patterns ...string) []*packages.Package {
	t.Helper()
	root := checkout.Root()
	goos, goarch, _ := strings.Cut(system, "/")
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Dir: root, Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if err == nil && !strings.HasPrefix(name, root+"/") {
				for _, d := range file.Decls {
					if f, ok := d.(*ast.FuncDecl); ok {
						f.Body = nil
					}
				}
			}
			return file, err
		},
	}, patterns...)
	if err == nil && len(loaded) == 0 {
		err = fmt.Errorf("no packages match %v", patterns)
	}
	if err != nil {
		t.Fatal(err)
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if !strings.HasPrefix(p.PkgPath, module) {
			return // files of libraries do not use their imports
		}
		for _, fault := range p.Errors {
			t.Error(system, fault)
		}
	})
	return loaded
}

// The types of all commands are correct on the other systems that they are built for. make cross also
// compiles the commands for each system and processor.
func TestSystems(t *testing.T) {
	for _, system := range []string{"darwin/arm64", "windows/amd64"} {
		t.Run(system, func(t *testing.T) { loadTypes(t, system, "./cmd/...") })
	}
}
