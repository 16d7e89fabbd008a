package product

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/text/lazyregexp"
)

// A MismatchError means that the lock in a product differs from its files.
type MismatchError struct{ Changes []lock.Change }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s does not match its files: %d differences", lock.FileName, len(e.Changes))
}

// registryDir has the items of a static project. The lock covers them.
const registryDir = ".registry/"

// Lock computes the lock of the project. It does not run register.sh. The error is a [*MismatchError] if the lock in a
// product differs. The lock in a project folder may be old, so it is not compared.
func (p *Product) Lock(ctx context.Context, env project.Env) (*lock.Lock, error) {
	if p.Dir == "" {
		return &lock.Lock{}, nil
	}
	own := project.Env{"MCPBASH_TMP_ROOT": p.work.Path, "PATH": env["PATH"], "HOME": env["HOME"]}
	if _, ok := p.Files[p.Prefix+registryDir+"tools.json"]; ok && p.Kind != kindProject {
		own["MCPBASH_STATIC_REGISTRY"] = "1"
	}
	opened := project.Open(p.Dir, own, p.work.Path, func(string) {})
	now, err := lock.Of(ctx, opened, registry.NewCatalog(opened, registry.Options{ReadOnly: true}), p.Dir)
	if err != nil || p.Kind == kindProject {
		return now, err
	}
	pinned, err := lock.Read(opened)
	if errors.Is(err, fs.ErrNotExist) {
		return now, nil
	}
	if err != nil {
		return nil, err
	}
	if changes := lock.Compare(pinned, now); len(changes) > 0 {
		return now, &MismatchError{changes}
	}
	return now, nil
}

// A FileChange is a file that differs. A file that is missing is the zero File.
type FileChange struct {
	Name          string
	Before, After File
}

// withVersion matches the folders of a wheel, whose names have its version.
var withVersion = lazyregexp.New(`^([^/-]+)-[^/]+(\.data|\.dist-info)/`)

// folders are the folders of a project that every product has.
var folders = []string{"tools", "resources", "prompts", "completions", "server.d", "lib", "providers", "ui", "config"}

// named returns the files by names that can be compared. The name of a project's file is its path in the project.
// Without all, the result contains only the files that every kind of product has.
func (p *Product) named(all bool) map[string]File {
	list := map[string]File{}
	for name, file := range p.Files {
		name, inProject := strings.CutPrefix(name, p.Prefix)
		top, _, _ := strings.Cut(name, "/")
		switch {
		case inProject && (name == lock.FileName || strings.HasPrefix(name, registryDir)):
		case inProject && (all || slices.Contains(folders, top)):
			list[name] = file
		case !inProject && all:
			list[withVersion.ReplaceAllString(name, "$1$2/")] = file
		}
	}
	return list
}

// CompareFiles returns the files that differ, by name.
func CompareFiles(a, b *Product) (list []FileChange) {
	before, after := a.named(a.Kind == b.Kind), b.named(a.Kind == b.Kind)
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before[name] != after[name] {
			list = append(list, FileChange{name, before[name], after[name]})
		}
	}
	return list
}

// Settings returns the settings that a product asks its user for, as a JSON object, or nil.
func (p *Product) Settings() json.RawMessage {
	doc, err := rawjson.Check(p.Document)
	if err != nil {
		return nil
	}
	for _, member := range []string{"user_config", "userConfig"} {
		if v := rawjson.Get(doc, member); v != nil {
			return v
		}
	}
	return nil
}
