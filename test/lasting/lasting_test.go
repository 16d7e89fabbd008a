//go:build linux

package lasting

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// A short run of a fixed seed keeps all promises about answers, records, and what is left (AUD-3, AUD-10, AUD-14,
// H-60, P-308, P-905).
func TestLasts(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, name := range Programs {
		if err := checkout.BuildLikeTests(bin, "mcp-bash/cmd/"+name); err != nil {
			t.Fatal(err)
		}
	}
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			c := Config{Server: bin + "/mcp-bash", Over: over, Seed: 1, Calls: 900, Dir: checkout.Directory(t), Servers: 3,
				Log: t.Logf}
			if checkout.Race {
				c.Memory = 800 << 10 // the detector multiplies it
			}
			f, err := Run(t.Context(), c)
			if err != nil {
				t.Fatalf("seed %d: %v", c.Seed, err)
			}
			t.Logf("%+v", *f)
		})
	}
}

// The table and the picture of docs/RELIABILITY.md show the runs on record. UPDATE=1 replaces them.
func TestPage(t *testing.T) {
	docs := filepath.Join(checkout.Root(), "docs")
	text, err := os.ReadFile(filepath.Join(docs, "reliability", "runs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := ParseRuns(text)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(docs, "RELIABILITY.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tests := namesOfTests(t)
	for _, name := range regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(string(page), -1) {
		if !tests[name[1]] {
			t.Errorf("the page names %s, which does not exist", name[1])
		}
	}
	before, rest, _ := strings.Cut(string(page), "<!-- runs -->\n")
	_, after, ok := strings.Cut(rest, "<!-- end of runs -->\n")
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	for name, want := range map[string]string{
		file: before + "<!-- runs -->\n" + Table(runs) + "<!-- end of runs -->\n" + after,
		filepath.Join(docs, "reliability", "runs.svg"): Picture(runs),
	} {
		got, err := os.ReadFile(name)
		if os.Getenv("UPDATE") != "" {
			err, got = os.WriteFile(name, []byte(want), 0o644), []byte(want)
		}
		if err != nil || string(got) != want {
			t.Errorf("%s does not show the runs on record; run UPDATE=1 go test ./test/lasting -run Page (%v)", name, err)
		}
	}
}

// namesOfTests returns the names of all tests of the repository.
func namesOfTests(t *testing.T) map[string]bool {
	names, declared := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test[A-Za-z]+)\(`)
	for _, dir := range []string{"pkg", "test"} {
		err := filepath.WalkDir(filepath.Join(checkout.Root(), dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, name := range declared.FindAllSubmatch(text, -1) {
				names[string(name[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// The same seed gives the same plan, and the plan has the shares of the constants.
func TestPlan(t *testing.T) {
	c := Config{Over: "http", Seed: 5, Calls: 100_000}
	a, b := drawPhases(&c), drawPhases(&c)
	if !reflect.DeepEqual(a, b) || a[len(a)-1].End != c.Calls {
		t.Error("the plans differ")
	}
	faults, counts := 0, map[kind]int{}
	for i, p := range a {
		faults += len(p.Faults)
		if quiet := i%2 == 1; quiet != (len(p.Faults) == 0) {
			t.Errorf("phase %d has %d faults", i, len(p.Faults))
		}
	}
	for n := 1; n <= c.Calls; n++ {
		k, _ := drawCall(c.Seed, n)
		counts[k]++
	}
	if faults < 2800 || faults > 3600 {
		t.Errorf("%d faults", faults)
	}
	for _, s := range shares {
		if want := s.share * c.Calls / 1000; counts[s.kind] < want*3/4 || counts[s.kind] > want*5/4 {
			t.Errorf("%d calls of the kind %s, not %d", counts[s.kind], s.kind, want)
		}
	}
}
