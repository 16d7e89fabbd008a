package scaffold

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project"
	"mcp-bash/share/skills"
)

// A Kind is a kind of item that can be scaffolded in a project.
type Kind string

// The kinds, as they are named on the command line (CLI-601).
const (
	Tool       Kind = "tool"
	Prompt     Kind = "prompt"
	Resource   Kind = "resource"
	Completion Kind = "completion"
	UI         Kind = "ui"
	Skill      Kind = "skill"
)

// skillName is the name of the skill for coding agents (CLI-1145).
const skillName = "mcp-bash"

// A Request describes an item to create.
type Request struct {
	Kind   Kind
	Name   string // empty for Skill, and for a UI that has a Tool
	Tool   string // the tool that a UI belongs to
	Page   bool   // whether a tool also gets a UI
	Force  bool   // whether to replace existing files
	DryRun bool   // whether to only check
}

// An Item is an item that was created.
type Item struct {
	Kind  Kind
	Name  string
	Path  string   // its directory, absolute
	Page  string   // the directory of the tool's UI, or ""
	Files []string // relative to the project's root
	// Registration describes how a completion was registered.
	Registration *Registration
}

// Make creates the files of one item, all or none (CLI-602). It creates the directory under
// a temporary name, so that a running server never reads an incomplete item. It calls warn
// with problems that could stop the item from working.
func Make(ctx context.Context, p *project.Project, r Request, warn func(string)) (item *Item, err error) {
	dir, files, err := plan(p, &r)
	if err != nil {
		return nil, err
	}
	if other := otherPage(p, &r); other != "" {
		return nil, cli.Failf(cli.CodeExists, "%s already is the page of that name", relative(p, other)).
			WithHint("Choose another name, or remove that page.")
	}
	at, rel, err := openFor(ctx, p, dir)
	if err != nil {
		return nil, err
	}
	defer func() { at.close(err) }()
	item = &Item{Kind: r.Kind, Name: r.Name, Path: dir}
	for _, f := range files {
		item.Files = append(item.Files, relative(p, filepath.Join(dir, filepath.FromSlash(f.path))))
	}
	if r.Kind == Tool && r.Page {
		item.Page = filepath.Join(dir, "ui")
	}
	test := newCase(p, &r)
	if test != nil {
		item.Files = append(item.Files, test.path)
	}
	if err := at.putItem(rel, files, r); err != nil || r.DryRun {
		return item, err
	}
	if test != nil {
		if err := putCase(ctx, p, *test); err != nil {
			return nil, err
		}
	}
	if r.Kind == Completion {
		if item.Registration, err = register(ctx, p, r.Name, item.Files[0], warn); err != nil {
			return nil, err
		}
	}
	warnRefused(p, filepath.Join(dir, filepath.FromSlash(files[0].path)), warn)
	return item, nil
}

// warnRefused warns if the server will refuse a file because others can change a directory
// on its path (T-41).
func warnRefused(p *project.Project, path string, warn func(string)) {
	var insecure *trust.InsecureError
	if err := p.CheckPath(path); errors.As(err, &insecure) {
		warn("the server will refuse it: " + insecure.Error())
	}
}

// planSkill plans a skill of the project, or, without a name, the one for coding agents.
func planSkill(p *project.Project, r *Request) (dir string, files []file, err error) {
	switch {
	case r.Name == "" || r.Name == skillName:
		r.Name = skillName
		files = []file{{"SKILL.md", skills.MCPBash, modeFile}}
	case !skill.ValidName(r.Name) || isDevice(r.Name):
		return "", nil, cli.Usagef("Invalid skill name: use 1 to 64 lower-case letters, digits and single dashes")
	default:
		files = render(string(r.Kind), r.Name, "")
	}
	return filepath.Join(skill.Dir(p.Root), r.Name), files, nil
}

func plan(p *project.Project, r *Request) (dir string, files []file, err error) {
	if r.Kind == Skill {
		return planSkill(p, r)
	}
	if r.Kind == UI && r.Tool != "" {
		return planPage(p, r)
	}
	if err := checkName(string(r.Kind), r.Name); err != nil {
		return "", nil, err
	}
	parent := map[Kind]string{
		Tool: p.Tools, Prompt: p.Prompts, Resource: p.Resources, Completion: p.Completions, UI: p.UI,
	}[r.Kind]
	dir = filepath.Join(parent, r.Name)
	files = render(string(r.Kind), r.Name, schemasFrom(p, dir))
	switch {
	case r.Kind == Resource && !fsys.Within(p.Root, p.Resources): // RES-15a
		files[1].text = strings.Replace(files[1].text, "${MCPBASH_PROJECT_ROOT}/resources", "${MCPBASH_RESOURCES_DIR}", 1)
	case r.Kind == UI:
		files = append(render("page", r.Name, schemasFrom(p, dir)), files...)
	case r.Kind == Tool && r.Page:
		for _, f := range render("page", r.Name, schemasFrom(p, filepath.Join(dir, "ui"))) {
			f.path = path.Join("ui", f.path)
			files = append(files, f)
		}
	}
	return dir, files, nil
}

// otherPage returns the directory of a page that would have the same URI as a new one, or "".
func otherPage(p *project.Project, r *Request) (dir string) {
	switch {
	case r.Kind == UI && r.Tool == "":
		dir = filepath.Join(p.Tools, r.Name, "ui")
	case r.Kind == UI:
		dir = filepath.Join(p.UI, r.Tool)
	case r.Kind == Tool && r.Page:
		dir = filepath.Join(p.UI, r.Name)
	}
	if dir == "" || !isDir(dir) {
		return ""
	}
	return dir
}

// planPage is plan for the UI of an existing tool (CLI-608).
func planPage(p *project.Project, r *Request) (dir string, files []file, err error) {
	if r.Name == "" {
		r.Name = r.Tool
	}
	if err := checkName(string(Tool), r.Tool); err != nil {
		return "", nil, err
	}
	if err := checkName(string(UI), r.Name); err != nil {
		return "", nil, err
	}
	tool := filepath.Join(p.Tools, r.Tool)
	if !isDir(tool) {
		return "", nil, cli.Failf(cli.CodeNotFound,
			"Error: Tool directory not found: %s (make it first: mcp-bash scaffold tool %s)", relative(p, tool), r.Tool)
	}
	dir = filepath.Join(tool, "ui")
	files = render("page", r.Name, schemasFrom(p, dir))
	const waiting = "Waiting for a result"
	files[0].text = strings.Replace(files[0].text, waiting, waiting+" of "+r.Tool, 1)
	return dir, files, nil
}

// putItem writes the files of an item, unless it is only to be checked.
func (p *place) putItem(dir string, files []file, r Request) error {
	there, err := p.vacant(dir, files, r)
	if err != nil || r.DryRun {
		return err
	}
	if !there {
		return p.putDir(dir, string(r.Kind), files)
	}
	for _, f := range files {
		f.path = path.Join(dir, f.path)
		if err := p.put(f); err != nil {
			return err
		}
	}
	return nil
}

// vacant reports whether the directory of an item already exists. It returns an error if so,
// unless the files can be written there (CLI-602).
func (p *place) vacant(dir string, files []file, r Request) (there bool, err error) {
	info, err := p.look(dir)
	if err != nil || info == nil {
		return false, err
	}
	if !r.Force {
		return true, taken(p.abs(dir), string(r.Kind))
	}
	if !info.IsDir() {
		return true, inTheWay(p.abs(dir), info)
	}
	for _, f := range files {
		name := path.Join(dir, f.path)
		switch info, err := p.look(name); {
		case err != nil:
			return true, err
		case info == nil:
		case !info.Mode().IsRegular():
			return true, inTheWay(p.abs(name), info)
		}
	}
	return true, nil
}

// relative returns a path relative to the project's root if it is within the root.
func relative(p *project.Project, abs string) string {
	if !fsys.Within(p.Root, abs) {
		return abs
	}
	return filepath.ToSlash(strings.TrimPrefix(abs[len(p.Root):], string(filepath.Separator)))
}

// openFor opens the place for a directory of a project, and returns the path of the directory in it.
func openFor(ctx context.Context, p *project.Project, dir string) (*place, string, error) {
	base := writtenBelow(p, dir)
	rel, err := filepath.Rel(base, dir)
	if err != nil {
		return nil, "", err
	}
	at, err := openPlace(ctx, base)
	return at, filepath.ToSlash(rel), err
}

// writtenBelow returns the directory below which a directory of a project is written. That
// is the project's root, unless the operator has moved the directory elsewhere (CLI-404).
func writtenBelow(p *project.Project, dir string) string {
	if fsys.Within(p.Root, dir) {
		return p.Root
	}
	return filepath.Dir(dir)
}
