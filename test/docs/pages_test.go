//go:build unix

package docs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
	"mcp-bash/test/page"
)

// The commands in the pages work, and print the output that the pages show. The first line
// of a block decides:
//
//	sh               runs the block, as if typed
//	LANGUAGE output  is the output of the previous block
//	LANGUAGE FILE    is the content of a file that the reader creates
//
// The test ignores other blocks.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		"ASKING", "BUNDLES", "CLIENTS", "COMPLETION", "DEPLOY", "GETTING-STARTED", "IMPORTING", "LARGE-RESULTS",
		"MCP-APPS", "OPERATIONS", "PLUGINS", "PROJECT-STRUCTURE", "PROMPTS", "RECIPES", "REGISTRY", "RESOURCES", "ROOTS",
		"SCAFFOLDING", "SECURITY", "SKILLS", "TESTING", "TROUBLESHOOTING", "VALIDATE", "WRITING-PROVIDERS", "WRAPPING",
		"WRITING-TOOLS",
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			runPage(t, filepath.Join(checkout.Root(), "docs", page+".md"), checkout.Directory(t), checkout.Directory(t))
		})
	}
	t.Run("README", func(t *testing.T) {
		t.Parallel()
		home := checkout.Directory(t)
		scripts := os.DirFS(filepath.Join(checkout.Root(), "test", "demo", "scripts"))
		if err := os.CopyFS(filepath.Join(home, "scripts"), scripts); err != nil {
			t.Fatal(err)
		}
		runPage(t, filepath.Join(checkout.Root(), "README.md"), checkout.Directory(t), home)
	})
	t.Run("the skill", func(t *testing.T) { // CLI-1145
		t.Parallel()
		skill := filepath.Join(checkout.Root(), "share", "skills", "mcp-bash", "SKILL.md")
		runPage(t, skill, checkout.Directory(t), checkout.Directory(t))
	})
	examples, err := os.ReadDir(filepath.Join(checkout.Root(), "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			readme := filepath.Join(checkout.Root(), "examples", e.Name(), "README.md")
			runPage(t, readme, checkout.Example(t, e.Name()), checkout.Directory(t))
		})
	}
}

// runPage runs the blocks of a page in dir, by a person with this home.
func runPage(t *testing.T, file, dir, home string) {
	printed, ran := "", 0
	blocks, err := page.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		switch {
		case b.Language == "sh":
			printed, dir = runBlock(t, file, b, dir, home)
			ran++
		case b.Argument == "output":
			if b.Text != printed {
				t.Errorf("%s:%d: printed\n%s\nnot\n%s", file, b.Line, printed, b.Text)
			}
		case b.Argument != "":
			made := filepath.Join(dir, filepath.FromSlash(b.Argument))
			err := errors.Join(os.MkdirAll(filepath.Dir(made), 0o755), os.WriteFile(made, []byte(b.Text), 0o644))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if ran == 0 {
		t.Errorf("%s: nothing to run", file)
	}
}

// runBlock types a block into a shell. It returns the output and the folder at the end.
func runBlock(t *testing.T, file string, b page.Block, dir, home string) (printed, end string) {
	t.Helper()
	place := filepath.Join(home, "place")
	cmd := shell(t, dir, home, "set -eu; umask 022\n"+b.Text+"printf %s \"$PWD\" >"+place)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s:%d: %v\n%s%s", file, b.Line, err, out, &stderr)
	}
	here, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), string(here)
}
