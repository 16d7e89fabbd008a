package settings

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
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

func TestVariables(t *testing.T) {
	if !slices.IsSortedFunc(variables, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the variables are not sorted")
	}
	for _, v := range variables {
		number := regexp.MustCompile(`^([0-9.]+|)$`).MatchString(v.Default)
		switch v.Kind {
		case True, NotFalse, Flag, Yes, NotOff:
			if v.Default != "true" && v.Default != "false" {
				t.Errorf("%s: default %q", v.Name, v.Default)
			}
		case Number, Positive, Fraction:
			if !number {
				t.Errorf("%s: default %q", v.Name, v.Default)
			}
		}
	}
}

const top = "../../.."

// A row describes a variable in env.md.
type row struct{ def, values, users, effect string }

// contractRows returns the rows of env.md, without variables that only the Bash edition or its tests use.
func contractRows(t *testing.T) map[string]row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "docs/contract/env.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 6 || !strings.HasPrefix(line, "| `") ||
			slices.Contains([]string{"I", "T"}, strings.TrimSpace(cells[5])) {
			continue
		}
		first := ""
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			name := quoted[1]
			if strings.HasPrefix(name, "_") { // `_VERSION` after `MCPBASH_SERVER_NAME`
				name = first[:strings.LastIndexByte(first, '_')] + name
			} else {
				first = name
			}
			plain := strings.NewReplacer("`", "", "**Better:** ", "").Replace
			rows[name] = row{plain(cells[1]), cells[2], cells[3], plain(cells[4])}
		}
	}
	return rows
}

// env.md has a row for each variable, with the same default, limit, users and purpose.
func TestContract(t *testing.T) {
	rows := contractRows(t)
	for _, v := range variables {
		r, ok := rows[v.Name]
		delete(rows, v.Name)
		switch def, _, _ := strings.Cut(v.Default, " "); {
		case v.Name == "MCPBASH_LOCK_ROOT": // checked for links only, and otherwise the Bash edition's
		case !ok:
			t.Errorf("env.md has no row for %s", v.Name)
		case v.Kind != Text && v.Kind != Path && !strings.HasPrefix(r.def, def),
			v.Kind == Text && !strings.HasPrefix(r.def, v.Default):
			t.Errorf("%s: default %q, in env.md %q", v.Name, v.Default, r.def)
		case v.Max > 0 && v.Max < 1<<31-1 && !strings.Contains(r.values, "cap "+strconv.Itoa(v.Max)):
			t.Errorf("%s: maximum %d, in env.md %q", v.Name, v.Max, r.values)
		case v.Users != r.users:
			t.Errorf("%s: users %q, in env.md %q", v.Name, v.Users, r.users)
		case !strings.HasPrefix(r.effect, v.Doc):
			t.Errorf("%s: %q, in env.md %q", v.Name, v.Doc, r.effect)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		t.Errorf("env.md has a row for %s, which is not in the table", name)
	}
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
			case strings.HasSuffix(rel, "_test.go") || slices.Contains(bashEdition, rel):
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
		isPrefix := slices.ContainsFunc(variables, func(v Variable) bool { return strings.HasPrefix(v.Name, name+"_") })
		if !isPrefix && Find(name) == nil && !slices.Contains(noVariables, name) {
			t.Errorf("%s uses %s, which is not in the table", file, name)
		}
	}
	for _, v := range variables {
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

// bashEdition are the files that list variables of the Bash edition.
var bashEdition = []string{"pkg/check/validate/ignored.go", "pkg/check/validate/migrate.go"}

// noVariables are names in strings that are not variables, or that only the Bash edition has.
var noVariables = []string{"MCPB_SIG_V1", "MCPB_SIG_END", "MCPBASH_ALLOW_CORRUPT_STDOUT", "MCPBASH_DIRECT_FD"}

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
	for _, v := range variables {
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
