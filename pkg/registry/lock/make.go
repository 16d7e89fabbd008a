package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
)

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
		return slices.DeleteFunc(t.below(unit("tools/"+file)), func(f string) bool { return slices.Contains(names[:], f) })
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

// wholePlaces are the folders whose files belong to the project, not to an item.
var wholePlaces = []string{"server.d", "lib", "providers", "config", "completions"}

// members are files whose content is in the lock, instead of their digests. The items have that of register.json.
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
	for _, place := range wholePlaces {
		files = append(files, slices.DeleteFunc(t.below(place), func(f string) bool {
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
