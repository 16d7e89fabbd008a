package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// wallClock lists the files that count nanoseconds or seconds since 1970, and the reason.
var wallClock = map[string]string{
	"cmd/mcp-bundle/vendor.go":             "SOURCE_DATE_EPOCH",
	"pkg/bundle/stage/stage.go":            "SOURCE_DATE_EPOCH",
	"pkg/bundle/internal/debian/deb.go":    "times in archives",
	"pkg/check/audit/page.go":              "the order of lines",
	"pkg/files/folder/dir_other.go":        "times of files",
	"pkg/files/folder/folder.go":           "times of files",
	"pkg/provider/file/file.go":            "times of files",
	"pkg/registry/store.go":                "times of files",
	"pkg/protocol/calls/suspended/call.go": "the time until which processes of other machines know a call",
	"pkg/protocol/console/console.go":      "a time for people",
}

// H-243: no duration depends on the wall clock, which can be set back. A [time.Time] also has a time that only grows,
// and the number of its nanoseconds has not. [clock.Now] is for durations that goroutines share.
func TestDurationsIgnoreTheWallClock(t *testing.T) {
	root := filepath.Join("..", "..")
	used := map[string]bool{}
	for _, top := range []string{"cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			rel, _ := filepath.Rel(root, file)
			rel = filepath.ToSlash(rel)
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				s, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !stripsClock(s, call.Args) {
					return true
				}
				if used[rel] = true; wallClock[rel] == "" {
					t.Errorf("%s calls %s; use clock.Now for a duration, or give the reason here", rel, s.Sel.Name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file := range wallClock {
		if !used[file] {
			t.Errorf("%s does not use the wall clock", file)
		}
	}
}

// stripsClock reports whether a call makes a time or a number without the time that only grows.
func stripsClock(s *ast.SelectorExpr, args []ast.Expr) bool {
	switch s.Sel.Name {
	case "UnixNano", "UnixMicro", "UnixMilli", "Unix":
		x, _ := s.X.(*ast.Ident)
		return x == nil || x.Name != "unix" && x.Name != "syscall"
	case "Round":
		if len(args) == 1 {
			lit, ok := args[0].(*ast.BasicLit)
			return ok && lit.Value == "0"
		}
	}
	return false
}
