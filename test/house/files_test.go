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
	"slices"
	"strings"
	"sync"
	"testing"
)

// fileRows lists the layers of the files in large packages, upper layers first. A file may use
// declarations of its layer and of lower ones. Names have no suffix for a system
// ("stdio" includes stdio_unix.go).
var fileRows = map[string][][]string{
	"pkg/server": {
		{"start"},
		{"server", "kinds", "dispatch", "serve", "handshake", "stateless", "capabilities",
			"exit", "idle", "parent", "lostoutput", "announce", "bootstrap", "signals"},
		{"tools", "resources", "streams", "subscriptions", "prompts", "completions", "apps"},
		{"listing", "cursor", "notifier", "asker", "exchange", "exchanges", "inputset", "clientroots", "changes"},
		{"request", "requests", "method"},
		{"logger", "outgoing", "client"},
		{"session", "requeststate", "forms", "payloads", "stderr", "stdio", "token", "window", "begin", "shield", "doc"},
	},
}

// No use of a name runs upwards between the files of a package.
func TestFiles(t *testing.T) {
	for dir, rows := range fileRows {
		t.Run(dir, func(t *testing.T) {
			p := typeCheck(t, dir)
			row := func(file string) int {
				name := strings.TrimSuffix(filepath.Base(file), ".go")
				whole := name
				name, _, _ = strings.Cut(name, "_")
				at := slices.IndexFunc(rows, func(row []string) bool {
					return slices.Contains(row, name) ||
						slices.Contains(row, whole)
				})
				if at < 0 {
					t.Fatalf("%s stands in no row", file)
				}
				return at
			}
			seen := map[string]bool{}
			for id, object := range p.info.Uses {
				if object.Pkg() != p.types || !object.Pos().IsValid() {
					continue
				}
				from, to := p.files.Position(id.Pos()).Filename, p.files.Position(object.Pos()).Filename
				arrow := filepath.Base(from) + " uses " + object.Name() + " of " + filepath.Base(to)
				if row(from) > row(to) && !seen[arrow] {
					seen[arrow] = true
					t.Error(arrow)
				}
			}
		})
	}
}

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
