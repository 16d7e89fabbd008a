package clients

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mcp-bash/pkg/clients/editors"
	"mcp-bash/pkg/project"
)

// CLI-712: if the path is a symbolic link, its target is replaced and the link is kept.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles", "real.json")
	link := filepath.Join(dir, "home", "config.json")
	for _, path := range []string{real, link} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../dotfiles/real.json", link); err != nil {
		t.Skip(err)
	}
	r := request(t, "cursor")
	r.File = link
	if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "a link that leads nowhere") {
		t.Error(err)
	}
	writeFile(t, real, "{}")
	change := apply(t, r, Added)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if !strings.Contains(readFile(t, real), "demo") || filepath.Base(change.Backup) != "real.json.mcp-bash.bak" ||
		readFile(t, change.Backup) != "{}" {
		t.Errorf("%s, %s", readFile(t, real), change.Backup)
	}

	// A directory on the path can be a link, too, and directories of its target can be missing.
	if err := os.Symlink("dotfiles", filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	r.File = filepath.Join(dir, "away", "deep", "er", "file.json")
	apply(t, r, Added)
	if !strings.Contains(readFile(t, filepath.Join(dir, "dotfiles", "deep", "er", "file.json")), "demo") {
		t.Error("not where the link leads")
	}
	r.File = filepath.Join(real, "file.json")
	if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Error(err)
	}
}

// CLI-712: symbolic links in a project cannot redirect an edit to files elsewhere.
func TestProjectLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, outside := filepath.Join(dir, "project"), filepath.Join(dir, "outside")
	for _, path := range []string{root, outside, filepath.Join(root, "inner")} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(outside, "mcp.json"), "{}")
	r := request(t, "cursor")
	r.File, r.Place, r.Scope = "", Place{Open: editors.Open, System: "linux", Root: root}, ProjectScope
	at := filepath.Join(root, ".cursor")
	for _, lead := range []string{outside, "../outside"} {
		if err := os.Symlink(lead, at); err != nil {
			t.Skip(err)
		}
		if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
			t.Errorf("%s: %v", lead, err)
		}
		os.Remove(at)
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../outside/mcp.json", filepath.Join(at, "mcp.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
		t.Error(err)
	}
	if readFile(t, filepath.Join(outside, "mcp.json")) != "{}" {
		t.Error("a file outside was written")
	}
	if err := os.RemoveAll(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("inner", at); err != nil {
		t.Fatal(err)
	}
	apply(t, r, Added)
	if !strings.Contains(readFile(t, filepath.Join(root, "inner", "mcp.json")), "demo") {
		t.Error("not in the project")
	}
}

// CLI-1710: an entry has the path of the link that install.sh replaces at an upgrade, and not the folder of one
// version.
func TestFindCommandOfVersion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("install.sh makes no link")
	}
	share := t.TempDir()
	link, tree := filepath.Join(share, "mcp-bash"), filepath.Join(share, "mcp-bash.versions", "2.0.0.1.1")
	err := errors.Join(os.MkdirAll(filepath.Join(tree, "bin"), 0o755), os.Symlink(tree, link),
		os.WriteFile(filepath.Join(tree, "bin", "mcp-bash"), nil, 0o755))
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{tree, link} {
		got, err := FindCommand(project.Env{"MCPBASH_HOME": home})
		if want := filepath.Join(link, "bin", "mcp-bash"); err != nil || got != want {
			t.Errorf("%s: %s, %v", home, got, err)
		}
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	got, err := FindCommand(project.Env{"MCPBASH_HOME": tree})
	if want := filepath.Join(tree, "bin", "mcp-bash"); err != nil || got != want {
		t.Errorf("without a link: %s, %v", got, err)
	}
}
