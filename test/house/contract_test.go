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

// pages are the pages of the contract, each with the first letters of its ids,
// in the order in which an id without a page is looked up.
var pages = []struct{ name, letters string }{
	{"protocol", "P"}, {"tools", "T|C|G|PR"}, {"sdk", "SDK"}, {"registry", "R"}, {"resources", "RES|UI"},
	{"modern", "M"}, {"env", "E"}, {"cli", "[BCDEGHIKLMNOPRSTUVXY]"},
}

// A clause is one of the contract.
type clause struct{ page, id string }

// A chapter is a group of clauses: what is between two headings of a page.
type chapter struct {
	title string
	ids   []string
}

// A book is the contract: the chapters of each page, and what clauses there are.
type book struct {
	chapters map[string][]chapter
	known    map[clause]bool
}

// read reads the contract.
func read(t *testing.T) book {
	t.Helper()
	b := book{map[string][]chapter{}, map[clause]bool{}}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "contract", page.name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		// A clause begins a paragraph, an item, a row or a sentence; an id elsewhere
		// is one that is mentioned.
		id := `((?:` + page.letters + `)-\d+[a-z]?)`
		begins := regexp.MustCompile(`^(?:(?:- |\| ?)?(?:\*\*)?)` + id + `\b`)
		within := regexp.MustCompile(`\. ` + id + ` [A-Z\x60]`)
		chapters := []chapter{{title: "(the whole page)"}}
		open := true // a line may begin with a clause
		for line := range strings.Lines(string(text)) {
			if title, ok := strings.CutPrefix(line, "## "); ok {
				chapters = append(chapters, chapter{title: strings.TrimSpace(title)})
			}
			found := within.FindAllStringSubmatch(line, -1)
			if m := begins.FindStringSubmatch(line); m != nil && (open || strings.ContainsAny(line[:1], "-|*")) {
				found = append([][]string{m}, found...)
			}
			for _, m := range found {
				if last := &chapters[len(chapters)-1]; !b.known[clause{page.name, m[1]}] {
					b.known[clause{page.name, m[1]}] = true
					last.ids = append(last.ids, m[1])
				}
			}
			trimmed := strings.TrimSpace(line)
			open = trimmed == "" || strings.HasSuffix(trimmed, ".")
		}
		b.chapters[page.name] = chapters
	}
	return b
}

// A citation is where a clause is named, or a whole chapter.
type citation struct {
	file string // relative to the repository
	clause
}

// citations finds all there are outside the contract. What names no clause is an
// error of the test.
func (b book) citations(t *testing.T) []citation {
	t.Helper()
	var found []citation
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "bin" || rel == "dist" || rel == "docs/contract" || rel == "test/house" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".sh", ".mjs", ".md", ".txtar"}, filepath.Ext(rel)) || rel == "docs/COMPLIANCE.md" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		clauses, wrong := b.cited(rel, unbroken.ReplaceAllString(string(text), " "))
		for _, c := range clauses {
			found = append(found, citation{rel, c})
		}
		for _, w := range wrong {
			t.Errorf("%s: the contract has no %s", rel, w)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// unbroken matches the end of a line with what begins the next one in a comment.
var unbroken = regexp.MustCompile(`\n[ \t]*(?://|#|\*)?[ \t]*`)

// mention matches a clause or a stretch of them, or chapters, with the page if it
// is named.
var mention = func() *regexp.Regexp {
	var names, letters []string
	for _, page := range pages {
		names = append(names, page.name)
		letters = append(letters, page.letters)
	}
	id := `((?:` + strings.Join(letters, "|") + `)-\d+[a-z]?)\b`
	return regexp.MustCompile(`(?:\b(` + strings.Join(names, "|") + `) )?(?:\b` + id + `(?: to ` + id + `)?|\b(?:section|chapter)s? (\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*))`)
}()

// cited is what a text names, and what it names that does not exist.
func (b book) cited(file, text string) (clauses []clause, wrong []string) {
	page := "" // the one named last
	for _, m := range mention.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		named, first, last, chapters := part(1), part(2), part(3), part(4)
		if named != "" {
			page = named
		}
		switch {
		case chapters != "" && named != "":
			for number := range strings.FieldsFuncSeq(chapters, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) }) {
				chapter, ok := b.chapter(page, number)
				if !ok {
					wrong = append(wrong, page+" chapter "+number)
				}
				clauses = append(clauses, chapter.clauses(page)...)
			}
		case first == "" || named == "" && m[0] > 0 && strings.ContainsRune(".-/", rune(text[m[0]-1])):
			// no citation, but words like one
		default:
			from, ok := b.resolve(file, page, first, named != "")
			if !ok {
				wrong = append(wrong, "clause "+strings.TrimSpace(page+" "+first))
				continue
			}
			clauses = append(clauses, from)
			if last == "" {
				continue
			}
			to, ok := b.resolve(file, from.page, last, true)
			if !ok {
				wrong = append(wrong, "clause "+from.page+" "+last)
				continue
			}
			clauses = append(clauses, b.between(from, to)...)
		}
	}
	return clauses, wrong
}

// chapter finds a chapter by its number, or by that of a part of it.
func (b book) chapter(page, number string) (chapter, bool) {
	number, _, _ = strings.Cut(number, ".")
	for _, chapter := range b.chapters[page] {
		if n, _, _ := strings.Cut(chapter.title, " "); strings.TrimSuffix(n, ".") == number {
			return chapter, true
		}
	}
	return chapter{}, false
}

func (c chapter) clauses(page string) []clause {
	var all []clause
	for _, id := range c.ids {
		all = append(all, clause{page, id})
	}
	return all
}

// between are the clauses after one up to another, in the order of the page.
func (b book) between(from, to clause) []clause {
	var all []clause
	for _, chapter := range b.chapters[from.page] {
		all = append(all, chapter.clauses(from.page)...)
	}
	i, j := slices.Index(all, from), slices.Index(all, to)
	if i > j {
		return []clause{to}
	}
	return all[i+1 : j+1]
}

// resolve finds the clause of an id (docs/contract/README.md, "Citing a clause").
// The page is the one named with it, or else before it in the file. A letter after
// an id may also be a test's own, for one part of a clause.
func (b book) resolve(file, page, id string, explicit bool) (clause, bool) {
	order := []string{page}
	if !explicit {
		for _, p := range pages {
			order = append(order, p.name)
		}
		if strings.HasPrefix(file, "cmd/") || strings.HasPrefix(file, "pkg/cli/") || strings.HasPrefix(file, "pkg/runtool/") {
			order = slices.Insert(order, 1, "cli")
		}
	}
	for _, id := range []string{id, strings.TrimRight(id, "abcdefghijklmnopqrstuvwxyz")} {
		for _, page := range order {
			if b.known[clause{page, id}] {
				return clause{page, id}, true
			}
		}
	}
	return clause{}, false
}

// Every clause that is named anywhere exists.
func TestCitations(t *testing.T) {
	if found := read(t).citations(t); len(found) < 1000 {
		t.Errorf("only %d citations found: have they changed their form?", len(found))
	}
}

func TestReadingCitations(t *testing.T) {
	b := read(t)
	for text, want := range map[string]string{
		"tools T-40, T-41 and resources RES-36":               "tools T-40|tools T-41|resources RES-36",
		"registry R-101 to R-103":                             "registry R-101|registry R-102|registry R-103",
		"see P-401, UTF-8 and mcp-R-5":                        "protocol P-401",
		"protocol section 12, the last section":               "protocol P-1200",
		"tools T-40x, cli T-2":                                "tools T-40|cli T-2",
		"resources RES-219":                                   "resources RES-219",
		"tools T-9999, protocol chapter 99, P-1 and SDK-9999": "!clause tools T-9999|!protocol chapter 99|cli P-1|!clause protocol SDK-9999",
	} {
		clauses, wrong := b.cited("pkg/x/x.go", text)
		var got []string
		for _, c := range clauses {
			got = append(got, c.page+" "+c.id)
		}
		for _, w := range wrong {
			got = append(got, "!"+w)
		}
		wanted := strings.Split(want, "|")
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%q: %q, want %q", text, got, wanted)
		}
	}
}
