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

// pages are the pages of the contract, each with the prefix of its ids.
var pages = []struct{ name, prefix string }{
	{"protocol", "P"}, {"tools", "T"}, {"sdk", "SDK"}, {"registry", "R"}, {"resources", "RES"},
	{"modern", "M"}, {"env", "E"}, {"cli", "CLI"}, {"confine", "CF"}, {"wrap", "WRAP"}, {"add", "ADD"}, {"http", "H"},
	{"plugins", "PL"}, {"packages", "PKG"},
	{"results", "LR"}, {"skills", "SK"}, {"tasks", "TASK"}, {"audit", "AUD"}, {"lock", "LOCK"},
}

// A clause is one of the contract, by its id.
type clause = string

// pageOf returns the page that an id belongs to.
func pageOf(id clause) string {
	prefix, _, _ := strings.Cut(id, "-")
	for _, page := range pages {
		if page.prefix == prefix {
			return page.name
		}
	}
	return ""
}

// A chapter is a group of clauses: what is between two headings of a page.
type chapter struct {
	title string
	ids   []clause
}

// A book is the contract: the chapters of each page, and what clauses there are.
type book struct {
	chapters map[string][]chapter
	known    map[clause]bool
	texts    map[clause]string // also of the parts of pages between a heading and its first clause, by page and heading
}

// read reads the contract.
func read(t *testing.T) book {
	t.Helper()
	b := book{map[string][]chapter{}, map[clause]bool{}, map[clause]string{}}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "contract", page.name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		// A clause begins a paragraph, an item, a row or a sentence; an id elsewhere
		// is one that is mentioned.
		id := `(` + page.prefix + `-\d+[a-z]?)`
		begins := regexp.MustCompile(`^(?:(?:- |\| ?)?(?:\*\*)?)` + id + `\b`)
		within := regexp.MustCompile(`\. ` + id + ` [A-Z\x60]`)
		chapters := []chapter{{title: "(the whole page)"}}
		open := true // a line may begin with a clause
		current := page.name
		for line := range strings.Lines(string(text)) {
			if title, ok := strings.CutPrefix(line, "## "); ok {
				chapters = append(chapters, chapter{title: strings.TrimSpace(title)})
			}
			if strings.HasPrefix(line, "##") {
				current = page.name + ": " + strings.TrimSpace(line)
			}
			found := within.FindAllStringSubmatchIndex(line, -1)
			m := begins.FindStringSubmatchIndex(line)
			if m != nil && (open || strings.ContainsAny(line[:1], "-|*")) {
				found = append([][]int{m}, found...)
			}
			done := 0
			for _, m := range found {
				id := line[m[2]:m[3]]
				if last := &chapters[len(chapters)-1]; !b.known[id] {
					b.known[id] = true
					last.ids = append(last.ids, id)
					b.texts[current] += line[done:m[2]]
					current, done = id, m[2]
				}
			}
			b.texts[current] += line[done:]
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

// citations returns all citations. A citation of an unknown clause, or of a clause of another page
// than the one named with it, fails the test.
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
			if rel == "bin" || rel == "dist" || rel == "test/house" ||
				d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".sh", ".mjs", ".md", ".txtar"}, filepath.Ext(rel)) ||
			rel == "docs/COMPLIANCE.md" {
			return nil
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := unbroken.ReplaceAllString(string(raw), " ")
		clauses, wrong := b.cited(text)
		if filepath.Ext(rel) == ".md" {
			wrong = append(wrong, misplaced(text)...)
		}
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

// Of a page, and what is written like an id.
var (
	ofPage = regexp.MustCompile("\\b([A-Z]+)-\\d+[a-z]? of `(\\w+)\\.md`|`(\\w+)\\.md` ([A-Z]+)-\\d")
	idLike = regexp.MustCompile(`\b([A-Z]{1,5})-(?:\d+|\*)`)
)

// otherIDs are prefixes of names that are not ids.
var otherIDs = []string{"UTF", "SHA", "SEP", "MPEG", "AES", "ISO"}

// misplaced returns what a page of docs cites as a clause of another page, or by a prefix that no page has.
func misplaced(text string) (wrong []string) {
	for _, m := range ofPage.FindAllStringSubmatch(text, -1) {
		prefix, page := m[1]+m[4], m[2]+m[3]
		if of := pageOf(prefix + "-1"); of != "" && of != page {
			wrong = append(wrong, prefix+" in "+page+".md")
		}
	}
	for _, m := range idLike.FindAllStringSubmatch(text, -1) {
		if pageOf(m[1]+"-1") == "" && !slices.Contains(otherIDs, m[1]) {
			wrong = append(wrong, "clause "+m[0])
		}
	}
	return wrong
}

// unbroken matches the end of a line with what begins the next one in a comment.
var unbroken = regexp.MustCompile(`\n[ \t]*(?://|#|\*)?[ \t]*`)

// mention matches a clause or a stretch of them, or chapters of a page.
var mention = func() *regexp.Regexp {
	var names, prefixes []string
	for _, page := range pages {
		names = append(names, page.name)
		prefixes = append(prefixes, page.prefix)
	}
	id := `((?:` + strings.Join(prefixes, "|") + `)-\d+[a-z]?)\b`
	return regexp.MustCompile(`(?:\b(` + strings.Join(names, "|") + `) )?(?:\b` + id + `(?: to ` + id +
		`)?|\b(?:section|chapter)s? (\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*))`)
}()

// cited is what a text names, and what it names that does not exist.
func (b book) cited(text string) (clauses []clause, wrong []string) {
	for _, m := range mention.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		named, first, last, chapters := part(1), part(2), part(3), part(4)
		switch {
		case chapters != "" && named != "":
			for number := range strings.FieldsFuncSeq(chapters,
				func(r rune) bool { return !strings.ContainsRune("0123456789.", r) }) {
				chapter, ok := b.chapter(named, number)
				if !ok {
					wrong = append(wrong, named+" chapter "+number)
				}
				clauses = append(clauses, chapter.ids...)
			}
		case first == "" || m[0] > 0 && strings.ContainsRune(".-/", rune(text[m[0]-1])):
			// no citation, but words like one
		default:
			from, ok := b.resolve(first)
			if !ok {
				wrong = append(wrong, "clause "+first)
				continue
			}
			clauses = append(clauses, from)
			if last == "" {
				continue
			}
			to, ok := b.resolve(last)
			if !ok {
				wrong = append(wrong, "clause "+last)
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

// between are the clauses after one up to another, in the order of the page.
func (b book) between(from, to clause) []clause {
	var all []clause
	for _, chapter := range b.chapters[pageOf(from)] {
		all = append(all, chapter.ids...)
	}
	i, j := slices.Index(all, from), slices.Index(all, to)
	if i > j {
		return []clause{to}
	}
	return all[i+1 : j+1]
}

// resolve finds the clause of an id. A letter after it may also be a test's own,
// for one part of a clause.
func (b book) resolve(id string) (clause, bool) {
	if !b.known[id] {
		id = strings.TrimRight(id, "abcdefghijklmnopqrstuvwxyz")
	}
	return id, b.known[id]
}

// Every clause that is named anywhere exists.
func TestCitations(t *testing.T) {
	if found := read(t).citations(t); len(found) < 1000 {
		t.Errorf("only %d citations found: have they changed their form?", len(found))
	}
}

func TestMisplacedCitations(t *testing.T) {
	for text, want := range map[string]string{
		"T-11 of `tools.md`, P-1 of `protocol.md`, UTF-8, SHA-256": "",
		"T-11 of `cli.md`": "T in cli.md", "`tools.md` CLI-1911": "CLI in tools.md",
		"see U-35, D-*": "clause U-35|clause D-*",
	} {
		if got := strings.Join(misplaced(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestReadingCitations(t *testing.T) {
	b := read(t)
	for text, want := range map[string]string{
		"T-40, T-41 and RES-36":                  "T-40|T-41|RES-36",
		"R-101 to R-103":                         "R-101|R-102|R-103",
		"see P-401, UTF-8 and mcp-R-5":           "P-401",
		"protocol section 12, the last section":  "P-1200",
		"T-40x, CLI-401":                         "T-40|CLI-401",
		"T-9999, protocol chapter 99, SDK-9999b": "!clause T-9999|!protocol chapter 99|!clause SDK-9999b",
	} {
		clauses, wrong := b.cited(text)
		got := clauses
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
