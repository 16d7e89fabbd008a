package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/code"
)

// Limits of a project with a lock.
const (
	maxFile  = 64 << 20 // bytes of a file
	maxFiles = 20_000
)

// A tree finds the files of a project, and remembers the digests of unchanged files. Their paths begin with the usual
// name of their folder, such as tools, wherever it is. It is not safe for concurrent use.
type tree struct {
	p     *project.Project
	root  string
	dirs  map[string]string // absolute, by the usual name
	files []string          // sorted
	known map[string]digest
}

type digest struct {
	stamp folder.Stamp
	text  string
}

func newTree(p *project.Project, root string) *tree {
	return &tree{p: p, root: root, known: map[string]digest{}, dirs: map[string]string{
		"tools": p.Tools, "prompts": p.Prompts, "resources": p.Resources, "completions": p.Completions,
		"server.d": p.Server, "providers": p.Providers, "ui": p.UI, "lib": filepath.Join(p.Root, "lib"),
		"config": filepath.Join(p.Root, "config"), skillsKey: filepath.Join(p.Root, skillsKey),
	}}
}

// walk finds all files again. Scripts at the root of the project are among them.
func (t *tree) walk() error {
	t.files = t.files[:0]
	for name, dir := range t.dirs {
		if err := t.add(name, dir); err != nil {
			return err
		}
	}
	scripts, _ := filepath.Glob(filepath.Join(t.p.Root, "*.sh")) // the pattern is valid
	for _, script := range scripts {
		if script != code.Launcher.In(t.p).Path() { // it starts this program
			t.files = append(t.files, filepath.Base(script))
		}
	}
	slices.Sort(t.files)
	return nil
}

// add adds the files of a folder. It leaves out what Python compiled, which appears while a server runs.
func (t *tree) add(name, dir string) error {
	if physical, err := fsys.Physical(dir); err == nil {
		dir = physical
	}
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, file)
		label := path.Join(name, filepath.ToSlash(rel))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", label, fsys.Cause(err))
		case e.IsDir() && e.Name() == "__pycache__":
			return fs.SkipDir
		case e.IsDir():
			return nil
		case len(t.files) == maxFiles:
			return fmt.Errorf("the project has more than %d files", maxFiles)
		}
		t.files = append(t.files, label)
		return nil
	})
}

// below returns a file, or the files below a folder. "." means the files at the root.
func (t *tree) below(name string) (list []string) {
	if name == "." {
		return slices.DeleteFunc(slices.Clone(t.files), func(f string) bool { return strings.Contains(f, "/") })
	}
	if t.has(name) {
		return []string{name}
	}
	from, _ := slices.BinarySearch(t.files, name+"/")
	for _, file := range t.files[from:] {
		if !strings.HasPrefix(file, name+"/") {
			break
		}
		list = append(list, file)
	}
	return list
}

func (t *tree) has(file string) bool {
	_, found := slices.BinarySearch(t.files, file)
	return found
}

// path returns the path of a file on this machine.
func (t *tree) path(file string) string {
	first, rest, _ := strings.Cut(file, "/")
	if dir := t.dirs[first]; dir != "" {
		return filepath.Join(dir, filepath.FromSlash(rest))
	}
	return filepath.Join(t.p.Root, filepath.FromSlash(file))
}

func (t *tree) read(file string) ([]byte, error) { return t.p.ReadFile(t.path(file), maxFile) }

// digests returns an object with the digest of each file.
func (t *tree) digests(files []string) (json.RawMessage, error) {
	slices.Sort(files)
	var b rawjson.Builder
	b.Object()
	for _, file := range slices.Compact(files) {
		text, err := t.digest(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		b.Name(file).String(text)
	}
	return b.End().Bytes(), nil
}

// digest returns the digest of a file. It reads a file again unless its stamp proves that it is unchanged. A link can
// lead to a file in the project, and is always read again.
func (t *tree) digest(file string) (string, error) {
	full := t.path(file)
	stamp := folder.StampOfPath(full)
	if old, ok := t.known[file]; ok && old.stamp == stamp {
		return old.text, nil
	}
	delete(t.known, file)
	now := time.Now()
	text, err := t.p.ReadFile(full, maxFile)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	d := digest{stamp, "sha256:" + hex.EncodeToString(sum[:])}
	if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() && stamp.Settled(now) &&
		folder.StampOfPath(full) == stamp {
		t.known[file] = d
	}
	return d.text, nil
}
