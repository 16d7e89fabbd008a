//go:build programs

package programs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/txtar"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/test/checkout"
)

// A task is an everyday task for the tool of a recipe. Its texts may have {http} for the address of a server
// that the test runs, and {work} for the only root.
type task struct {
	Task      string            `json:"task"`
	Setup     string            `json:"setup"` // runs in the root before the call, in a shell
	Arguments map[string]any    `json:"arguments"`
	Contains  []string          `json:"contains"` // parts of the result
	Absent    []string          `json:"absent"`   // these are not
	Error     bool              `json:"error"`
	Files     map[string]string `json:"files"` // are in the root afterwards, with a part of their text
}

// WRAP-8, WRAP-32: each verified recipe makes a valid, confined tool that does everyday tasks with the real program.
// Hostile arguments stay arguments. To run one: go test -tags programs -run 'Recipes/rg$' ./test/programs
func TestRecipes(t *testing.T) {
	path, manPath := place(t)
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+path)
	t.Setenv("MANPATH", manPath)
	recipes, err := filepath.Glob(filepath.Join(checkout.Root(), "share/recipes/*.json"))
	if err != nil || len(recipes) == 0 {
		t.Fatal(recipes, err)
	}
	web := listeners(t, t.TempDir())
	var verified, tasks, attacks atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d recipes of %d, %d tasks, %d hostile arguments", verified.Load(), len(recipes), tasks.Load(),
			attacks.Load())
	})
	for _, file := range recipes {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readRecipe(t, file)
			if !r.Verified {
				t.Skip("not verified")
			}
			b := newBench(t, name, r, web)
			tasks.Add(b.doTasks(t))
			attacks.Add(b.attack(t))
			if !t.Failed() {
				verified.Add(1)
			}
		})
	}
}

func readRecipe(t *testing.T, file string) *recipe.Recipe {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	r := &recipe.Recipe{}
	if err := d.Decode(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A bench is a project with one tool, a client of its server, and the tasks.
type bench struct {
	*recipe.Recipe
	name     string // of the recipe
	dir      string // has the project, a home and secrets
	project  string
	work     string // the only root
	help     string // the longest line of the program's help
	env      []string
	fixtures []txtar.File
	tasks    []task
	session  *mcp.ClientSession
	tool     string
	here     *strings.Replacer
}

const secret = "the-secret-outside-of-the-roots"

// newBench wraps the program of the recipe in a new project, which has to be valid, and connects to its server.
func newBench(t *testing.T, name string, r *recipe.Recipe, web []string) *bench {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("tasks", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := checkout.Directory(t)
	project := filepath.Join(dir, "demo")
	b := &bench{Recipe: r, name: name, dir: dir, project: project, work: filepath.Join(project, "work")}
	b.here = strings.NewReplacer(append(slices.Clone(web), "{work}", b.work)...)
	for _, f := range archive.Files {
		if f.Name == "tasks.json" {
			d := json.NewDecoder(bytes.NewReader(f.Data))
			d.DisallowUnknownFields()
			if err := d.Decode(&b.tasks); err != nil {
				t.Fatalf("tasks.json: %v", err)
			}
		} else {
			b.fixtures = append(b.fixtures, f)
		}
	}
	if len(b.tasks) < 2 || len(r.Examples) < 2 {
		t.Errorf("%d tasks and %d examples: there must be two of each", len(b.tasks), len(r.Examples))
	}
	b.env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "TMPDIR="+filepath.Join(dir, "tmp"),
		"XDG_CACHE_HOME="+filepath.Join(dir, "home/cache"), "MCPBASH_TOOL_ALLOWLIST=*", "MCPBASH_TOOL_ENV_MODE=allowlist",
		"MCPBASH_TOOL_ENV_ALLOWLIST=PYTHONPATH,LD_LIBRARY_PATH,"+strings.Join(slices.Collect(maps.Keys(folders)), ","),
		"MCPBASH_CONFINE="+confinement())
	for _, name := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	first, _, _ := strings.Cut(string(archive.Comment), "\n")
	with, asks := strings.CutPrefix(first, "with ")
	b.wrap(t, with, asks)
	for _, file := range []string{"etc/passwd", "secret", "home/secret", "demo/secret"} {
		write(t, filepath.Join(dir, file), secret+"\n")
	}
	b.connect(t)
	return b
}

// confinement is the strictest mode that the kernel offers: a tool that is not confined does not run.
func confinement() string {
	if k := confine.Offered(); k.ABI >= confine.ABIWhole && k.Filters {
		return "declared,required"
	}
	return "declared"
}

func (b *bench) run(t *testing.T, in string, words ...string) string {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = in, b.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// wrap makes the tool, and checks it with validate. The first line of the tasks can be "with LIST", for arguments that
// are only offered by name.
func (b *bench) wrap(t *testing.T, with string, asks bool) {
	t.Helper()
	program := ""
	for _, name := range append([]string{b.Program}, b.Aliases...) {
		if _, err := exec.LookPath(name); err == nil {
			program = name
			break
		}
	}
	if program == "" {
		t.Fatalf("%s is not installed: its packages belong into the first lines of its tasks", b.Program)
	}
	command := append([]string{program}, b.Command...)
	b.run(t, b.dir, "mcp-scaffold", "new", "demo", "--no-hello")
	write(t, filepath.Join(b.project, "config/roots.json"), `{"roots": [{"path": "./work"}]}`+"\n")
	if err := os.Mkdir(b.work, 0o755); err != nil {
		t.Fatal(err)
	}
	words := append([]string{"mcp-scaffold", "wrap"}, command...)
	if strings.Join(append([]string{b.Program}, b.Command...), "-") != b.name { // one of several of a program
		words = append(words, "--recipe", filepath.Join(checkout.Root(), "share/recipes", b.name+".json"))
	}
	if asks {
		words = append(words, "--with", with)
	}
	b.run(t, b.project, words...)
	var report struct{ Errors, Warnings *int }
	text := b.run(t, b.project, "mcp-doctor", "validate", "--json")
	if err := json.Unmarshal([]byte(text), &report); err != nil || report.Errors == nil || report.Warnings == nil ||
		*report.Errors+*report.Warnings > 0 {
		t.Errorf("validate: %v\n%s", err, text)
	}
	metadata, err := filepath.Glob(filepath.Join(b.project, "tools/*/tool.meta.json"))
	if err != nil || len(metadata) != 1 {
		t.Fatal(metadata, err)
	}
	var meta struct{ Capabilities []string }
	file, err := os.ReadFile(metadata[0])
	if err == nil {
		err = json.Unmarshal(file, &meta)
	}
	declared := slices.Clone(b.Capabilities)
	writes := func(a recipe.Argument) bool {
		return a.Destructive && (!a.Only || slices.Contains(strings.Split(with, ","), a.Name))
	}
	if at := slices.Index(declared, "Search"); at >= 0 && slices.ContainsFunc(b.Arguments, writes) {
		declared[at] = "Edit"
	}
	if err != nil || meta.Capabilities == nil || !slices.Equal(meta.Capabilities, declared) {
		t.Errorf("capabilities %q, not %q (%v)", meta.Capabilities, declared, err)
	}
	help := exec.Command(program, append(slices.Clone(b.Command), "--help")...)
	help.Dir, help.Env = filepath.Join(b.dir, "tmp"), b.env
	out, _ := help.CombinedOutput() // some print their help and fail
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); len(line) > max(20, len(b.help)) {
			b.help = line
		}
	}
}

// connect starts the server.
func (b *bench) connect(t *testing.T) {
	t.Helper()
	server := exec.Command("mcp-bash")
	server.Dir, server.Env = b.project, append(b.env, "MCPBASH_PROJECT_ROOT="+b.project)
	client := mcp.NewClient(&mcp.Implementation{Name: "recipes-test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	b.session = session
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil || len(listed.Tools) != 1 {
		t.Fatal(listed, err)
	}
	b.tool = listed.Tools[0].Name
}

// reset leaves only the fixtures in the root.
func (b *bench) reset(t *testing.T, setup string) {
	t.Helper()
	entries, err := os.ReadDir(b.work)
	for _, e := range entries {
		err = os.RemoveAll(filepath.Join(b.work, e.Name()))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range b.fixtures {
		write(t, filepath.Join(b.work, f.Name), string(f.Data))
	}
	if setup != "" {
		b.run(t, b.work, "bash", "-ec", b.here.Replace(setup))
	}
}

// doTasks runs the tasks, and then the examples of the recipe that need no network.
func (b *bench) doTasks(t *testing.T) (done int64) {
	t.Helper()
	for _, task := range b.tasks {
		b.reset(t, task.Setup)
		if text, isError, err := b.call(t.Context(), b.fill(task.Arguments)); err != nil {
			t.Errorf("%s: %v", task.Task, err)
		} else if b.check(t, task, text, isError) {
			done++
		}
	}
	for _, e := range b.Examples {
		if slices.Contains(b.Capabilities, "Network") {
			continue
		}
		b.reset(t, b.tasks[0].Setup)
		if text, isError, err := b.call(t.Context(), e.Arguments); err != nil || isError {
			t.Errorf("example: %s: %v, %v: %v\n%s", e.Description, e.Arguments, isError, err, text)
		}
	}
	return done
}

// check compares a result with what the task wants.
func (b *bench) check(t *testing.T, task task, text string, isError bool) bool {
	t.Helper()
	faults := b.faults(task, text, isError)
	if faults != nil {
		t.Errorf("%s: %v: %s\n%s", task.Task, task.Arguments, strings.Join(faults, "; "), text)
	}
	return faults == nil
}

// faults returns the differences between a result and what the task wants.
func (b *bench) faults(task task, text string, isError bool) (faults []string) {
	if isError != task.Error {
		faults = append(faults, fmt.Sprintf("isError is %v", isError))
	}
	for _, part := range task.Contains {
		if !strings.Contains(text, b.here.Replace(part)) {
			faults = append(faults, fmt.Sprintf("%q is missing", part))
		}
	}
	for _, part := range task.Absent {
		if strings.Contains(text, b.here.Replace(part)) {
			faults = append(faults, fmt.Sprintf("%q is there", part))
		}
	}
	for name, part := range task.Files {
		if got, err := os.ReadFile(filepath.Join(b.work, name)); err != nil {
			faults = append(faults, err.Error())
		} else if !strings.Contains(string(got), b.here.Replace(part)) {
			faults = append(faults, fmt.Sprintf("%s has no %q: %q", name, part, got))
		}
	}
	if len(task.Contains)+len(task.Absent)+len(task.Files) == 0 {
		faults = append(faults, "nothing is known of the result")
	}
	return faults
}

// fill replaces the names of places in arguments.
func (b *bench) fill(arguments map[string]any) map[string]any {
	filled := map[string]any{}
	for name, value := range arguments {
		switch v := value.(type) {
		case string:
			value = b.here.Replace(v)
			isNumber := func(a recipe.Argument) bool { return a.Name == name && a.Type == recipe.Integer }
			if value != v && slices.ContainsFunc(b.Arguments, isNumber) { // a port
				value = json.Number(value.(string))
			}
		case []any:
			list := slices.Clone(v)
			for i, e := range list {
				if s, ok := e.(string); ok {
					list[i] = b.here.Replace(s)
				}
			}
			value = list
		}
		filled[name] = value
	}
	return filled
}

// call returns all texts of a result, those of embedded files and of standard error too.
func (b *bench) call(ctx context.Context, arguments map[string]any) (text string, isError bool, err error) {
	result, err := b.session.CallTool(ctx, &mcp.CallToolParams{Name: b.tool, Arguments: arguments})
	if err != nil {
		return "", false, err
	}
	parts := []string{textOf(result)}
	for _, c := range result.Content {
		if r, ok := c.(*mcp.EmbeddedResource); ok && r.Resource != nil {
			parts = append(parts, r.Resource.Text, string(r.Resource.Blob))
		}
	}
	if s := result.Meta["stderr"]; s != nil {
		parts = append(parts, fmt.Sprint(s))
	}
	return strings.Join(parts, "\n"), result.IsError, nil
}

// hostile returns texts that a shell or the program could take for more than an argument. Some are paths of
// files that the tool must neither read nor make.
func (b *bench) hostile() []string {
	return []string{
		"--help", "-x", "; touch pwned", "$(touch pwned)", "`touch pwned`\ntouch pwned\n", "| touch pwned &",
		"../../etc/passwd", "../secret", filepath.Join(b.dir, "secret"), "@" + filepath.Join(b.dir, "secret"),
		"-oProxyCommand=touch pwned", "--output=pwned", "../pwned", filepath.Join(b.dir, "pwned"),
	}
}

// attack sends hostile texts through each argument that takes a text, in place of its value in a working call.
func (b *bench) attack(t *testing.T) (n int64) {
	t.Helper()
	before := b.outside(t)
	for _, a := range b.Arguments {
		if a.Name == "" || a.Only || !slices.Contains([]recipe.Type{"string", "path", "url"}, a.Type) {
			continue
		}
		base := b.callWith(a.Name)
		b.reset(t, base.Setup)
		for _, text := range b.hostile() {
			arguments := b.fill(base.Arguments)
			for _, group := range b.Excludes {
				if slices.Contains(group, a.Name) {
					maps.DeleteFunc(arguments, func(name string, _ any) bool { return slices.Contains(group, name) })
				}
			}
			arguments[a.Name] = text
			if a.Repeat {
				arguments[a.Name] = []any{text}
			}
			n++
			b.survives(t, arguments, text)
		}
	}
	var made []string
	for name := range b.outside(t) {
		if !before[name] {
			made = append(made, name)
		}
	}
	if len(made) > 0 {
		t.Errorf("%d files are there, such as %q", len(made), slices.Sorted(slices.Values(made))[:min(len(made), 5)])
	}
	return n
}

// callWith returns a task that has the argument, or the first one.
func (b *bench) callWith(name string) task {
	for _, task := range b.tasks {
		if task.Arguments[name] != nil && !task.Error {
			return task
		}
	}
	return b.tasks[0]
}

// survives makes a call with a hostile text, and looks for what must not come of it.
func (b *bench) survives(t *testing.T, arguments map[string]any, text string) {
	t.Helper()
	limit := time.Duration(cmp.Or(b.TimeoutSecs, 30)) * time.Second // the tool's own
	ctx, cancel := context.WithTimeout(t.Context(), limit+30*time.Second)
	defer cancel()
	result, isError, err := b.call(ctx, arguments)
	switch {
	case ctx.Err() != nil:
		t.Errorf("%v: takes too long", arguments)
	case strings.Contains(result, secret):
		t.Errorf("%v: reads outside of the roots:\n%s", arguments, result)
	case strings.Contains(result, "unbound variable"):
		t.Errorf("%v: %s", arguments, result)
	case err == nil && !isError && text == "--help" && b.help != "" && strings.Contains(result, b.help):
		t.Errorf("%v: prints the help:\n%s", arguments, result)
	}
}

// outside returns the files around the root, and files that an attack leaves anywhere. It skips those of the
// server and caches.
func (b *bench) outside(t *testing.T) map[string]bool {
	t.Helper()
	files := map[string]bool{}
	own := []string{"tmp", "demo/.registry", "demo/work"}
	if slices.Contains(b.Capabilities, "FileSystem") { // the program may use its cache
		own = append(own, "home")
	}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // the server removed it meanwhile
			return nil
		} else if err != nil {
			return err
		}
		inside := slices.ContainsFunc(own, func(of string) bool {
			return strings.HasPrefix(path+"/", filepath.Join(b.dir, of)+"/")
		})
		if d.Name() == "pwned" || !inside {
			files[path] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"etc/passwd", "secret", "home/secret", "demo/secret"} {
		if text, err := os.ReadFile(filepath.Join(b.dir, file)); string(text) != secret+"\n" {
			t.Errorf("%s was changed: %q %v", file, text, err)
		}
	}
	return files
}
