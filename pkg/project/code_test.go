//go:build unix

package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Settings move code. Git's hooks are where Git finds them: in the repository
// around the project, and for a worktree elsewhere (CF-14).
func TestRunsNext(t *testing.T) {
	root := place(t, map[string]string{
		"main/.git/worktrees/w/commondir": "../..\n", "main/.git/hooks/x": "", "repo/.git/config": "", "repo/p/x": "",
		"repo/lib": "", "odd/.git": "gitdir: \n", "repo/p/own.sh": "",
	})
	for name, text := range map[string]string{
		"tree/.git": "gitdir: " + root + "/main/.git/worktrees/w\n", "near/.git": "gitdir: ../main/.git/worktrees/w",
	} {
		file := filepath.Join(root, name)
		os.Mkdir(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const shared = "main/.git"
	for project, want := range map[string][]string{
		"main": {"main/.git"}, "repo/p": {"repo/.git", "repo/p/own.sh", "repo/manifest.json", "elsewhere", "home/.bashrc"},
		"tree": {"tree/.git", "main/.git/worktrees/w", shared}, "near": {"near/.git", "main/.git/worktrees/w", shared},
		"odd": {"odd/.git", "odd/mcpb.conf"},
	} {
		env := Env{"MCPBASH_PROMPTS_DIR": root + "/elsewhere", "HOME": root + "/home"}
		p := &Project{Root: filepath.Join(root, project), Env: env}
		p.Dirs = findDirs(p.Root, env, root)
		got := p.RunsNext()
		for _, path := range want {
			if !slices.Contains(got, filepath.Join(root, path)) {
				t.Errorf("%s: %s is not in %q", project, path, got)
			}
		}
		if slices.Contains(got, p.Root+"/prompts") || slices.Contains(got, p.Root) {
			t.Errorf("%s: %q", project, got)
		}
	}
}
