//go:build programs

package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// runnerFiles are project files for each task runner. Nothing in them may run while wrap reads them.
var runnerFiles = map[string]string{
	"Makefile": "X := $(shell touch ran)\nWHO ?= you ## Who to greet\n.PHONY: hi bad\nhi: ## Says hello\n" +
		"\t@echo \"hello $(WHO)\" | tee made\nbad:\n\t@exit 3\n",
	"justfile": "x := `touch ran; echo 1`\n# Says hello\nhi who *rest:\n    @echo \"hello {{who}} {{rest}}\"\n" +
		"bad:\n    @exit 3\n",
	"Taskfile.yml": "version: '3'\nvars: {X: {sh: touch ran}}\ntasks:\n  hi:\n    desc: Says hello {{.X}}\n" +
		"    status: [touch ran, exit 1]\n    cmds: [echo hello you]\n  bad: {cmds: [exit 3]}\n",
	"package.json": `{"name":"x","scripts":{"hi":"echo hello you","bad":"exit 3","postinstall":"touch ran"}}`,
}

// newDesk makes a project and returns its directory.
func newDesk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("mcp-bash", "new", "desk", "--no-hello")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(string(out), err)
	}
	return filepath.Join(dir, "desk")
}

// WRAP-80 to WRAP-85: the targets of make, just, task and npm become confined tools that work.
func TestRunners(t *testing.T) {
	path, _ := place(t)
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	just, err := filepath.Glob(filepath.Join(folder(t), "npm/node_modules/rust-just-*/bin"))
	if err != nil || len(just) != 1 { // the program itself, without its start by Node
		t.Fatal(just, err)
	}
	t.Setenv("PATH", strings.Join([]string{bin, just[0], path}, ":"))
	project := newDesk(t)
	app := filepath.Join(project, "app")
	run := func(program string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir = project
		out, err := cmd.Output()
		return string(out), err
	}
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range runnerFiles {
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ program, arguments, want string }{
		{"make", `{"WHO":"me"}`, "hello me"}, {"just", `{"who":"me","rest":["a","b"]}`, "hello me a b"},
		{"task", `{}`, "hello you"}, {"npm", `{}`, "hello you"},
	} {
		if out, err := run("mcp-bash", "wrap", c.program, "--directory", "app"); err != nil {
			t.Errorf("%s: %s %v", c.program, out, err)
			continue
		}
		out, err := run("mcp-runtool", c.program+"-hi", "--allow-self", "--roots", "app", "--args", c.arguments)
		if err != nil || !strings.Contains(out, c.want) || !strings.Contains(out, `"isError":false`) {
			t.Errorf("%s: %s %v", c.program, out, err)
		}
		if out, err := run("mcp-runtool", c.program+"-bad", "--allow-self", "--roots", "app"); err == nil ||
			!strings.Contains(out, "exit status") {
			t.Errorf("%s: %s %v", c.program, out, err)
		}
		if out, err := run("mcp-bash", "wrap", "--update", c.program+"-hi"); err != nil ||
			!strings.Contains(out, "is up to date") {
			t.Errorf("%s: %s %v", c.program, out, err)
		}
	}
	for _, hostile := range []string{`$(touch ran)`, "`touch ran`", `a; touch ran`, `"; touch ran; "`, `-n`, `a b`,
		"a\nb"} {
		for program, name := range map[string]string{"make": "WHO", "just": "who"} {
			quoted := strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(hostile)
			out, _ := run("mcp-runtool", program+"-hi", "--allow-self", "--roots", "app", "--args",
				`{"`+name+`":"`+quoted+`"}`)
			if !strings.Contains(out, "Invalid arguments") {
				t.Errorf("%s %q: %s", program, hostile, out)
			}
		}
	}
	if out, err := run("mcp-bash", "validate"); err != nil {
		t.Error(out, err)
	}
}

// WRAP-85: reading project files runs nothing of them.
func TestRunnersRunNothing(t *testing.T) {
	path, _ := place(t)
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+path)
	project := newDesk(t)
	for name, text := range runnerFiles {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"make", "just", "task", "npm"} {
		cmd := exec.Command("mcp-bash", "wrap", program, "--dry-run")
		cmd.Dir = project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %s %v", program, out, err)
		}
	}
	if _, err := os.Stat(filepath.Join(project, "ran")); !os.IsNotExist(err) {
		t.Error("a command of a project file ran")
	}
}
