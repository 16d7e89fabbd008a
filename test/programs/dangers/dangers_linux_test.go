//go:build programs

package dangers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"mcp-bash/test/checkout"
)

// leastEffects is the number of command lines that must have an effect without a tool.
const leastEffects = 50

// WRAP-36: a tool without a recipe changes nothing outside its private folder, whatever its options are called. Each
// command line runs without a tool first, to see whether it has an effect. The tool then gets the same words.
func TestDangers(t *testing.T) {
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	archive, err := txtar.ParseFile("dangers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	setup := string(archive.Files[0].Data)
	var effects atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d command lines have an effect without a tool", effects.Load())
		if effects.Load() < leastEffects {
			t.Errorf("only %d command lines have an effect without a tool, not %d", effects.Load(), leastEffects)
		}
	})
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		program, _, _ := strings.Cut(line, " ")
		if _, err := exec.LookPath(program); err != nil || strings.HasPrefix(line, "#") {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			direct := newPlace(t, setup, line)
			argv := direct.wrap(t, program)
			if direct.effect(t, argv) == "" {
				t.Log("has no effect here")
				return
			}
			effects.Add(1)
			p := newPlace(t, setup, line)
			p.wrap(t, program)
			arguments, err := json.Marshal(p.arguments)
			if err != nil {
				t.Fatal(err)
			}
			argv = []string{"mcp-runtool", "danger", "--allow-self", "--json", "--roots", p.work, "--args", string(arguments)}
			if effect := p.effect(t, argv); effect != "" {
				t.Errorf("the tool %s\n%s", effect, p.output.String())
			}
		})
	}
}

// A place has a project with a tool, a folder with files, a home, a server and a process.
type place struct {
	dir, project, work string
	env                []string
	words              []string       // of the command line
	arguments          map[string]any // of the tool
	contacts           *atomic.Int64  // requests to the server
	other              *exec.Cmd      // the process
	output             bytes.Buffer
}

func newPlace(t *testing.T, setup, line string) *place {
	t.Helper()
	p := &place{dir: checkout.Directory(t), contacts: new(atomic.Int64)}
	p.project, p.work = filepath.Join(p.dir, "demo"), filepath.Join(p.dir, "work")
	for _, name := range []string{"home", "tmp", "work"} {
		if err := os.Mkdir(filepath.Join(p.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { p.contacts.Add(1) }))
	t.Cleanup(web.Close)
	p.other = exec.Command("sleep", "1000")
	if err := p.other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.other.Process.Kill()
		p.other.Wait()
	})
	p.env = append(os.Environ(), "HOME="+p.dir+"/home", "TMPDIR="+p.dir+"/tmp", "XDG_CONFIG_HOME="+p.dir+"/home",
		"MCPBASH_CONFINE=declared,required", "XDG_CACHE_HOME="+t.TempDir(), "MCPBASH_PROJECT_ROOT="+p.project)
	p.run(t, p.work, "bash", "-ec", setup)
	line = strings.NewReplacer("{http}", web.URL, "{pid}", strconv.Itoa(p.other.Process.Pid)).Replace(line)
	p.words = strings.Split(strings.TrimSuffix(p.run(t, p.work, "bash", "-c", `printf '%s\n' `+line), "\n"), "\n")[1:]
	return p
}

func (p *place) run(t *testing.T, dir string, words ...string) string {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
	return string(out)
}

// wrap makes the tool, and the arguments that pass all words to the program. It returns the command line that follows.
func (p *place) wrap(t *testing.T, program string) (argv []string) {
	t.Helper()
	p.run(t, p.dir, "mcp-scaffold", "new", "demo", "--no-hello")
	p.run(t, p.project, "mcp-scaffold", "wrap", program, "--no-recipe", "--name", "danger")
	text, err := os.ReadFile(filepath.Join(p.project, "tools/danger/tool.meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	var meta struct {
		InputSchema struct {
			Properties map[string]struct{ Type string }
			Required   []string
		}
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		t.Fatal(err)
	}
	list := "options"
	if _, ok := meta.InputSchema.Properties["arguments"]; ok {
		list = "arguments"
	}
	p.arguments = map[string]any{list: p.words}
	argv = append([]string{program}, p.words...)
	for _, name := range meta.InputSchema.Required {
		p.arguments[name] = "a.txt"
		if meta.InputSchema.Properties[name].Type == "array" {
			p.arguments[name] = []string{"a.txt"}
		}
		argv = append(argv, "a.txt")
	}
	return argv
}

// effect runs a command line in the folder, and returns what changed.
func (p *place) effect(t *testing.T, argv []string) string {
	t.Helper()
	before := p.state(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.work, p.env, &p.output, &p.output, time.Second
	cmd.Run() // most command lines fail
	after := p.state(t)
	for name, content := range after {
		if before[name] != content {
			return "wrote " + name
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			return "deleted " + name
		}
	}
	switch process, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.other.Process.Pid)); {
	case p.contacts.Load() > 0:
		return "reached the server"
	case err != nil || !slices.Contains(strings.Fields(string(process)), "S"):
		return "signalled the process"
	}
	return ""
}

// state returns the mode and content of each file, except those of the project.
func (p *place) state(t *testing.T) map[string]string {
	t.Helper()
	state := map[string]string{}
	err := filepath.WalkDir(p.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == filepath.Join(p.project, ".registry") {
			return filepath.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		content := info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			content += string(text)
		}
		state[name] = content
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}
