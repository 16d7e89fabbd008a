package house

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// better matches the mark of a difference from the Bash edition, up to the star that ends it. The first group is
// empty where the word is not a mark.
var better = regexp.MustCompile(`(?i)(\*\(?)?\bbetter\b([^*]*)`)

// aside matches a parenthesis that states a difference. The last group is not empty where a later release is the same.
var aside = regexp.MustCompile(`\((?:[Ii]n )?(?:[Tt]he )?Bash\s+edition(:? since|\))?`)

// differences returns the clauses with a mark. The value is true if a mark is not "(unnoticed)".
// The introduction of a page explains the marks, and does not count.
func (b book) differences() (differences map[clause]bool, faults []string) {
	differences = map[clause]bool{}
	for _, in := range slices.Sorted(maps.Keys(b.texts)) {
		marks := better.FindAllStringSubmatch(b.texts[in], -1)
		if m := aside.FindStringSubmatch(b.texts[in]); b.known[in] && len(marks) == 0 && m != nil && m[1] == "" {
			faults = append(faults, in+": a difference without a mark")
		}
		for _, m := range marks {
			switch {
			case !b.known[in] && !strings.Contains(in, ": "):
			case !b.known[in]:
				faults = append(faults, in+": a difference outside of a clause")
			case m[1] == "":
				faults = append(faults, in+`: "better" without stars`)
			default:
				differences[in] = differences[in] || !strings.Contains(m[2], "(unnoticed)")
			}
		}
	}
	return differences, faults
}

// compare returns what the contract and the page for users of the Bash edition do not have in common. The page cites
// each difference that somebody can notice. Its rows of differences cite nothing else.
func (b book) compare(page string) []string {
	differences, faults := b.differences()
	cited, _ := b.cited(page)
	for _, c := range slices.Sorted(maps.Keys(differences)) {
		if differences[c] && !slices.Contains(cited, c) {
			faults = append(faults, c+`: no row cites this difference; add it to one, or write "Better (unnoticed)"`)
		}
	}
	clauses := false // the table has a column for them
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 4 || cells[0] != "" {
			clauses = false
			continue
		}
		last := strings.TrimSpace(cells[len(cells)-2])
		if clauses = clauses || last == "clauses"; !clauses || last == "clauses" || strings.HasPrefix(last, "---") {
			continue
		}
		ids, wrong := b.cited(last)
		if len(ids) == 0 {
			faults = append(faults, "no clause: "+strings.TrimSpace(line))
		}
		for _, id := range ids {
			if !differences[id] {
				faults = append(faults, id+": cited, and not marked as a difference that somebody notices")
			}
		}
		for _, id := range wrong {
			faults = append(faults, "cited: the contract has no "+id)
		}
	}
	return faults
}

// Each difference from the Bash edition is decided: a row of the page for its users names it, or nobody notices it.
func TestDifferences(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "MIGRATION.md"))
	if err != nil {
		t.Fatal(err)
	}
	b := read(t)
	for _, fault := range b.compare(string(page)) {
		t.Error(fault)
	}
	if found, _ := b.differences(); len(found) < 300 {
		t.Errorf("only %d differences found: have they changed their form?", len(found))
	}
}

func TestComparingDifferences(t *testing.T) {
	const row = "| change | clauses |\n|---|---|\n| here | %s |\n"
	for _, test := range []struct{ clause, page, want string }{
		{"P-1 *Better*: x", fmt.Sprintf(row, "P-1"), ""},
		{"P-1 *Better than the Bash\nedition (unnoticed)*, x", "", ""},
		{"P-1 **(Better (unnoticed): x)**, but (*better*) y", fmt.Sprintf(row, "P-1"), ""},
		{"P-1 **Better:** x", "", "P-1: no row"},
		{"P-1 x. Better than the Bash edition", "", `P-1: "better" without`},
		{"P-1 x (the Bash edition: y)", "", "P-1: a difference without"},
		{"P-1 x (in the Bash edition since 1.6.0)", "", ""},
		{"P-1 *Better (unnoticed)*: x", fmt.Sprintf(row, "P-1"), "P-1: cited"},
		{"P-1 x", fmt.Sprintf(row, "P-1"), "P-1: cited"},
		{"P-1 x", fmt.Sprintf(row, "P-2"), "no clause|cited: the contract has no clause P-2"},
		{"P-1 x", fmt.Sprintf(row, ""), "no clause"},
		{"P-1 x", "| id | difference |\n|---|---|\n| `a` | b |\n", ""},
	} {
		b := book{known: map[clause]bool{"P-1": true}, texts: map[clause]string{
			"P-1": test.clause, "protocol": "*Better* is a mark",
		}}
		got := b.compare(test.page)
		want := strings.FieldsFunc(test.want, func(r rune) bool { return r == '|' })
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%q, %q: %q, want %q", test.clause, test.page, got, test.want)
		}
	}
	outside := book{texts: map[clause]string{"protocol: ## 7 Lifecycle": "| ping | answered (*Better*) |"}}
	if got := outside.compare(""); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
