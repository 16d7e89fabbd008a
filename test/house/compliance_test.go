package house

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	rewrite = flag.Bool("write", false, "write the tables of docs/COMPLIANCE.md anew")
	clauses = flag.Bool("clauses", false, "print which tests cite each clause")
)

// isTest reports whether a file is part of the tests.
func isTest(file string) bool {
	return strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".test.mjs") ||
		strings.HasSuffix(file, ".txtar") && strings.Contains(file, "/testdata/") ||
		strings.HasPrefix(file, "test/conformance/project/")
}

// directory is the package of a test file.
func directory(file string) string {
	dir, _, _ := strings.Cut(path.Dir(file)+"/", "/testdata/")
	if strings.HasPrefix(dir, "test/conformance/") {
		return "test/conformance"
	}
	return strings.TrimSuffix(dir, "/")
}

// The tables of docs/COMPLIANCE.md name every chapter of the contract. Next to each chapter they list the
// packages whose tests cite a clause of it, or the reason for having none.
func TestCompliance(t *testing.T) {
	book := read(t)
	cited := map[clause][]string{}
	for _, c := range book.citations(t) {
		if isTest(c.file) && !slices.Contains(cited[c.clause], c.file) {
			cited[c.clause] = append(cited[c.clause], c.file)
		}
	}
	name := filepath.Join("..", "..", "docs", "COMPLIANCE.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rows := table(t, string(text))
	var after strings.Builder
	for _, page := range pages {
		fmt.Fprintf(&after, "\n### %s.md\n\n| chapter | tests |\n|---|---|\n", page.name)
		for _, chapter := range book.chapters[page.name] {
			if len(chapter.ids) == 0 {
				continue // prose
			}
			if *clauses {
				for _, id := range chapter.ids {
					fmt.Println(page.name, id, strings.Join(cited[id], " "))
				}
			}
			packages := packagesOf(cited, chapter)
			row, ok := rows[page.name+": "+chapter.title]
			delete(rows, page.name+": "+chapter.title)
			if !*rewrite {
				row.check(t, ok, page.name, chapter, packages)
			}
			fmt.Fprintf(&after, "| %s | %s |\n", chapter.title, row.renew(packages))
		}
	}
	for chapter := range rows {
		t.Errorf("docs/COMPLIANCE.md: the contract has no chapter %q", chapter)
	}
	if *rewrite {
		if err := os.WriteFile(name, []byte(before+after.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// packagesOf are the packages whose tests cite a clause of a chapter.
func packagesOf(cited map[clause][]string, chapter chapter) []string {
	var packages []string
	for _, id := range chapter.ids {
		for _, file := range cited[id] {
			packages = append(packages, directory(file))
		}
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// A cell is the text next to a chapter: packages, and then a remark, such as the reason for having none.
type cell string

// remark returns the text after the packages.
func (c cell) remark() string {
	return strings.TrimSpace(string(c[strings.LastIndex(string(c), "`")+1:]))
}

// renew is the cell with other packages.
func (c cell) renew(packages []string) cell {
	if len(packages) == 0 {
		return cell(strings.TrimPrefix(c.remark(), "; "))
	}
	remark := c.remark()
	if !strings.HasPrefix(remark, ";") {
		remark = "" // it was the reason for having none
	}
	return cell("`" + strings.Join(packages, "` `") + "`" + remark)
}

func (c cell) check(t *testing.T, exists bool, page string, chapter chapter, packages []string) {
	t.Helper()
	where := fmt.Sprintf("docs/COMPLIANCE.md, %s.md, %q", page, chapter.title)
	const hint = "(go test ./test/house -run Compliance -write)"
	switch named := strings.Split(string(c), "`"); {
	case !exists:
		t.Errorf("%s: there is no row %s", where, hint)
	case len(named) > 1:
		for i := 1; i < len(named); i += 2 {
			if !slices.Contains(packages, named[i]) {
				t.Errorf("%s: no test in %s cites a clause of it %s", where, named[i], hint)
			}
		}
	case len(packages) > 0:
		t.Errorf("%s: %s cite it %s", where, packages, hint)
	case c.remark() == "":
		t.Errorf("%s: no test cites a clause of it (%s), and no reason is given", where, strings.Join(chapter.ids, " "))
	}
}

// table takes the tables off the end of the page.
func table(t *testing.T, text string) (before string, rows map[string]cell) {
	t.Helper()
	before, after, ok := strings.Cut(text, "\n### ")
	if !ok && !*rewrite {
		t.Fatal("docs/COMPLIANCE.md has no tables")
	}
	rows = map[string]cell{}
	page := ""
	for line := range strings.Lines("### " + after) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			page = strings.TrimSuffix(strings.TrimSpace(name), ".md")
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) == 2 && !strings.HasPrefix(line, "| chapter") {
			rows[page+": "+strings.TrimSpace(cells[0])] = cell(strings.TrimSpace(cells[1]))
		}
	}
	return before, rows
}
