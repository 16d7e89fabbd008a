//go:build programs

package programs

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/scaffold/usage/ask"
	"mcp-bash/pkg/scaffold/usage/infer"
)

// folder is where install.sh has put the programs.
func folder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("MCPBASH_TEST_PROGRAMS")
	if dir == "" {
		out, err := exec.Command("./install.sh").Output()
		if err != nil {
			t.Fatalf("install.sh: %v", err)
		}
		dir = strings.TrimSpace(string(out))
	}
	return dir
}

// folders are variables with folders that programs look for in /usr.
var folders = map[string]string{
	"MAGICK_CODER_MODULE_PATH": "usr/lib/*-linux-gnu/ImageMagick-*/modules-*/coders",
	"MAGICK_CONFIGURE_PATH":    "etc/ImageMagick-6",
	"pandoc_datadir":           "usr/share/pandoc",
}

// place returns a PATH and a MANPATH with the programs.
func place(t testing.TB) (path, manPath string) {
	t.Helper()
	dir := folder(t)
	root := filepath.Join(dir, "root")
	t.Setenv("PYTHONPATH", filepath.Join(root, "usr/lib/python3/dist-packages"))
	libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	t.Setenv("LD_LIBRARY_PATH", strings.Join(libraries, ":"))
	for name, pattern := range folders {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); len(found) > 0 {
			t.Setenv(name, found[0])
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	path = strings.Join([]string{
		filepath.Join(dir, "bin"), filepath.Join(dir, "npm/node_modules/.bin"), filepath.Join(root, "usr/bin"),
		filepath.Join(root, "bin"), filepath.Join(strings.TrimSpace(string(goroot)), "bin"), os.Getenv("PATH"),
	}, ":")
	return path, filepath.Join(root, "usr/share/man")
}

// A fact is a statement of a program's documentation about one option, copied by hand.
type fact struct {
	names []string
	kinds []string // of its values: any of these is right
}

// facts reads a table.
func facts(t testing.TB, file string) (command []string, style string, list []fact) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.Fields(s.Text())
		switch {
		case len(words) == 0:
		case words[0] == "command":
			command = words[1:]
		case words[0] == "style":
			style = words[1]
		default:
			last := len(words) - 1
			list = append(list, fact{words[:last], strings.Split(words[last], "|")})
		}
	}
	return command, style, list
}

// WRAP-50: wrap finds enough of the options in the documentation of real programs, and invents few. The recipe rarely
// narrows a value wrongly: to a switch, a number or choices that the documentation does not have. The reader was
// improved with these programs, so this is a regression test. It does not show how well other programs are read.
func TestFacts(t *testing.T) {
	path, _ := place(t)
	files, err := filepath.Glob("facts/*")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	asker := ask.New(path)
	defer asker.Close()
	styles := map[string]bool{}
	var known, found, wrong, offered, values, narrowed int
	for _, file := range files {
		command, style, list := facts(t, file)
		styles[style] = true
		ans, err := asker.Program(context.Background(), command)
		if err != nil {
			t.Errorf("%s: %v", strings.Join(command, " "), err)
			continue
		}
		m := measure(t, ans.Program, list)
		t.Logf("%-20s %-8s (%s) options %d/%d, false %d, narrowed wrongly %d/%d%s", strings.Join(command, " "), style,
			ans.Style, m.found, len(list), m.wrong, m.narrowed, m.values, m.told)
		known, found, wrong, offered = known+len(list), found+m.found, wrong+m.wrong, offered+len(ans.Options)
		values, narrowed = values+m.values, narrowed+m.narrowed
	}
	t.Logf("%d programs, %d styles: options %d of %d (%.1f%%), false %d of %d (%.1f%%), narrowed %d of %d (%.1f%%)",
		len(files), len(styles), found, known, percent(found, known), wrong, offered, percent(wrong, offered), narrowed,
		values, percent(narrowed, values))
	if percent(found, known) < 95 || percent(wrong, offered) > 2 || percent(narrowed, values) > 3 || len(styles) < 10 {
		t.Error("less than 95 % found, more than 2 % false, or more than 3 % narrowed wrongly")
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

type measured struct {
	found, wrong, values, narrowed int
	told                           string
}

// measure compares the found options with a table. An option is found if all its names are, as names of one
// option. Values count for options that take one, and for switches that are found to take one.
func measure(t testing.TB, p *usage.Program, list []fact) (m measured) {
	t.Helper()
	tell := func(format string, args ...any) { m.told += "\n    " + fmt.Sprintf(format, args...) }
	types := map[string]string{} // by option
	for _, a := range infer.Recipe(p).Recipe.Arguments {
		types[a.Option] = string(a.Type)
	}
	for _, f := range list {
		o := p.Find(f.names[0])
		if o == nil {
			tell("missing: %s", strings.Join(f.names, " "))
			continue
		}
		if lacking := slices.DeleteFunc(slices.Clone(f.names), o.Has); len(lacking) > 0 {
			tell("%s lacks the names %s", o.Name(), strings.Join(lacking, " "))
		} else {
			m.found++
		}
		got := types[o.Name()]
		isSwitch := f.kinds[0] == string(recipe.Switch)
		if got == "" || isSwitch && got == string(recipe.Switch) {
			continue
		}
		m.values++
		wide := !isSwitch && (got == "string" || got == "path" && slices.Contains(f.kinds, "string"))
		optional := got == string(recipe.Switch) && o.Value != nil // a switch without its optional value
		if !wide && !optional && !slices.Contains(f.kinds, got) {
			m.narrowed++
			tell("%s: %s, not %s", strings.Join(f.names, " "), got, strings.Join(f.kinds, " or "))
		}
	}
	for _, o := range p.Options {
		if !slices.ContainsFunc(list, func(f fact) bool { return slices.ContainsFunc(f.names, o.Has) }) {
			tell("false: %s", strings.Join(o.Names, " "))
			m.wrong++
		}
	}
	return m
}
