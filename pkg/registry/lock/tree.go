package lock

import (
	"cmp"
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
	dirs  map[string]string   // absolute, by the usual name
	files map[string][]string // sorted, by the usual name of the folder that was walked
	err   error               // of a walk
	known map[string]digest
}

type digest struct {
	stamp folder.Stamp
	text  string
}

func newTree(p *project.Project, root string) *tree {
	return &tree{p: p, root: root, files: map[string][]string{}, known: map[string]digest{}, dirs: map[string]string{
		"tools": p.Tools, "prompts": p.Prompts, "resources": p.Resources, "completions": p.Completions,
		"server.d": p.Server, "providers": p.Providers, "ui": p.UI, "lib": filepath.Join(p.Root, "lib"),
		"config": filepath.Join(p.Root, "config"), skillsKey: filepath.Join(p.Root, skillsKey),
	}}
}

// reset makes the tree look at the disk again.
func (t *tree) reset() {
	clear(t.files)
	t.err = nil
}

// in returns the files of a folder, by its usual name, or with "." the scripts at the root. [tree.digests] returns an
// error of the walk.
func (t *tree) in(name string) []string {
	files, ok := t.files[name]
	switch {
	case ok:
		return files
	case name == ".":
		files = t.scripts()
	default:
		files = t.walk(name, t.dirs[name])
	}
	slices.Sort(files)
	t.files[name] = files
	return files
}

// scripts returns the scripts at the root, without the launcher, which starts this program.
func (t *tree) scripts() (files []string) {
	found, _ := filepath.Glob(filepath.Join(t.p.Root, "*.sh")) // the pattern is valid
	for _, file := range found {
		if file != code.Launcher.In(t.p).Path() {
			files = append(files, filepath.Base(file))
		}
	}
	return files
}

// walk leaves out what Python compiled, which appears while a server runs.
func (t *tree) walk(name, dir string) (files []string) {
	if physical, err := fsys.Physical(dir); err == nil {
		dir = physical
	}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
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
		case len(files) == maxFiles:
			return fmt.Errorf("%s has more than %d files", name, maxFiles)
		}
		files = append(files, label)
		return nil
	})
	t.err = cmp.Or(t.err, err)
	return files
}

// below returns a file, or the files below a folder.
func (t *tree) below(name string) (list []string) {
	first, _, _ := strings.Cut(name, "/")
	if t.dirs[first] == "" {
		return nil
	}
	files := t.in(first)
	if t.has(name) {
		return []string{name}
	}
	from, _ := slices.BinarySearch(files, name+"/")
	for _, file := range files[from:] {
		if !strings.HasPrefix(file, name+"/") {
			break
		}
		list = append(list, file)
	}
	return list
}

func (t *tree) has(file string) bool {
	first, _, _ := strings.Cut(file, "/")
	_, found := slices.BinarySearch(t.in(first), file)
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
	if t.err != nil {
		return nil, t.err
	}
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
