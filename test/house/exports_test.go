package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A package exports only what another one uses.
func TestExports(t *testing.T) {
	root := filepath.Join("..", "..")
	exported := map[string][]string{} // names by file and package
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && rel != "." {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(rel, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := path.Dir(rel)
		if strings.HasPrefix(pkg, "pkg/") && !strings.HasSuffix(rel, "_test.go") {
			for _, group := range exportsOf(parsed) {
				for i, name := range group {
					group[i] = pkg + "." + name
				}
				exported[rel+" "+group[0]] = group
			}
		}
		for _, name := range usesOf(parsed) {
			if !strings.HasPrefix(name, pkg+".") {
				used[name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, group := range exported {
		if !slices.ContainsFunc(group, func(name string) bool { return used[name] }) {
			file, _, _ := strings.Cut(where, " ")
			t.Errorf("%s exports %s, which no other package uses", file, strings.Join(group, ", "))
		}
	}
}

// exportsOf are the exported functions, variables and constants at the top level of
// a file. The constants of one declaration belong together: an enumeration is whole.
// Types are used through what has them.
func exportsOf(file *ast.File) [][]string {
	var groups [][]string
	for _, decl := range file.Decls {
		var names []string
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				groups = append(groups, []string{d.Name.Name})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for _, id := range v.Names {
					switch {
					case !id.IsExported():
					case d.Tok == token.CONST:
						names = append(names, id.Name)
					default:
						groups = append(groups, []string{id.Name})
					}
				}
			}
		}
		if names != nil {
			groups = append(groups, names)
		}
	}
	return groups
}

// usesOf are the names of other packages of the module that a file uses.
func usesOf(file *ast.File) []string {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		own, isOwn := strings.CutPrefix(name, module)
		if !isOwn {
			continue
		}
		as := path.Base(own)
		if spec.Name != nil {
			as = spec.Name.Name
		}
		imports[as] = own
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && imports[id.Name] != "" {
				names = append(names, imports[id.Name]+"."+s.Sel.Name)
			}
		}
		return true
	})
	return names
}
