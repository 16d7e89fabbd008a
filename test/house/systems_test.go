package house

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// loadTypes returns packages of the project with their syntax and types, from source and for the given
// system. It needs no compiled packages.
func loadTypes(t *testing.T, system string, patterns ...string) []*packages.Package {
	t.Helper()
	goos, goarch, _ := strings.Cut(system, "/")
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Dir: filepath.Join("..", ".."), Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
	}, patterns...)
	if err == nil && len(loaded) == 0 {
		err = fmt.Errorf("no packages match %v", patterns)
	}
	if err != nil {
		t.Fatal(err)
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, fault := range p.Errors {
			t.Error(system, fault)
		}
	})
	return loaded
}

// The types of all commands are correct on every system that they are built for. make cross also
// compiles the commands for each system.
func TestSystems(t *testing.T) {
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"} {
		t.Run(system, func(t *testing.T) { loadTypes(t, system, "./cmd/...") })
	}
}
