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
