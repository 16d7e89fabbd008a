package house

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// writing are the functions and constants with which packages create or replace files.
var writing = map[string][]string{
	"os": {"Create", "CreateTemp", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "O_CREATE", "Rename", "Symlink",
		"WriteFile"},
	"unix":       {"Linkat", "Mkdirat", "Mkfifo", "Renameat2", "Symlinkat"},
	"atomicfile": {"Write"},
	"userfile":   {"Edit"},
	"swap":       {"Exchange", "ExchangeIn", "Replace"},
	"secretfile": {"Rule"}, // its method Edit
}

// methods of an [os.Root] create or replace files, too.
var methods = []string{"Mkdir", "MkdirAll", "Rename", "Symlink"}

// readers use the rule of secret files to read only.
var readers = []string{"pkg/auth/certs", "pkg/auth/internal/reread", "pkg/auth/statekey"}

var inBackquotes = regexp.MustCompile("`([^`]+)`")

// sharedSection returns the section of docs/ARCHITECTURE.md about what commands share.
func sharedSection(t *testing.T) string {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## What commands share\n")
	if section, _, _ = strings.Cut(section, "\n## "); !found {
		t.Fatal("docs/ARCHITECTURE.md has no section about what commands share")
	}
	return section
}

// sharedWriters returns the packages in the second column of the table.
func sharedWriters(section string) (packages []string) {
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, m := range inBackquotes.FindAllStringSubmatch(cells[2], -1) {
			if strings.HasPrefix(m[1], "pkg/") || strings.HasPrefix(m[1], "cmd/") {
				packages = append(packages, m[1])
			}
		}
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// The table of what commands share has each package that writes files, and no others.
func TestSharedFiles(t *testing.T) {
	root := filepath.Join("..", "..")
	found := map[string]string{} // package: a place
	for _, dir := range []string{"cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == "projecttest") {
				return cmp.Or(err, filepath.SkipDir)
			}
			if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return nil
			}
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, file)
			pkg := path.Dir(filepath.ToSlash(rel))
			if strings.HasPrefix(pkg, "pkg/files/") || slices.Contains(readers, pkg) {
				return nil
			}
			if pos := writes(parsed); pos.IsValid() {
				found[pkg] = files.Position(pos).String()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	section := sharedSection(t)
	listed := sharedWriters(section)
	for pkg, where := range found {
		if !slices.Contains(listed, pkg) {
			t.Errorf("%s: %s writes files, and the table of docs/ARCHITECTURE.md does not have it", where, pkg)
		}
	}
	for _, pkg := range listed {
		if found[pkg] == "" {
			t.Errorf("the table of docs/ARCHITECTURE.md has %s, which writes no files", pkg)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "pkg", "project", "settings", "variables.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range between.FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(section, "`"+m[1]+"`") {
			t.Errorf("commands give each other %s, and the table of docs/ARCHITECTURE.md does not have it", m[1])
		}
	}
}

// between matches the name of a variable that commands set for commands.
var between = regexp.MustCompile(`(?m)^(\w+) \|.* cli→cli `)

// writes returns a place where a file of Go writes files.
func writes(file *ast.File) (pos token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || pos.IsValid() {
			return true
		}
		pkg, ok := s.X.(*ast.Ident)
		if ok && slices.Contains(writing[pkg.Name], s.Sel.Name) || slices.Contains(methods, s.Sel.Name) {
			pos = s.Pos()
		}
		return true
	})
	return pos
}

// The rule finds what it is about.
func TestWrites(t *testing.T) {
	for text, want := range map[string]bool{
		`os.WriteFile("x", nil, 0)`: true, `dir.OpenFile("x", os.O_RDWR|os.O_CREATE, 0)`: true,
		`userfile.Edit(c, d, "x", o, f)`: true, `dir.Mkdir("x", 0)`: true, `os.ReadFile("x")`: false,
		`x.Create("y")`: false,
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { "+text+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if writes(parsed).IsValid() != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
