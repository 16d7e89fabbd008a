package house

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A checkedPackage is one whose names are resolved.
type checkedPackage struct {
	files *token.FileSet
	types *types.Package
	info  types.Info
}

// A listedPackage is a package as go list describes it.
type listedPackage struct {
	ImportPath, Export, Dir string
	GoFiles                 []string
}

// listPackages describes the packages of the project and their dependencies, by import path. It runs
// go list once for all tests.
var listPackages = sync.OnceValues(func() (map[string]listedPackage, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./cmd/...", "./pkg/...")
	cmd.Dir, cmd.Stderr = filepath.Join("..", ".."), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	packages := map[string]listedPackage{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed listedPackage
		if err := d.Decode(&listed); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages[listed.ImportPath] = listed
	}
})

// typeCheck checks the types of a package of the project. The types of its imports come
// from the build cache.
func typeCheck(t *testing.T, dir string) checkedPackage {
	t.Helper()
	packages, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	p := checkedPackage{files: token.NewFileSet(), info: types.Info{
		Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
	listed, ok := packages["mcp-bash/"+dir]
	if !ok {
		t.Fatalf("%s is no package", dir)
	}
	var parsed []*ast.File
	for _, name := range listed.GoFiles {
		file, err := parser.ParseFile(p.files, filepath.Join(listed.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: importer.ForCompiler(p.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(packages[path].Export)
	})}
	if p.types, err = config.Check(listed.ImportPath, p.files, parsed, &p.info); err != nil {
		t.Fatal(err)
	}
	return p
}
