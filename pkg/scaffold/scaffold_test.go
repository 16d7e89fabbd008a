package scaffold

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/schemas"
)

// All files of the templates are written, and the results are valid: JSON and scripts parse,
// and no placeholder remains (CLI-603).
func TestTemplates(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := templates.ReadDir("templates")
	if err != nil || len(entries) != len(parts) {
		t.Fatalf("%d directories for %d templates, %v", len(entries), len(parts), err)
	}
	for template, names := range parts {
		var found []string
		dir := path.Join("templates", template)
		fs.WalkDir(templates, dir, func(at string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, strings.TrimPrefix(at, dir+"/"))
			}
			return err
		})
		if names := slices.Sorted(slices.Values(names)); !slices.Equal(found, names) {
			t.Errorf("%s: %q in the directory, %q written", template, found, names)
		}
		for _, f := range render(template, "my-thing", "../.schemas") {
			if strings.Contains(f.text, "__") || strings.Contains(f.path, "NAME") || !strings.HasSuffix(f.text, "\n") {
				t.Errorf("%s: %s is not filled in", template, f.path)
			}
			switch path.Ext(f.path) {
			case ".json":
				var v map[string]any
				if err := json.Unmarshal([]byte(f.text), &v); err != nil {
					t.Errorf("%s: %s: %v", template, f.path, err)
				}
				name := strings.TrimSuffix(path.Base(v["$schema"].(string)), schemas.File(""))
				for _, fault := range schemas.Compile(name).Check([]byte(f.text)) { // CLI-508
					t.Errorf("%s: %s: %s", template, f.path, fault)
				}
			case ".sh":
				cmd := exec.Command(bash, "-n")
				cmd.Stdin = strings.NewReader(f.text)
				out, err := cmd.CombinedOutput()
				isScript := template != "session" // a sourced file
				if err != nil || (f.mode == modeScript) != isScript ||
					strings.HasPrefix(f.text, "#!/usr/bin/env bash\n") != isScript {
					t.Errorf("%s: %s: %v, mode %o\n%s", template, f.path, err, f.mode, out)
				}
			}
		}
	}
}

// A server can have any name, because it is encoded as JSON (CLI-506).
func FuzzServerName(f *testing.F) {
	for _, name := range []string{
		"demo", `a "b" \`, "__TITLE_JSON__", "__NAME__", "a\x00\n", "\xff", "", "\u2028", "<!--",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, f := range render("server", name, "") {
			var meta struct{ Name, Title string }
			if err := json.Unmarshal([]byte(f.text), &meta); err != nil {
				t.Fatalf("%v in\n%s", err, f.text)
			}
			if !utf8.ValidString(meta.Name) || utf8.ValidString(name) && meta.Name != name {
				t.Errorf("%q became %q", name, meta.Name)
			}
		}
	})
}

// checkName accepts only names that every client and file system accepts (CLI-407).
func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"a": true, "A-b_9": true, "-": true, strings.Repeat("x", 64): true, "console": true, "COM": true, "COM10": true,
		"": false, strings.Repeat("x", 65): false, "a.b": false, "a/b": false, `a\b`: false, "..": false, "a b": false,
		"é": false, "a\n": false, "CON": false, "nul": false, "Com1": false, "lpt9": false,
	} {
		err := checkName("tool", name)
		var e *cli.Error
		if good != (err == nil) || err != nil && (!errors.As(err, &e) || e.Exit != cli.ExitUsage) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// An ending is a context that is cancelled after its error was read a number of times.
type ending struct {
	context.Context
	left int
}

var errEnded = errors.New("ended")

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return errEnded
	}
	return nil
}

// A signal at any moment leaves everything or nothing created, and existing files unchanged
// (CLI-110, CLI-602).
func TestInterrupted(t *testing.T) {
	quiet, done := func(string) {}, func(*Server) error { return nil }
	makeOne := func(r Request) func(context.Context, string) error {
		return func(ctx context.Context, root string) error {
			p := project.Open(root, project.Env{}, root, quiet)
			_, err := Make(ctx, p, r, quiet)
			return err
		}
	}
	for name, make := range map[string]func(ctx context.Context, root string) error{
		"tool":       makeOne(Request{Kind: Tool, Name: "new", Page: true}),
		"prompt":     makeOne(Request{Kind: Prompt, Name: "new"}),
		"completion": makeOne(Request{Kind: Completion, Name: "new"}),
		"ui":         makeOne(Request{Kind: UI, Tool: "old"}),
		"new": func(ctx context.Context, root string) error {
			_, err := New(ctx, root, "other", true, done)
			return err
		},
		"init": func(ctx context.Context, root string) error {
			_, err := Init(ctx, filepath.Join(root, "tools"), "", true, quiet, done)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.Chmod(root, 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := Init(t.Context(), root, "demo", false, quiet, done); err != nil {
				t.Fatal(err)
			}
			if err := makeOne(Request{Kind: Tool, Name: "old"})(t.Context(), root); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "tools", gitignore), []byte("mine\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			before := list(t, root)
			for n := 0; ; n++ {
				err := make(&ending{context.Background(), n}, root)
				if err == nil {
					if n == 0 {
						t.Error("it could not be interrupted")
					}
					break
				}
				if !errors.Is(err, errEnded) {
					t.Fatalf("after %d: %v", n, err)
				}
				if after := list(t, root); !slices.Equal(before, after) {
					t.Fatalf("after %d: %q, not %q", n, after, before)
				}
			}
			after := list(t, root)
			temporary := func(f string) bool { return strings.Contains(f, ".new-") }
			if len(after) <= len(before) || slices.ContainsFunc(after, temporary) {
				t.Errorf("%q", after)
			}
		})
	}
}

// list returns the files in a directory with their texts, except the registry, which any
// command can create.
func list(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".registry" {
			return filepath.SkipDir
		}
		text, _ := os.ReadFile(at) // nothing of a directory
		found = append(found, strings.TrimPrefix(at, dir)+": "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// WRAP-41, CLI-712: a change that a person makes while an update is shown is kept and
// reported.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t.Context(), dir)
	var err error
	defer w.close(&err)
	was := "as it was read"
	for _, there := range []string{"theirs", ""} {
		if there != "" {
			err = os.WriteFile(filepath.Join(dir, "file"), []byte(there), 0o600)
		} else {
			err = os.Remove(filepath.Join(dir, "file"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := w.replace(filepath.Join(dir, "file"), was, "ours"); err == nil || !strings.Contains(err.Error(),
			"changed in the meantime") {
			t.Errorf("%q: %v", there, err)
		}
		if text, _ := os.ReadFile(filepath.Join(dir, "file")); string(text) != there {
			t.Errorf("%q, and it was %q", text, there)
		}
	}
}

// CLI-602: after an error, replaced files have their old text and mode, and new files and directories are gone.
func TestUndo(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := list(t, dir)
	w := newWriter(t.Context(), dir)
	f := file{"file", "ours", modeScript}
	err := errors.Join(w.put(old, f), w.put(filepath.Join(dir, "a", "b", "new"), f),
		w.putDir(filepath.Join(dir, "c", "item"), "item", []file{f}))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(old); err != nil || info.Mode().Perm() != modeScript {
		t.Errorf("%v %v, want the mode %v", info, err, modeScript)
	}
	err = errEnded
	w.close(&err)
	if after := list(t, dir); !slices.Equal(before, after) {
		t.Errorf("%q, want %q", after, before)
	}
	if info, err := os.Stat(old); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v, want the old mode", info, err)
	}
}
