//go:build unix

// Package workflow checks the workflow that mcp-bash scaffold release makes: with actionlint, for its permissions and
// pinned actions, and by running its commands.
package workflow

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/json/yamljson"
	"mcp-bash/test/checkout"
)

// bin is a directory with the programs.
var bin string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		bin = dir
		return checkout.Build(dir, "mcp-bash/cmd/...")
	}))
}

// A step is a step of a job.
type step struct {
	Name, ID, Uses, Run string
	Env, With           map[string]any
}

// A job is a job of the workflow.
type job struct {
	Needs       any
	Permissions map[string]string
	Environment string
	Steps       []step
}

// scaffold makes the workflow in a project, and returns its file and jobs.
func scaffold(t *testing.T, project string, options ...string) (file string, jobs map[string]job) {
	t.Helper()
	args := append([]string{"scaffold", "release", "--force", "--project-root", project}, options...)
	if out, err := exec.Command(filepath.Join(bin, "mcp-scaffold"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file = filepath.Join(project, ".github", "workflows", "release.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := yamljson.Parse(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]job
	}
	if err := json.Unmarshal(documents[0].JSON, &workflow); err != nil {
		t.Fatal(err)
	}
	if workflow.Permissions == nil || len(workflow.Permissions) > 0 {
		t.Errorf("permissions of all jobs: %v", workflow.Permissions)
	}
	return file, workflow.Jobs
}

// project makes a project.
func project(t *testing.T, name string) string {
	t.Helper()
	dir := checkout.Directory(t)
	cmd := exec.Command(filepath.Join(bin, "mcp-scaffold"), "new", name)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, name)
}

// parts are what can be left out, by option.
var parts = []string{"npm", "pypi", "image"}

// CLI-612: the actions are pinned. Every job has only the permissions that it needs. No command has an expression.
// actionlint finds nothing. All this holds for every choice of parts.
func TestWorkflow(t *testing.T) {
	permissions := map[string]string{"build": "contents:read", "attest": "attestations:write id-token:write",
		"github": "contents:write", "npm": "id-token:write", "pypi": "id-token:write",
		"image": "attestations:write id-token:write packages:write", "announce": "id-token:write"}
	ofTemplate := regexp.MustCompile(`__|<[a-z]+>`)
	pinned := regexp.MustCompile(`^ +- uses: [a-z]+/[a-z-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
	root := project(t, "demo")
	files := []string{filepath.Join(checkout.Root(), ".github", "workflows", "test.yml")}
	for without := range 1 << len(parts) {
		want := maps.Clone(permissions)
		var options []string
		for i, part := range parts {
			if without&(1<<i) != 0 {
				options = append(options, "--no-"+part)
				delete(want, part)
			}
		}
		file, jobs := scaffold(t, root, options...)
		for name, j := range jobs {
			var got []string
			for scope, access := range j.Permissions {
				got = append(got, scope+":"+access)
			}
			if slices.Sort(got); strings.Join(got, " ") != want[name] {
				t.Errorf("%v: %s may %v, not %q", options, name, got, want[name])
			}
			for _, s := range j.Steps {
				if strings.Contains(s.Run, "${{") {
					t.Errorf("an expression in a command: %s", s.Run)
				}
			}
		}
		if !slices.Equal(slices.Sorted(maps.Keys(jobs)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("%v: jobs %v", options, slices.Sorted(maps.Keys(jobs)))
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "uses:") && !pinned.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("not pinned, or without its version: %s", line)
			}
			if strings.HasPrefix(line, "?") || ofTemplate.MatchString(line) {
				t.Errorf("of the template: %s", line)
			}
		}
		copied := filepath.Join(root, strings.Join(append([]string{"release"}, options...), "-")+".yml")
		if err := os.WriteFile(copied, text, 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, copied)
	}
	cmd := exec.Command("go", append([]string{"tool", "-modfile=test/tools/go.mod", "actionlint", "-color=false"},
		files...)...)
	cmd.Dir = checkout.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
}
