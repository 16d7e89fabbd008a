package settings

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// E-1: each kind has its own words, and an invalid value means the default.
func TestBool(t *testing.T) {
	values := []string{"", "true", "false", "1", "0", "TRUE", "Yes", "yes", "off", "x"}
	for name, want := range map[string]string{
		"MCPBASH_QUIET":                "true",
		"MCPBASH_ENABLE_LIVE_PROGRESS": ", true, 1, 0, TRUE, Yes, yes, off, x",
		"MCPBASH_TRACE_TOOLS":          "true, 1, TRUE, yes",
		"MCPBASH_TOOL_STDERR_CAPTURE":  ", true, 1, TRUE, yes",
		"MCPBASH_ALLOW_PROJECT_HOOKS":  "true, 1, TRUE, Yes, yes",
		"MCPBASH_DEBUG_ERRORS":         "true, 1, TRUE, Yes, yes, x",
	} {
		var on []string
		for _, value := range values {
			if Bool(map[string]string{name: value}, name) {
				on = append(on, value)
			}
		}
		if got := strings.Join(on, ", "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// E-1: numbers and their limits.
func TestInt(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"MCPBASH_MAX_LINE_BYTES", "", 64 << 20}, {"MCPBASH_MAX_LINE_BYTES", "0", 64 << 20},
		{"MCPBASH_MAX_LINE_BYTES", "-1", 64 << 20}, {"MCPBASH_MAX_LINE_BYTES", "07", 7},
		{"MCPBASH_MAX_PROGRESS_PER_MIN", "0", 0}, {"MCPBASH_MAX_PROGRESS_PER_MIN", "1 ", 100},
		{"MCPBASH_MAX_CONCURRENT_REQUESTS", "0", 1}, {"MCPBASH_GIT_TIMEOUT", "61", 60},
		{"MCPBASH_PROVIDER_TIMEOUT", "99999999999999999999", 600},
	} {
		if got := Int(map[string]string{c.name: c.value}, c.name); got != c.want {
			t.Errorf("%s=%s: %d, want %d", c.name, c.value, got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"MCPBASH_IDLE_TIMEOUT", "", time.Hour}, {"MCPBASH_IDLE_TIMEOUT", "2", 2 * time.Second},
		{"MCPBASH_PROGRESS_FLUSH_INTERVAL", "", 50 * time.Millisecond},
		{"MCPBASH_PROGRESS_FLUSH_INTERVAL", "0.5", 500 * time.Millisecond},
		{"MCPBASH_PROGRESS_FLUSH_INTERVAL", "1.2.3", 50 * time.Millisecond},
		{"MCPBASH_PROGRESS_FLUSH_INTERVAL", "0", 10 * time.Millisecond},
	} {
		if got := Duration(map[string]string{c.name: c.value}, c.name); got != c.want {
			t.Errorf("%s=%s: %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

func TestString(t *testing.T) {
	for value, want := range map[string]string{"": "auto", "id": "id", "ID": "auto"} {
		if got := String(map[string]string{"MCPBASH_SUBSCRIBE_RESULT": value}, "MCPBASH_SUBSCRIBE_RESULT"); got != want {
			t.Errorf("%s: %s", value, got)
		}
	}
	if got := String(nil, "MCPBASH_REMOTE_TOKEN_KEY"); got != "mcpbash/remoteToken" {
		t.Error(got)
	}
}

// A value that its kind does not allow is a fault, and only that.
func TestFaults(t *testing.T) {
	env := map[string]string{
		"MCPBASH_LOG_LEVEL": "loud", "MCPBASH_LOG_LEVEL_DEFAULT": "WARNING", "MCPBASH_MAX_TOOL_OUTPUT_SIZE": "1k",
		"MCPBASH_HTTP_MAX_BODY": "0", "MCPBASH_AUDIT_MODE": "Required", "MCPBASH_QUIET": "1", "HOME": "loud",
	}
	var got []string
	for err := range Faults(env, "") {
		name, _, _ := strings.Cut(err.Error(), " ")
		got = append(got, name)
	}
	want := []string{
		"MCPBASH_AUDIT_MODE", "MCPBASH_HTTP_MAX_BODY", "MCPBASH_LOG_LEVEL", "MCPBASH_MAX_TOOL_OUTPUT_SIZE", "MCPBASH_QUIET",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Each row is complete, and its default has the form of its kind.
func TestVariables(t *testing.T) {
	if !slices.IsSortedFunc(table(), func(a, b Variable) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the variables are not sorted")
	}
	kinds := []Kind{Text, True, NotFalse, Flag, Yes, NotOff, Number, Positive, Fraction, Choice, Level, List, Conf,
		ConfOrEnv, Export, Path}
	for _, v := range table() {
		cells := strings.Split(v.rest, " | ")
		if len(cells) != 5 || slices.Contains(cells, "") || !slices.Contains(kinds, v.Kind) {
			t.Errorf("%s: kind %q, %q", v.Name, v.Kind, cells)
		}
		def := v.otherwise()
		number := regexp.MustCompile(`^([0-9.]+|)$`).MatchString(def)
		switch v.Kind {
		case True, NotFalse, Flag, Yes, NotOff:
			if def != "true" && def != "false" {
				t.Errorf("%s: default %q", v.Name, def)
			}
		case Number, Positive, Fraction:
			if !number {
				t.Errorf("%s: default %q", v.Name, def)
			}
		case Choice:
			if def != "" && !slices.Contains(v.words(), def) {
				t.Errorf("%s: default %q of %q", v.Name, def, v.words())
			}
		}
	}
	for row := range strings.Lines(ignored) {
		if cells := strings.Split(row, " | "); len(cells) != 6 || cells[0] != "state" && cells[0] != "setting" {
			t.Errorf("%s: %d columns", cells[0], len(cells))
		}
	}
}

// Fill sets the fields with a tag, and reads each by its type.
func TestFill(t *testing.T) {
	var s struct {
		Calls struct {
			Words  []string `env:"MCPBASH_TOOL_ALLOWLIST"`
			Choice string   `env:"MCPBASH_SUBSCRIBE_RESULT"`
			Text   string   `env:"MCPBASH_REMOTE_TOKEN_KEY"`
		}
		Time  time.Duration `env:"MCPBASH_IDLE_TIMEOUT"`
		Most  int           `env:"MCPBASH_GIT_TIMEOUT"`
		On    bool          `env:"MCPBASH_TOOL_ADJUST_ARGS"`
		Other int
	}
	s.Other = 7
	Fill(map[string]string{"MCPBASH_TOOL_ALLOWLIST": "a, b", "MCPBASH_SUBSCRIBE_RESULT": "id", "MCPBASH_IDLE_TIMEOUT": "2",
		"MCPBASH_GIT_TIMEOUT": "61"}, &s)
	if got, want := fmt.Sprint(s), "{{[a b] id mcpbash/remoteToken} 2s 60 true 7}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

const top = "../../.."

var update = flag.Bool("update", false, "write the tables of docs/SETTINGS.md")

// The tables of SETTINGS.md have a row for each variable. Write them with go test ./pkg/project/settings -update.
func TestContract(t *testing.T) {
	file := filepath.Join(top, "docs/SETTINGS.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := replaceTable(t, string(text), "Set by→read by | Effect | Status", func(page *strings.Builder) {
		for _, v := range table() {
			cells := strings.Split(strings.TrimSpace(v.rest), " | ")
			if v.max > 0 {
				cells[1] += fmt.Sprintf(", cap %d", v.max)
			}
			fmt.Fprintf(page, "| `%s` | %s |\n", v.Name, strings.Join(cells, " | "))
		}
	})
	want = replaceTable(t, want, "Set by→read by | Effect", func(page *strings.Builder) {
		for row := range strings.Lines(ignored) {
			cells := strings.Split(strings.TrimSpace(row), " | ")
			names := "`" + strings.ReplaceAll(cells[1], " ", "` `") + "`"
			fmt.Fprintf(page, "| %s | %s |\n", names, strings.Join(cells[2:], " | "))
		}
	})
	if *update && want != string(text) {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("SETTINGS.md differs from variables.txt and ignored.txt; run go test ./pkg/project/settings -update")
	}
}

// replaceTable replaces the rows of the table of a page whose heading ends with some columns.
func replaceTable(t *testing.T, page, columns string, write func(*strings.Builder)) string {
	t.Helper()
	before, rest, ok := strings.Cut(page, "| "+columns+" |\n")
	separator, rest, found := strings.Cut(rest, "\n")
	if !ok || !found {
		t.Fatalf("SETTINGS.md has no table %q", columns)
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	var table strings.Builder
	write(&table)
	return before + "| " + columns + " |\n" + separator + "\n" + table.String() + rest
}

var variableName = regexp.MustCompile(`\b(?:MCPBASH|MCPB|MCP)_[A-Z0-9_]*[A-Z0-9]\b`)

// The programs and the SDK use every variable. Each name in a string of the programs is a variable.
func TestUses(t *testing.T) {
	var scripts strings.Builder
	used := map[string]string{} // names in strings, and where
	for _, dir := range []string{"cmd", "pkg", "sdk", "providers", "install.sh"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(file string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(top, file)
			switch rel = filepath.ToSlash(rel); {
			case err != nil || d.IsDir() && d.Name() != "testdata" && rel != "pkg/project/settings":
				return err
			case d.IsDir():
				return filepath.SkipDir
			case strings.HasSuffix(rel, "_test.go") || rel == "pkg/check/validate/migrate.go":
			case strings.HasSuffix(rel, ".go"):
				return namesIn(file, func(name string) { used[name] = rel })
			default:
				text, err := os.ReadFile(file)
				scripts.Write(text)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range used {
		isPrefix := slices.ContainsFunc(table(), func(v Variable) bool { return strings.HasPrefix(v.Name, name+"_") })
		if !isPrefix && Find(name) == nil && !slices.Contains(noVariables, name) {
			t.Errorf("%s uses %s, which is not in the table", file, name)
		}
	}
	for _, v := range table() {
		_, ok := used[v.Name]
		family, last := "", strings.LastIndexByte(v.Name, '_')
		if last > 0 {
			family = v.Name[:last]
		}
		for !ok && strings.Count(family, "_") > 0 { // "MCPBASH_GIT" + "_ALLOW_HOSTS"
			_, ok = used[family]
			family = family[:strings.LastIndexByte(family, '_')]
		}
		if !ok && !strings.Contains(scripts.String(), v.Name) {
			t.Errorf("nothing uses %s", v.Name)
		}
	}
}

// noVariables are names in strings that are not variables, or that only the Bash edition has.
var noVariables = []string{
	"MCPB_SIG_V1", "MCPB_SIG_END", "MCPBASH_ALLOW_CORRUPT_STDOUT", "MCPBASH_DIRECT_FD",
	"MCPBASH_AUDIT_TYPE", "MCPBASH_AUDIT_OUTCOME", "MCPBASH_AUDIT_ID", // fields of the journal
}

// namesIn calls use with each name of a variable in the strings of a Go file.
func namesIn(file string, use func(name string)) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, _ := strconv.Unquote(literal.Value)
			for _, name := range variableName.FindAllString(text, -1) {
				use(name)
			}
			text = strings.TrimSuffix(strings.TrimPrefix(text, `env:"`), `"`)
			if plainNames[text] {
				use(text)
			}
		}
		return true
	})
	return nil
}

// plainNames are the variables without one of our prefixes.
var plainNames = func() map[string]bool {
	names := map[string]bool{}
	for _, v := range table() {
		if !variableName.MatchString(v.Name) {
			names[v.Name] = true
		}
	}
	return names
}()

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		Find("MCPBASH_TOOL_STDERR_TAIL_LIMIT")
	}
}
