package lock

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
)

// A Guard compares a project with its lock while a server runs. It reads the lock once. It is safe for concurrent use.
type Guard struct {
	pinned *Lock
	owner  map[string]bool    // see [owners]
	units  map[string]bool    // units (see [unit]) whose files belong to the project
	items  map[string][]*Item // by their files
	notice func(line string)

	mu      sync.Mutex
	tree    *tree
	printed map[string]reason // the last printed reason for each item
}

type reason struct {
	text string
	err  error
}

// A DriftError is the difference of an item from the lock.
type DriftError struct {
	Item    string // for people
	Reason  error  // why the item could not be compared, or nil
	Changes []Change
}

func (e *DriftError) Error() string {
	reason := "it is not there"
	switch {
	case e.Reason != nil:
		reason = e.Reason.Error()
	case e.Changes[0].Member != "":
		var members []string
		for i := range e.Changes {
			members = append(members, strings.TrimPrefix(e.Changes[i].Member, filesMember+"/"))
		}
		reason = "changed: " + strings.Join(members[:min(3, len(members))], ", ")
	}
	return fmt.Sprintf("%s differs from %s (%s)", e.Item, FileName, reason)
}

// Remedy returns instructions for the user.
func (e *DriftError) Remedy() string {
	return "review it with mcp-bash registry lock --check; then run mcp-bash registry lock, or restore the files"
}

// NewGuard reads the lock of a project. Its error is a [*FileError], or a [*DriftError] if the project itself differs.
func NewGuard(p *project.Project) (*Guard, error) {
	pinned, err := Read(p)
	if err != nil {
		return nil, err
	}
	g := &Guard{pinned: pinned, owner: owners(pinned.Items), units: map[string]bool{}, items: map[string][]*Item{},
		tree: newTree(p, p.Root), printed: map[string]reason{}, notice: func(string) {}}
	for at := range pinned.Items {
		i := &pinned.Items[at]
		for file := range rawjson.All(rawjson.Get(i.JSON, filesMember)) {
			g.items[file] = append(g.items[file], i)
			if i.Kind == Project {
				g.units[unit(file)] = true
			}
		}
	}
	return g, g.checkProject()
}

// Notify sets the function that prints lines for the operator. It must be called before the guard is used.
func (g *Guard) Notify(notice func(line string)) { g.notice = notice }

// checkProject compares the project itself with the lock again. The caller has locked mu, or has the only reference.
func (g *Guard) checkProject() error {
	g.tree.reset()
	now, err := g.tree.project(g.owner, g.units)
	return drift(g.pinned.Find(Project, ""), now, err)
}

// drift returns an error that describes the difference between an item and its pinned state, or nil.
func drift(pinned *Item, now Item, err error) error {
	changes := []Change{{Kind: now.Kind, Name: now.Name}}
	if pinned != nil {
		changes[0].Kind, changes[0].Name = pinned.Kind, pinned.Name
	}
	e := &DriftError{Item: changes[0].Item(), Reason: err, Changes: changes}
	if err == nil && pinned != nil {
		e.Changes = compareItem(*pinned, pinned, &now)
	}
	if len(e.Changes) == 0 {
		return nil
	}
	return e
}

// Withhold returns the reasons why items of a kind are not offered, by name. No item is offered while the project
// itself differs.
func (g *Guard) Withhold(kind *kinds.Kind, items []item.Item) map[string]error {
	g.mu.Lock()
	defer g.mu.Unlock()
	whole := g.report(Project, "no item is offered", g.checkProject())
	withheld := map[string]error{}
	for _, i := range items {
		why := whole
		if why == nil {
			now, err := g.tree.item(kind, i.Name, i.JSON)
			now.Kind, now.Name = kind.Key, i.Name
			why = g.report(kind.Key+" "+i.Name, "it is not offered", drift(g.pinned.Find(kind.Key, i.Name), now, err))
		}
		if why != nil {
			withheld[i.Name] = why
		}
	}
	return withheld
}

// WithholdSkill returns the reason why a skill is not offered, or nil.
func (g *Guard) WithholdSkill(name string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tree.reset()
	now, err := g.tree.skill(name)
	now.Kind, now.Name = skillsKey, name
	return drift(g.pinned.Find(skillsKey, name), now, err)
}

// report prints a reason once, until it changes. It returns the same error for the same reason.
func (g *Guard) report(key, effect string, err error) error {
	if err == nil {
		delete(g.printed, key)
		return nil
	}
	text := err.Error()
	if g.printed[key].text != text {
		g.printed[key] = reason{text, err}
		g.notice("mcp-bash: " + text + "; " + effect + ". Run mcp-bash registry lock --check")
	}
	return g.printed[key].err
}

// Allow returns the reason why files of the project may not be started, or nil. It compares them, the files of their
// items and those of the project itself with the lock.
func (g *Guard) Allow(files ...code.File) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.checkProject()
	for _, file := range files {
		label := g.tree.label(file.Path())
		if err != nil || label == "" {
			continue
		}
		if g.items[label] == nil {
			err = &DriftError{Item: label, Changes: make([]Change, 1)}
		}
		for _, i := range g.items[label] {
			if err = g.checkFiles(i); err != nil {
				break
			}
		}
	}
	if drift, ok := errors.AsType[*DriftError](err); ok {
		return fmt.Errorf("%w; %s", drift, drift.Remedy())
	}
	return nil
}

// checkFiles compares the files of an item with the lock.
func (g *Guard) checkFiles(i *Item) error {
	at := slices.IndexFunc(kinds.All, func(k *kinds.Kind) bool { return k.Key == i.Kind })
	if at < 0 {
		return nil // the project
	}
	files, err := g.tree.digests(g.tree.owned(kinds.All[at], i.Name, i.JSON))
	now := Item{i.Kind, i.Name, rawjson.With(i.JSON, filesMember, json.RawMessage(files))}
	return drift(i, now, err)
}

// label returns the path of a file in the lock, or "" for a file elsewhere.
func (t *tree) label(file string) string {
	name, dir := "", ""
	if fsys.Within(t.p.Root, file) {
		dir = t.p.Root
	}
	for usual, d := range t.dirs {
		if fsys.Within(d, file) && len(d) > len(dir) {
			name, dir = usual, d
		}
	}
	rel, err := filepath.Rel(dir, file)
	if dir == "" || err != nil {
		return ""
	}
	return filepath.ToSlash(filepath.Join(name, rel))
}
