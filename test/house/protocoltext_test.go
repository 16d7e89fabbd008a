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

// protocolText lists the folders that read the text of protocols, such as headers, scopes and URIs.
var protocolText = []string{"pkg/auth", "pkg/serve/httpd", "pkg/provider", "pkg/wire"}

// beyondASCII are functions that also know the spaces and the letters of other alphabets.
var beyondASCII = map[string][]string{
	"strings": {"EqualFold", "Fields", "Title", "ToLower", "TrimSpace"},
	"bytes":   {"EqualFold", "Fields", "Title", "ToLower", "TrimSpace"},
	"unicode": {"IsLetter", "IsLower", "IsSpace", "IsUpper", "ToLower", "ToUpper"},
}

// The text of protocols is split and compared by ASCII, with pkg/text/ascii (H-231). U+00A0 separates no scopes.
func TestProtocolText(t *testing.T) {
	root := filepath.Join("..", "..")
	allowed := map[string]string{
		"pkg/auth/oidc/oidc.go EqualFold": "it finds what another reader would take for a claim",
	}
	for _, dir := range protocolText {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, file)
			for _, name := range functionsBeyondASCII(parsed) {
				use := filepath.ToSlash(rel) + " " + name
				if allowed[use] == "" {
					t.Errorf("%s: use pkg/text/ascii", use)
				}
				delete(allowed, use)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for use := range allowed {
		t.Errorf("%s is an exception that nothing needs", use)
	}
}

func functionsBeyondASCII(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains(beyondASCII[pkg.Name], s.Sel.Name) {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names
}
