//go:build programs

package sets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// A site is the folder of the fetched programs, the environment that finds them, and a web server.
type site struct {
	folder, http string
	env          []string
}

// passed are the variables that the tools get from the server.
const passed = "PYTHONPATH,LD_LIBRARY_PATH,GIT_CONFIG_GLOBAL,GIT_CONFIG_NOSYSTEM,NO_COLOR,no_proxy"

// open fetches the programs. bin is a folder of further programs.
func open(t *testing.T, bin string) site {
	t.Helper()
	install := exec.Command("bash", filepath.Join(*set, "install.sh"))
	install.Stderr = os.Stderr
	out, err := install.Output()
	if err != nil {
		t.Fatalf("install.sh: %v", err)
	}
	folder := strings.TrimSpace(string(out))
	root := filepath.Join(folder, "root")
	libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	more, _ := filepath.Glob(filepath.Join(root, "lib/*-linux-gnu"))
	path := strings.Join([]string{
		bin, filepath.Join(folder, "bin"), filepath.Join(folder, "npm/node_modules/.bin"), filepath.Join(root, "usr/bin"),
		filepath.Join(root, "bin"), os.Getenv("PATH"),
	}, ":")
	t.Setenv("PATH", path)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Word")))
	}))
	t.Cleanup(web.Close)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(strings.ToLower(v), "=")
		return strings.HasSuffix(name, "_proxy")
	})
	return site{folder: folder, http: web.URL, env: append(env,
		"PYTHONPATH="+filepath.Join(root, "usr/lib/python3/dist-packages"),
		"LD_LIBRARY_PATH="+strings.Join(append(libraries, more...), ":"),
		"MANPATH="+filepath.Join(root, "usr/share/man"), "HOME="+checkout.Directory(t), "NO_COLOR=1", "no_proxy=127.0.0.1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"MCPBASH_TOOL_ALLOWLIST=*", "MCPBASH_TOOL_ENV_MODE=allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST="+passed)}
}

// Each task is right: the program itself, without a tool, does it.
func TestTasksAreRight(t *testing.T) {
	here := open(t, t.TempDir())
	for _, p := range programs(t) {
		real, _ := p.parts()
		for _, k := range real.Tasks {
			dir := checkout.Directory(t)
			k = k.local(here.http)
			k.prepare(t, dir, here.env)
			words := slices.Concat(p.Command, p.words(k))
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir, cmd.Env = dir, here.env
			cmd.Stdin = strings.NewReader(k.Stdin)
			out, err := cmd.CombinedOutput()
			code := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				code = exit.ExitCode()
			} else if err != nil {
				t.Errorf("%q: %v", words, err)
				continue
			}
			if wrong := k.wrong(string(out), dir); wrong != "" || code != k.Exit {
				t.Errorf("%s: %q: exit code %d, not %d; %s\n%s", k.Task, words, code, k.Exit, wrong, out)
			}
		}
		if len(p.Tasks) < 2 {
			t.Errorf("%s has fewer than two tasks", p.name)
		}
	}
}

// With recipes at least 80 % of the tasks of programs that have one work at the first call. Without recipes at least
// 45 % of all tasks do, in a set that also has programs without a recipe. Dangerous options that a task needs are
// asked for by name. No operand is invented, and no recipe offers a dangerous option unasked.
func TestSet(t *testing.T) {
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	here := open(t, bin)
	all := programs(t)
	var both [2][]*score
	modes := []string{"recipes", "help"}
	if !slices.ContainsFunc(all, func(p *program) bool { return !p.Recipe }) {
		modes = modes[:1] // the set is about recipes
	}
	for i, mode := range modes {
		both[i] = make([]*score, len(all))
		extra := []string{"--unverified"}
		if mode == "help" {
			extra = []string{"--no-recipe"}
		}
		var wait sync.WaitGroup
		slots := make(chan struct{}, 2)
		for n, p := range all {
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				t.Run(mode+"/"+p.name, func(t *testing.T) { both[i][n] = here.try(t, p, extra) })
			})
		}
		wait.Wait()
	}
	t.Log(table(all, both))
	recipes := total(both[0], func(i int) bool { return all[i].Recipe })
	help := total(both[1], func(int) bool { return true })
	if recipes.asked*100 < recipes.tasks*80 {
		t.Errorf("with recipes %d of %d tasks work, which is below 80 %%", recipes.asked, recipes.tasks)
	}
	if help.asked*100 < help.tasks*45 {
		t.Errorf("from help alone %d of %d tasks work, which is below 45 %%", help.asked, help.tasks)
	}
	sum := total(slices.Concat(both[0], both[1]), func(int) bool { return true })
	if sum.inventedOperands > 0 {
		t.Errorf("%d operands are invented", sum.inventedOperands)
	}
	if sum.dangerous > 0 {
		t.Errorf("%d dangerous options are offered unasked", sum.dangerous)
	}
}

// A bench is a new project for the tools of a program, with its only root.
type bench struct {
	site
	program       *program
	project, work string
	extra         []string // options of wrap
}

// try wraps a program, does its tasks with the tool, and compares the findings with the facts. Tasks for a stub are
// done only with a recipe, because a stub has no help. The result is nil if there is nothing to do.
func (s site) try(t *testing.T, p *program, extra []string) (result *score) {
	real, stubbed := p.parts()
	if len(real.Tasks) > 0 {
		result = s.tryPart(t, real, extra)
	}
	if len(stubbed.Tasks) > 0 && !slices.Contains(extra, "--no-recipe") {
		part := s.stub(t, p.Command[0]).tryPart(t, stubbed, extra)
		if result == nil {
			return part
		}
		result.tasks += part.tasks
		result.worked += part.worked
		result.asked += part.asked
		result.misses = append(result.misses, part.missed...)
	}
	return result
}

// stub returns the site with a stub in place of a program. It prints a version, which is in the range of each recipe,
// and its arguments.
func (s site) stub(t *testing.T, program string) site {
	t.Helper()
	dir := checkout.Directory(t)
	text := "#!/bin/sh\nprintf '%s\\n' 'version 9999.0' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(slices.Clone(s.env), "PATH="+dir+":"+os.Getenv("PATH"))
	s.folder = dir
	return s
}

// tryPart does the tasks with one tool. Tasks that need dangerous options are done a second time, with a tool that was
// wrapped with these options.
func (s site) tryPart(t *testing.T, p *program, extra []string) *score {
	result := &score{tasks: len(p.Tasks)}
	b := s.newBench(t, p, extra)
	made, err := b.wrap(t)
	result.compare(p, made)
	if err != nil {
		result.misses = []string{err.Error()}
	}
	for i, k := range p.Tasks {
		k = k.local(s.http)
		wrong := b.do(t, made, err, k)
		if wrong == "" {
			result.worked++
		}
		if with := p.dangerous(k); len(with) > 0 {
			asked, err := b.wrap(t, "--with", strings.Join(with, ","), "--name", fmt.Sprintf("asked-%d", i+1))
			wrong = b.do(t, asked, err, k)
		}
		if wrong == "" {
			result.asked++
		} else {
			result.missed = append(result.missed, fmt.Sprintf("%s: %s", k.Task, wrong))
		}
	}
	result.misses = append(result.misses, result.missed...)
	return result
}

func (s site) newBench(t *testing.T, p *program, extra []string) *bench {
	t.Helper()
	dir := checkout.Directory(t)
	b := &bench{site: s, program: p, project: filepath.Join(dir, "demo"), extra: extra}
	b.work = filepath.Join(b.project, "work")
	if out, errors, err := s.run(dir, "mcp-scaffold", "new", "demo", "--no-hello"); err != nil {
		t.Fatalf("new: %v\n%s%s", err, out, errors)
	}
	roots := filepath.Join(b.project, "config/roots.json")
	if err := errors.Join(os.MkdirAll(b.work, 0o755), os.MkdirAll(filepath.Dir(roots), 0o755),
		os.WriteFile(roots, []byte(`{"roots":[{"path":"./work"}]}`), 0o644)); err != nil {
		t.Fatal(err)
	}
	return b
}

// wrap makes a tool. It returns an error if the command fails.
func (b *bench) wrap(t *testing.T, more ...string) (tool, error) {
	t.Helper()
	words := slices.Concat([]string{"mcp-scaffold", "wrap"}, b.program.Command, []string{"--json"}, b.extra, more)
	out, stderr, err := b.run(b.project, words...)
	var answer struct{ Tools []report }
	if err != nil || json.Unmarshal([]byte(out), &answer) != nil || len(answer.Tools) == 0 {
		return tool{}, fmt.Errorf("wrap %v failed: %v %s %s", more, err, firstLine(stderr), firstLine(out))
	}
	made := readTool(t, b.project, answer.Tools[0])
	b.installed(t, b.project, made.Name)
	return made, nil
}

// do makes the fixtures of a task and the call, and returns what is wrong with the result. There is no tool if
// wrapping has failed.
func (b *bench) do(t *testing.T, made tool, failed error, k task) string {
	t.Helper()
	if failed != nil {
		return failed.Error()
	}
	if err := errors.Join(os.RemoveAll(b.work), os.MkdirAll(b.work, 0o755)); err != nil {
		t.Fatal(err)
	}
	k.prepare(t, b.work, b.env)
	arguments, missing := made.arguments(b.program, k)
	wrong := b.call(t, b.program, b.project, b.work, made.Name, k, arguments)
	if wrong == "" {
		return ""
	}
	given, _ := json.Marshal(arguments)
	return fmt.Sprintf("%s; arguments %s, not offered %v", wrong, given, missing)
}

// installed lets a tool read the folder of the fetched programs, as each tool may read the libraries in /usr.
// The confinement is otherwise as generated.
func (s site) installed(t *testing.T, project, name string) {
	t.Helper()
	file := filepath.Join(project, "tools", name, "tool.meta.json")
	text, err := os.ReadFile(file)
	var meta map[string]any
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, confined := meta["capabilities"]; !confined {
		return
	}
	confine, _ := meta["confine"].(map[string]any)
	if confine == nil {
		confine = map[string]any{}
	}
	read, _ := confine["read"].([]any)
	confine["read"] = append(read, s.folder)
	meta["confine"] = confine
	if text, err = json.MarshalIndent(meta, "", "  "); err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// call starts a server, calls the tool once, and returns what is wrong with the result.
func (s site) call(t *testing.T, p *program, project, work, name string, k task, arguments map[string]any) string {
	t.Helper()
	server := exec.Command("mcp-bash")
	server.Dir, server.Env = project, append(slices.Clone(s.env), "MCPBASH_PROJECT_ROOT="+project)
	var log bytes.Buffer
	server.Stderr = &log
	client := mcp.NewClient(&mcp.Implementation{Name: "sets", Version: "1"}, nil)
	client.AddRoots(&mcp.Root{URI: "file://" + work, Name: "work"})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return fmt.Sprintf("the server does not start: %v %s", err, firstLine(log.String()))
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return fmt.Sprintf("error: %v", err)
	}
	var parts []string
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.EmbeddedResource:
			parts = append(parts, c.Resource.Text, string(c.Resource.Blob))
		}
	}
	if result.StructuredContent != nil {
		structured, _ := json.Marshal(result.StructuredContent)
		parts = append(parts, string(structured))
	}
	text := strings.Join(parts, "\n")
	wrong := k.wrong(text, work)
	if word := p.lacks(k, text, work); !k.runs() && word != "" {
		wrong = "the program did not get " + word
	}
	if wrong == "" && result.IsError && k.Exit == 0 {
		wrong = "the result is an error"
	}
	if wrong != "" {
		wrong += fmt.Sprintf(" (error %v: %q)", result.IsError, text[:min(len(text), 300)])
	}
	return wrong
}

// run runs a command of the project.
func (s site) run(dir string, words ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(words[0], words[1:]...)
	var out, errors bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, s.env, &out, &errors
	cmd.Stdin = io.LimitReader(strings.NewReader(""), 0)
	err = cmd.Run()
	return out.String(), errors.String(), err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
