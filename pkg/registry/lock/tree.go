package lock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
)

// Limits of a project with a lock.
const (
	maxFile  = 64 << 20 // bytes of a file
	maxFiles = 20_000
)

// A tree finds the files of a project, and remembers the digests of unchanged files. A path begins with the usual name
// of its folder, such as tools, even if a setting moves the folder. A tree is not safe for concurrent use.
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

// reset makes the tree read the disk again.
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

// walk leaves out compiled files of Python, which appear while a server runs.
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

// Of returns the lock of a project as it is now. The catalog lists its items. root is the directory of the project
// before it was staged, or its root; no path below it is in the lock. The error names a file that cannot be locked, or
// is a [*registry.Failure].
func Of(ctx context.Context, p *project.Project, catalog *registry.Catalog, root string) (*Lock, error) {
	t := newTree(p, root)
	var items []Item
	for _, kind := range kinds.All {
		list, err := catalog.List(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, i := range list.Items {
			locked, err := t.item(kind, i.Name, i.JSON)
			if err != nil {
				return nil, err
			}
			items = append(items, locked)
		}
	}
	for _, name := range t.skills() {
		skill, err := t.skill(name)
		if err != nil {
			return nil, err
		}
		items = append(items, skill)
	}
	whole, err := t.project(owners(items), nil)
	if err != nil {
		return nil, err
	}
	return newLock(append(items, whole)), nil
}

// item returns an item of the registry with the digests of its files.
func (t *tree) item(kind *kinds.Kind, name string, entry json.RawMessage) (Item, error) {
	entry = registry.Moved(t.p, entry, t.root)
	digests, err := t.digests(t.owned(kind, name, entry))
	if err != nil {
		return Item{}, fmt.Errorf("%s %s: %w", kind.Noun, name, err)
	}
	var b rawjson.Builder
	b.Object().Members(entry, "uriAuto", filesMember)
	return Item{kind.Key, name, rawjson.AppendCanonical(nil, b.Name(filesMember).Raw(digests).End().Bytes())}, nil
}

// owned returns the files of an item, by their paths in the lock. filesMember of tools and pages are all files of the
// folder at the top of tools/ or ui/. Other items have one file, and its completion scripts.
func (t *tree) owned(kind *kinds.Kind, name string, entry json.RawMessage) []string {
	file := rawjson.TextOf(entry, "path")
	switch kind {
	case kinds.Tools:
		names := item.MetadataNames("tools/" + file) // the item has their content
		return slices.DeleteFunc(t.below(unit("tools/"+file)), func(f string) bool { return slices.Contains(names, f) })
	case kinds.UIResources:
		return slices.Concat(t.below("ui/"+name), t.below("tools/"+name+"/ui"))
	case kinds.Completions:
		return t.below(file)
	case kinds.Prompts:
		return t.existing("prompts", append(kinds.Sidecars(file), file))
	case kinds.Resources:
		return t.existing("resources", append(kinds.Sidecars(file), file))
	}
	return t.existing("resources", kinds.TemplateSidecars(name))
}

// unit returns the first two parts of a path: "tools/add" for "tools/add/lib/x.sh".
func unit(file string) string {
	parts := strings.SplitN(path.Clean(file), "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func (t *tree) existing(dir string, files []string) (list []string) {
	for _, file := range files {
		if file = path.Join(dir, file); t.has(file) {
			list = append(list, file)
		}
	}
	return list
}

// skills returns the names of the folders in skills/.
func (t *tree) skills() []string {
	names := map[string]bool{}
	for _, file := range t.below(skillsKey) {
		if u := unit(file); u != file {
			names[path.Base(u)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// skill returns a skill with its front matter as text, and the digests of its files.
func (t *tree) skill(name string) (Item, error) {
	digests, err := t.digests(t.below(skillsKey + "/" + name))
	if err != nil {
		return Item{}, fmt.Errorf("skill %s: %w", name, err)
	}
	var b rawjson.Builder
	b.Object().Name("name").String(name)
	if text, err := t.read(skillsKey + "/" + name + "/SKILL.md"); err == nil {
		matter, _, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---")
		b.Name("frontmatter").String(matter)
	}
	return Item{skillsKey, name, rawjson.AppendCanonical(nil, b.Name(filesMember).Raw(digests).End().Bytes())}, nil
}

// sharedFolders are the folders whose files belong to the project and not to one item.
var sharedFolders = []string{"server.d", "lib", "providers", "config", "completions"}

// members are files whose content is in the lock, instead of their digests. For register.json it is in the items.
var members = []string{"server.d/server.meta.json", "server.d/server.instructions.md", "server.d/register.json",
	"config/roots.json"}

// owners returns the files of completions, and the units of tools and pages. They do not belong to the project.
func owners(items []Item) map[string]bool {
	owner := map[string]bool{}
	for _, i := range items {
		for file := range rawjson.All(rawjson.Get(i.JSON, filesMember)) {
			switch i.Kind {
			case kinds.Completions.Key:
				owner[file] = strings.HasPrefix(file, "completions/")
			case kinds.Tools.Key, kinds.UIResources.Key:
				owner[unit(file)] = true
			}
		}
	}
	return owner
}

// project returns the project as an item, with the files that belong to none of the other items. Below tools and ui,
// these are the files of the units. A nil map means all units without an owner.
func (t *tree) project(owner, units map[string]bool) (Item, error) {
	files := slices.Clone(t.in("."))
	for _, folder := range sharedFolders {
		files = append(files, slices.DeleteFunc(t.below(folder), func(f string) bool {
			return owner[f] || slices.Contains(members, f)
		})...)
	}
	for _, file := range slices.Concat(t.below("tools"), t.below("ui")) {
		if u := unit(file); !owner[u] && (units == nil || units[u]) {
			files = append(files, file)
		}
	}
	digests, err := t.digests(files)
	if err != nil {
		return Item{}, err
	}
	var b rawjson.Builder
	b.Object()
	for name, file := range map[string]code.File{"meta": code.ServerMeta.In(t.p), "roots": code.RootsFile.In(t.p)} {
		text, err := t.p.ReadSetting(file, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			text, err = rawjson.Check(text)
		}
		if err != nil {
			return Item{}, fmt.Errorf("%s: %w", file.Path(), err)
		}
		var v rawjson.Builder
		if rawjson.KindOf(text) == rawjson.Object {
			text = v.Object().Members(text, "locked").End().Bytes()
		}
		b.Name(name).Raw(text)
	}
	b.Optional("instructions", t.p.Meta.Instructions)
	return Item{Project, "", rawjson.AppendCanonical(nil, b.Name(filesMember).Raw(digests).End().Bytes())}, nil
}
