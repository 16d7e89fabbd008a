//go:build unix

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
	"mcp-bash/test/page"
)

// Operators copy the blocks of this page. So each block of commands and each file is run by [TestPages], or by the test
// that a note before the block names. Otherwise a note gives the reason why no test runs it.
func TestDeployBlocks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(checkout.Root(), "docs", "DEPLOY.md")
	blocks, err := page.Read(file)
	if err != nil || len(blocks) < 10 {
		t.Fatal(len(blocks), err)
	}
	tests := testsThatRunBlocks(t)
	for _, b := range blocks {
		switch {
		case b.RunBy != "" && !tests[b.RunBy]:
			t.Errorf("%s:%d: no test %s runs blocks", file, b.Line, b.RunBy)
		case b.RunBy == "" && b.NotRun == "" && !ranByPages(b):
			t.Errorf("%s:%d: no test runs this block, and no note says why", file, b.Line)
		}
	}
}

// ranByPages reports whether [TestPages] runs a block or compares it with what the block before it printed. A block of
// text is nothing to run.
func ranByPages(b page.Block) bool {
	return b.Language == "sh" || b.Argument != "" || b.Language == "text"
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsThatRunBlocks returns the tests in files that read the page.
func testsThatRunBlocks(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	for _, folder := range []string{"cluster", "replicas"} {
		files, err := filepath.Glob(filepath.Join(checkout.Root(), "test", folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "page.ForTest(") && !strings.Contains(string(text), "docs/DEPLOY.md\"") {
				continue
			}
			for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
				tests[m[1]] = true
			}
		}
	}
	return tests
}
