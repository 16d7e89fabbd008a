package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// publishes matches a test that may send a request to a registry.
var publishes = regexp.MustCompile(`mcp-(?:bash|bundle) publish |publish\.Registry\b|&Registry\{`)

// Tests never publish at a public address: each folder of tests that publish uses [reach.Guard]. A forgotten variable
// must not lead to the official registry.
func TestPublishingIsGuarded(t *testing.T) {
	root := filepath.Join("..", "..")
	publishing, guarded := map[string]string{}, map[string]bool{}
	for _, top := range []string{"cmd", "pkg", "test", "docs"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			isScript := slices.Contains([]string{".txtar", ".md", ".yml"}, filepath.Ext(file))
			if err != nil || d.IsDir() || !isScript && !strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			dir, _, _ := strings.Cut(filepath.ToSlash(filepath.Dir(rel)), "/testdata")
			switch {
			case strings.HasPrefix(dir, "docs"):
				dir = "test/docs" // it runs the pages
			case strings.HasSuffix(file, ".yml"):
				dir = "test/workflow" // it runs the steps
			}
			for line := range strings.Lines(string(text)) {
				if publishes.MatchString(line) && !strings.Contains(line, "--dry-run") && dir != "test/house" {
					publishing[dir] = rel
				}
			}
			guarded[dir] = guarded[dir] || !isScript && strings.Contains(string(text), "reach.Guard(")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, file := range publishing {
		if !guarded[dir] {
			t.Errorf("%s publishes, but no test in %s calls reach.Guard", file, dir)
		}
	}
	if len(publishing) < 3 {
		t.Errorf("only these publish: %v", publishing)
	}
}
