package main

import (
	"os"
	"path/filepath"
	"testing"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/npm"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
)

// runtimePackage makes the package with the programs for a system, as releases do, and returns its archive. The folder
// contains the program at its path in a bundle.
func runtimePackage(t *testing.T, dir string, target runtimes.Target) string {
	t.Helper()
	tree := filepath.Join(t.TempDir(), "tree")
	if err := os.CopyFS(filepath.Join(tree, "sdk"), os.DirFS(filepath.Join(repo(t), "sdk"))); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, filepath.FromSlash(target.Path()))
	if err := os.CopyFS(filepath.Join(tree, "bin"), os.DirFS(filepath.Dir(program))); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files, err := mcpb.Folder(root)
	if err != nil {
		t.Fatal(err)
	}
	p := npm.Runtime(npm.RuntimePrefix, target, stage.Identity{Version: cli.Version, License: "MIT"}, files)
	out, err := os.Create(filepath.Join(t.TempDir(), p.FileName()+".tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}

// A release makes the packages with the programs from folders.
func TestRuntimePackage(t *testing.T) {
	dir, err := server()
	if err != nil {
		t.Fatal(err)
	}
	want := "mcp-bash-runtime-" + runtimes.Host.Node() + "-" + cli.Version + ".tgz"
	if file := runtimePackage(t, dir, runtimes.Host); filepath.Base(file) != want {
		t.Error(file)
	}
}
