package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// The site lists each page of docs/ in its sidebar.
func TestSidebar(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(checkout.Root(), "site", "config.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(checkout.Root(), "docs", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		if name := strings.TrimSuffix(filepath.Base(page), ".md"); !strings.Contains(string(config), `"`+name+`")`) {
			t.Errorf("site/config.mjs does not list %s", page)
		}
	}
}

// The index of docs/decisions has each page with its decision, which is its first paragraph.
func TestDecisions(t *testing.T) {
	dir := filepath.Join(checkout.Root(), "docs", "decisions")
	index, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "[a-z]*.md"))
	if err != nil || len(pages) < 6 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.SplitN(string(text), "\n\n", 3)
		row := "| [" + strings.TrimPrefix(parts[0], "# ") + "](" + filepath.Base(page) + ") | " +
			strings.ReplaceAll(parts[1], "\n", " ") + " |\n"
		if !strings.Contains(string(index), row) {
			t.Errorf("docs/decisions/README.md does not have\n%s", row)
		}
	}
}
