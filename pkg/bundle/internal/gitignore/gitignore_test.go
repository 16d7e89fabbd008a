package gitignore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// CLI-1417: typical patterns. In the lists, "!" before a name marks a path that is not ignored, and a slash at its end
// marks a directory.
func TestIgnores(t *testing.T) {
	for text, names := range map[string]string{
		"*.tmp":               "a.tmp x/b.tmp !a.tmp.txt",
		"/a":                  "a a/b !x/a",
		"x/a":                 "x/a !y/x/a",
		"dir/":                "dir/ y/dir/ dir/f !dir",
		"a/**/b":              "a/b a/x/b a/x/y/b !b !x/a/b",
		"**/b":                "b a/b a/x/b",
		"a/**":                "a/b a/x/y !a/",
		"*.txt\n!keep.txt":    "a.txt !keep.txt x/a.txt",
		"!a\na":               "a",
		"# a\n\\#b\n\\!c":     "#b !c !# !a",
		"a ":                  "a",
		"a\\ ":                "!a",
		"[ab].txt\nx?z":       "a.txt b.txt xyz !c.txt !xz !x/z",
		"[!p]*":               "data x/y !p !public p/data",
		"[[:upper:]]*":        "README !readme",
		"\n\n/":               "!a",
		"\ufeffa\r\nb\r\n":    "a b",
		"dir/\n!dir/keep":     "dir/keep",
		"dir/*\n!dir/keep":    "dir/drop !dir/keep",
		"[a\n[[:none:]]\nb\\": "!a ![a !b !b\\",
	} {
		rules := Parse(text)
		for name := range strings.FieldsSeq(names) {
			name, not := strings.CutPrefix(name, "!")
			name, isDir := strings.CutSuffix(name, "/")
			if got := rules.Ignores(name, isDir); got == not {
				t.Errorf("%q: %q: %v", text, name, got)
			}
		}
	}
	if Parse("*\n!a").Ignores("a", false) {
		t.Error("a file that is kept is ignored")
	}
}

// Matching a long pattern takes time in proportion to the length of the name.
func TestLongPatterns(t *testing.T) {
	name := strings.Repeat("a/", 100)
	for _, pattern := range []string{
		strings.Repeat("**/", 1<<16) + "z", strings.Repeat("a*", 1<<16), strings.Repeat("**/a/", 1<<16) + "z",
		strings.Repeat("[a-z]", 1<<16), strings.Repeat("*", 1<<18) + "z",
	} {
		if Parse(pattern).Ignores(name+"b", false) {
			t.Errorf("%.20q matches", pattern)
		}
	}
}

// A repository is a Git repository in which the tests run git check-ignore.
type repository struct {
	git, dir string
	paths    bytes.Buffer
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("needs git, and file names that Windows does not have")
	}
	r := &repository{git: git, dir: t.TempDir()}
	if out, err := r.command("init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

func (r *repository) command(args ...string) *exec.Cmd {
	cmd := exec.Command(r.git, append([]string{"-c", "core.ignorecase=false", "-c", "core.precomposeunicode=false",
		"-c", "core.quotepath=false", "-c", "core.excludesfile="}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	return cmd
}

// add adds a directory with rules, and a path in it that Git will check. It returns an error
// if the system cannot create a directory with the name.
func (r *repository) add(t testing.TB, id, rules, name string, isDir bool) error {
	t.Helper()
	dir := filepath.Join(r.dir, id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	r.paths.WriteString(id + "/" + name + "\x00")
	if isDir {
		return os.MkdirAll(filepath.Join(dir, name), 0o755)
	}
	return nil
}

// ask returns the paths that Git ignores.
func (r *repository) ask(t testing.TB) map[string]bool {
	t.Helper()
	cmd := r.command("check-ignore", "--stdin", "-z", "--no-index")
	cmd.Stdin = &r.paths
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: no path is ignored
		t.Fatalf("%v: %s", err, &stderr)
	}
	ignored := map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		ignored[path] = true
	}
	return ignored
}

// A generator creates ignore files and paths that are similar to each other.
type generator struct{ *rand.Rand }

func (g generator) of(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) path() string {
	var parts []string
	for range 1 + g.IntN(4) {
		parts = append(parts, g.of("a", "b", "ab", "A", "B", "x.txt", "abc", "é", "1", "-", "]", "[", "*", "a.txt", "aa",
			"ba", "bb", "!a", "#a", `\`, "?", `a\`, ".a", "a b", "a ",
			" ", "\t", "a-b", "^", ":", "\v", "\x7f", "\xff", "_", "a\nb"))
	}
	return strings.Join(parts, "/")
}

// part returns a piece of a pattern, which usually matches name if it is not "".
func (g generator) part(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i : i+1]
		switch g.IntN(14) {
		case 0:
			b.WriteString("?")
		case 1:
			b.WriteString("*")
			i += g.IntN(3)
		case 2:
			b.WriteString("[" + c + "]")
		case 3:
			b.WriteString(g.of("[!"+c+"]", "[^"+c+"z]", "[!z]", "[^a-c]"))
		case 4:
			b.WriteString(g.of("[a-c]", "[c-a]", "[a-]", "[-a]", "[]a]", "[!]a]", "[^-]", "[--a]", "[ -~]", `[\]]`, `[\a-c]`,
				`[a-\c]`, `[\\]`, "[[]", "[[-b]", "[a[:digit:]-z]", "[+--]", "[a-b-c]", "[]-a]", "[/]", "[a/b]", "[!/]"))
		case 5:
			b.WriteString("[" + g.of("", "!", "^", "a") + "[:" + g.of("alnum", "alpha", "blank", "cntrl", "digit", "graph",
				"lower", "print", "punct", "space", "upper", "xdigit", "none", "", "Alpha") + ":]" + g.of("", "", "-z") + "]")
		case 6:
			b.WriteString(`\` + c)
		case 7:
			b.WriteString(g.of("[", "[a", "[[:alpha:]", "[[:alpha]", "[:alpha:]", "]", `\`, "**", "***",
				"[!", "!", "#", "é", " "))
		default:
			b.WriteString(c)
		}
	}
	return b.String()
}

func (g generator) pattern(path string) string {
	parts := strings.Split(path, "/")
	switch g.IntN(5) {
	case 0: // only the last part
		parts = parts[len(parts)-1:]
	case 1: // a directory in the path
		parts = parts[:1+g.IntN(len(parts))]
	case 2:
		parts = strings.Split(g.path(), "/")
	}
	var b strings.Builder
	b.WriteString(g.of("", "", "", "", "!", "!", "/", "/", "**/", "!/", "!**/", "/**/", "//", "#", `\!`, `\#`, " ", "\r"))
	for i, part := range parts {
		if i > 0 {
			b.WriteString(g.of("/", "/", "/", "/", "/", "/**/", "/**/**/", "**/", "/**", "//", `\/`, `**\/`,
				"*/", "***/", "/*", "/***/"))
		}
		switch g.IntN(10) {
		case 0:
			b.WriteString(g.of("*", "**", "?", "***", ""))
		case 1, 2, 3:
			b.WriteString(part)
		default:
			b.WriteString(g.part(part))
		}
	}
	b.WriteString(g.of("", "", "", "", "", "", "/", "/", " ", "  ", `\ `, `\  `, "\t", "/**", "/*", "*",
		"**", "\r", "/ ", `\`))
	return b.String()
}

func (g generator) rules(path string) string {
	var lines []string
	for range 1 + g.IntN(4) {
		lines = append(lines, g.pattern(path))
	}
	return g.of("", "", "", "", "\ufeff", "\n") + strings.Join(lines, g.of("\n", "\n", "\r\n")) + g.of("", "\n", "\x00")
}

// CLI-1417: results agree with Git for 10,000 random ignore files and paths.
func TestAgreesWithGit(t *testing.T) {
	type question struct {
		rules, name string
		isDir       bool
	}
	git, g := newRepository(t), generator{rand.New(rand.NewPCG(20, 1))} // the same each time
	var questions []question
	for i := range 10_000 {
		name := g.path()
		q := question{g.rules(name), name, g.IntN(3) == 0}
		if runtime.GOOS == "darwin" && !utf8.ValidString(name) {
			q.name = "a"
		}
		questions = append(questions, q)
		if err := git.add(t, fmt.Sprint(i), q.rules, q.name, q.isDir); err != nil {
			t.Fatal(err)
		}
	}
	ignored, wrong, yes := git.ask(t), 0, 0
	for i, q := range questions {
		want, got := ignored[fmt.Sprintf("%d/%s", i, q.name)], Parse(q.rules).Ignores(q.name, q.isDir)
		if want {
			yes++
		}
		if got != want {
			if wrong++; wrong <= 10 {
				t.Errorf("%q: %q (directory: %t): ignored by Git: %t, by us: %t", q.rules, q.name, q.isDir, want, got)
			}
		}
	}
	if wrong > 0 || yes < 2000 || yes > 8000 {
		t.Errorf("%d answers differ; %d paths are ignored", wrong, yes)
	}
}

// CLI-1417: results agree with Git for any rules and any path.
func FuzzIgnores(f *testing.F) {
	f.Add("*.tmp\n!a.tmp\n", "x/a.tmp", false)
	f.Add("a/**/b\n/c\n", "a/x/y/b", true)
	f.Add("[!p]*\n![[:alpha:]-z]", "data", false)
	f.Add("a**/b\n\\ \\ ", "ab", false)
	git := newRepository(f)
	f.Fuzz(func(t *testing.T, rules, name string, isDir bool) {
		got := Parse(rules).Ignores(name, isDir)
		if len(rules)+len(name) > 1000 || strings.Contains(name, "\x00") || !filepath.IsLocal(name) ||
			filepath.Clean(name) != name || name == "." || strings.Contains(strings.ToLower(name), ".git") {
			return
		}
		if err := os.RemoveAll(filepath.Join(git.dir, "q")); err != nil {
			t.Fatal(err)
		}
		git.paths.Reset()
		if err := git.add(t, "q", rules, name, isDir); err != nil {
			return // not a name on this system
		}
		if want := git.ask(t)["q/"+name]; got != want {
			t.Errorf("%q: %q (directory: %t): ignored by Git: %t, by us: %v", rules, name, isDir, want, got)
		}
	})
}
