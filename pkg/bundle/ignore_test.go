package bundle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// CLI-1417: .mcpbignore is read as git reads .gitignore.
func TestIgnore(t *testing.T) {
	for rules, names := range map[string]string{
		"*.tmp":            "a.tmp x/b.tmp !a.tmp.txt",
		"/a":               "a !x/a",
		"x/a":              "x/a !y/x/a",
		"dir/":             "dir/ y/dir/ !dir",
		"a/**/b":           "a/b a/x/b a/x/y/b !b !x/a/b",
		"**/b":             "b a/b a/x/b",
		"a/**":             "a/b a/x/y !a",
		"*.txt\n!keep.txt": "a.txt !keep.txt x/a.txt",
		"!a\na":            "a",
		"# a\n\\#b":        "#b !# !a",
		"a ":               "a",
		"[ab].txt\nx?z":    "a.txt b.txt xyz !c.txt !xz !x/z",
		"\n\n/":            "!a",
	} {
		ignore := parseIgnore(rules)
		for name := range strings.FieldsSeq(names) {
			name, not := strings.CutPrefix(name, "!")
			name, isDir := strings.CutSuffix(name, "/")
			if _, out := ignore.match(name, isDir); out == not {
				t.Errorf("%q: %q left out: %t", rules, name, out)
			}
		}
	}
}

// Whatever the rules, matching ends soon. Of names without directories git says the
// same; what is in an ignored directory is a matter of the walk.
func FuzzIgnore(f *testing.F) {
	f.Add("*.tmp\n!a.tmp\n", "x/a.tmp")
	f.Add("a/**/b\n/c\n", "a/x/y/b")
	f.Add(strings.Repeat("**/", 60)+"z", strings.Repeat("a/", 100))
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip("no git")
	}
	dir := f.TempDir()
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		f.Fatalf("%s", out)
	}
	f.Fuzz(func(t *testing.T, rules, name string) {
		matched, out := parseIgnore(rules).match(name, false)
		odd := func(r rune) bool { return r != '\n' && (r <= ' ' || r >= 0x7f || strings.ContainsRune(`\[]"`, r)) }
		switch {
		case strings.ContainsFunc(rules+name, odd), len(rules)+len(name) > 200,
			strings.Contains(rules, "***"), strings.Contains(rules, "//"),
			!filepath.IsLocal(name), filepath.Clean(name) != name, name == ".",
			strings.ContainsAny(name, "/\n"), strings.Contains(name, ".git"):
			return
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(git, "check-ignore", "-q", "--no-index", "--", name)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		if ignored := cmd.Run() == nil; ignored != (matched && out) {
			t.Errorf("%q: %q ignored by git: %t, by us: %t", rules, name, ignored, matched && out)
		}
	})
}
