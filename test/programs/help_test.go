//go:build programs

package programs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/test/checkout"
)

// A helpTask is an everyday task for the tool of a program whose help is read. It has the words of the
// command line, so that it does not depend on the names that wrap chooses.
type helpTask struct {
	task
	Options  map[string]any `json:"options"` // by the option as the program spells it
	Operands []string       `json:"operands"`
	Stdin    string         `json:"stdin"`
	extra    []string       // options that the recipe always passes; tools do not need them
}

// A helped is the part of the report of wrap --json that a task needs.
type helped struct {
	Recipe  recipe.Recipe
	Offered []string
}

func (h *helped) offers(a *recipe.Argument) bool { return slices.Contains(h.Offered, a.Name) }

// TestHelp does everyday tasks with tools that wrap drafts from the help alone, and prints how many work. A draft is
// for a person to complete, and its tool is confined. So there is no limit.
func TestHelp(t *testing.T) {
	path, manPath := place(t)
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+path)
	t.Setenv("MANPATH", manPath)
	web := listeners(t, t.TempDir())
	var mu sync.Mutex
	done, all := map[string]int{}, map[string]int{}
	add := func(group string, did, of int) {
		mu.Lock()
		defer mu.Unlock()
		done[group] += did
		all[group] += of
	}
	t.Cleanup(func() {
		for _, group := range []string{"programs", "tune", "check"} {
			t.Logf("%s: %d of %d tasks", group, done[group], all[group])
		}
	})
	archive, err := txtar.ParseFile("help.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var fixtures []txtar.File
	var programs []struct {
		Command string     `json:"command"`
		With    string     `json:"with"` // options that are only offered by name
		Tasks   []helpTask `json:"tasks"`
	}
	for _, f := range archive.Files {
		if f.Name != "tasks.json" {
			fixtures = append(fixtures, f)
		} else if err := json.Unmarshal(f.Data, &programs); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range programs {
		t.Run(strings.ReplaceAll(p.Command, " ", "-"), func(t *testing.T) {
			t.Parallel()
			b := newHelpBench(t, strings.Fields(p.Command), web, "--with", p.With)
			b.fixtures = fixtures
			add("programs", b.doHelp(t, p.Tasks), len(p.Tasks))
		})
	}
	files, _ := filepath.Glob("tasks/*.txtar")
	for i, file := range files {
		name, group := strings.TrimSuffix(filepath.Base(file), ".txtar"), []string{"tune", "check"}[i%2]
		t.Run(group+"-"+name, func(t *testing.T) {
			t.Parallel()
			r := readRecipe(t, filepath.Join(checkout.Root(), "share/recipes", name+".json"))
			tasks, fixtures := recipeTasks(t, file, r)
			if r.Variant != "" || len(tasks) == 0 {
				t.Skip("no tasks for the plain command line")
			}
			words := append([]string{r.Program}, r.Command...)
			for _, alias := range r.Aliases {
				if _, err := exec.LookPath(words[0]); err != nil {
					words[0] = alias
				}
			}
			b := newHelpBench(t, words, web)
			b.fixtures = fixtures
			add(group, b.doHelp(t, tasks), len(tasks))
		})
	}
}

// newHelpBench wraps a program from its help.
func newHelpBench(t *testing.T, words []string, web []string, more ...string) *helpBench {
	t.Helper()
	dir := checkout.Directory(t)
	project := filepath.Join(dir, "demo")
	b := &helpBench{bench: &bench{Recipe: &recipe.Recipe{}, dir: dir, project: project,
		work: filepath.Join(project, "work")}}
	b.here = strings.NewReplacer(append(slices.Clone(web), "{work}", b.work)...)
	b.env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "TMPDIR="+filepath.Join(dir, "tmp"),
		"XDG_CACHE_HOME="+filepath.Join(dir, "home/cache"), "MCPBASH_TOOL_ALLOWLIST=*", "MCPBASH_TOOL_ENV_MODE=allowlist",
		"MCPBASH_TOOL_ENV_ALLOWLIST=PYTHONPATH,LD_LIBRARY_PATH", "MCPBASH_CONFINE="+confinement())
	for _, name := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.run(t, dir, "mcp-scaffold", "new", "demo", "--no-hello")
	write(t, filepath.Join(project, "config/roots.json"), `{"roots": [{"path": "./work"}]}`+"\n")
	if err := os.Mkdir(b.work, 0o755); err != nil {
		t.Fatal(err)
	}
	line := slices.Concat([]string{"wrap", "--no-recipe", "--json"}, more, words)
	cmd := exec.Command("mcp-scaffold", line...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = project, b.env, &stderr
	out, err := cmd.Output()
	var report struct{ Tools []helped }
	if err == nil {
		err = json.Unmarshal(out, &report)
	}
	if err != nil || len(report.Tools) != 1 {
		t.Logf("%v\n%s\n%s", err, out, stderr.String())
		return b
	}
	b.helped = &report.Tools[0]
	b.connect(t)
	return b
}

type helpBench struct {
	*bench
	helped *helped
}

// doHelp does the tasks, and logs those that fail.
func (b *helpBench) doHelp(t *testing.T, tasks []helpTask) (done int) {
	t.Helper()
	for _, task := range tasks {
		if b.helped == nil {
			t.Logf("MISS %s: no tool", task.Task)
			continue
		}
		arguments, err := b.arguments(&task)
		if err != nil {
			t.Logf("MISS %s: %v", task.Task, err)
			continue
		}
		b.reset(t, task.Setup)
		text, isError, err := b.call(t.Context(), b.fill(arguments))
		if faults := b.faults(task.task, text, isError); err != nil || len(faults) > 0 {
			t.Logf("MISS %s: %v: %v %s\n%.600s", task.Task, arguments, err, strings.Join(faults, "; "), text)
			continue
		}
		done++
	}
	return done
}

// arguments returns the call that does a task. Options that the tool does not offer go into its list of
// words, and so do operands.
func (b *helpBench) arguments(task *helpTask) (map[string]any, error) {
	call := map[string]any{}
	var rest []any
	for name, value := range task.Options {
		if err := b.option(call, name, value, &rest); err != nil && !slices.Contains(task.extra, name) {
			return nil, err
		}
	}
	for _, o := range task.Operands {
		rest = append(rest, o)
	}
	for _, a := range b.helped.Recipe.Arguments {
		if !a.IsOperand() || !b.helped.offers(&a) || len(rest) == 0 {
			continue
		}
		if a.Repeat {
			call[a.Name], rest = rest, nil
		} else {
			call[a.Name], rest = rest[0], rest[1:]
		}
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("no operand for %v", rest)
	}
	if task.Stdin != "" {
		if b.helped.Recipe.Stdin == nil {
			return nil, fmt.Errorf("no standard input")
		}
		call["stdin"] = task.Stdin
	}
	return call, nil
}

// option sets an option of a call.
func (b *helpBench) option(call map[string]any, name string, value any, rest *[]any) error {
	named := false // an option is offered by name
	for _, o := range b.helped.Recipe.Arguments {
		named = named || o.Option != ""
		if !slices.Contains(o.Spellings(), name) || !b.helped.offers(&o) {
			continue
		}
		list, isList := value.([]any)
		switch {
		case o.Repeat && o.Type == recipe.Switch && value == true:
			value = 1
		case o.Repeat && o.Type != recipe.Switch && !isList:
			value = []any{value}
		case isList && !o.Repeat:
			value = list[0]
		}
		single := func(v any) any {
			if o.Type == recipe.Integer || o.Type == recipe.Number || o.Type == recipe.Switch {
				var n any
				if s, isText := v.(string); isText && json.Unmarshal([]byte(s), &n) == nil {
					return n
				}
				return v
			}
			return fmt.Sprint(v)
		}
		if list, isList = value.([]any); isList {
			for i := range list {
				list[i] = single(list[i])
			}
		} else {
			value = single(value)
		}
		call[o.Name] = value
		return nil
	}
	generic := !named && slices.Contains(b.helped.Offered, "arguments")
	if !generic {
		return fmt.Errorf("%s is not offered", name)
	}
	*rest = append(*rest, name)
	if value != true {
		*rest = append(*rest, fmt.Sprint(value))
	}
	return nil
}

// recipeTasks returns the tasks of a recipe that succeed, as command lines.
func recipeTasks(t *testing.T, file string, r *recipe.Recipe) (tasks []helpTask, fixtures []txtar.File) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []task
	for _, f := range archive.Files {
		if f.Name != "tasks.json" {
			fixtures = append(fixtures, f)
		} else if err := json.Unmarshal(f.Data, &all); err != nil {
			t.Fatal(err)
		}
	}
next:
	for _, one := range all {
		if one.Error {
			continue
		}
		h := helpTask{task: one, Options: map[string]any{}}
		at, placed := r.CommandAt()
		for i, a := range r.Arguments {
			if placed && i < at && one.Arguments[a.Name] == "." {
				continue // an option of the program before its command
			}
			value, ok := one.Arguments[a.Name]
			switch {
			case len(a.Words) > 0:
				for i, w := range a.Words {
					if name, v, eq := strings.Cut(w, "="); eq {
						h.Options[name] = v
						h.extra = append(h.extra, name)
					} else if strings.HasPrefix(w, "-") && w != "--" && w != "-" {
						h.Options[w] = true
						h.extra = append(h.extra, w)
						if i+1 < len(a.Words) && !strings.HasPrefix(a.Words[i+1], "-") {
							continue next // a word of an option: not an everyday task of the plain program
						}
					}
				}
			case !ok, value == false:
			case a.Option != "":
				h.Options[a.Option] = value
				if value == "." { // tools of help run in the root
					h.extra = append(h.extra, a.Option)
				}
			default:
				if list, isList := value.([]any); isList {
					for _, v := range list {
						h.Operands = append(h.Operands, fmt.Sprint(v))
					}
				} else {
					h.Operands = append(h.Operands, fmt.Sprint(value))
				}
			}
		}
		if r.Stdin != nil {
			h.Stdin, _ = one.Arguments[r.Stdin.Name].(string)
		}
		tasks = append(tasks, h)
	}
	return tasks, fixtures
}
