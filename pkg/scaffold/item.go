// Package scaffold creates projects, and tools, prompts, resources, completions, pages and
// tests in them, from embedded templates (cli chapters 5 and 6). The created files work
// without changes.
package scaffold

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/registration"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/toolnames"
	"mcp-bash/schemas"
	"mcp-bash/share/skills"
)

// A Kind is a kind of item that can be scaffolded in a project.
type Kind string

// The kinds, as they are named on the command line.
const (
	Tool       Kind = "tool"
	Prompt     Kind = "prompt"
	Resource   Kind = "resource"
	Completion Kind = "completion"
	UI         Kind = "ui"
	Skill      Kind = "skill"
	Release    Kind = "release"
)

// skillName is the name of the skill for coding agents.
const skillName = "mcp-bash"

// A Request describes an item to create.
type Request struct {
	Kind   Kind
	Name   string // empty for Skill and Release, and for a UI that has a Tool
	Tool   string // the tool that a UI belongs to
	Page   bool   // whether a tool also gets a UI
	Force  bool   // whether to replace existing files
	DryRun bool   // whether to only check

	NoNPM, NoPyPI, NoImage bool // whether a Release leaves out this part
}

// An Item is an item that was created.
type Item struct {
	Kind  Kind     `json:"kind"`
	Name  string   `json:"name"`
	Path  string   `json:"path"`         // its directory, absolute
	Files []string `json:"files"`        // relative to the project's root
	Page  string   `json:"ui,omitempty"` // the directory of the tool's UI, or ""
	// Registration describes how a completion was registered.
	Registration *Registration `json:"registration,omitempty"`
}

// newItem returns an item with files in a directory.
func newItem(p *project.Project, kind Kind, name, dir string, files []file) *Item {
	item := &Item{Kind: kind, Name: name, Path: dir}
	for _, f := range files {
		item.Files = append(item.Files, relative(p, filepath.Join(dir, filepath.FromSlash(f.path))))
	}
	return item
}

// Make creates the files of one item, all or none. It calls warn with problems that could stop the item from working.
func Make(ctx context.Context, p *project.Project, r Request, warn func(string)) (item *Item, err error) {
	dir, files, err := plan(p, &r)
	if err != nil {
		return nil, err
	}
	if other := otherPage(p, &r); other != "" && isDir(other) {
		return nil, cli.Failf(cli.CodeExists, "%s already is the page of that name", relative(p, other)).
			WithHint("Choose another name, or remove that page.")
	}
	w := writerFor(ctx, p, r.DryRun)
	defer w.close(&err)
	item = newItem(p, r.Kind, r.Name, dir, files)
	if r.Kind == Release && !r.Force { // next to other workflows
		return item, w.putNew(filepath.Join(dir, files[0].path), files[0])
	}
	if err := w.putItem(dir, string(r.Kind), files, r.Force); err != nil {
		return nil, err
	}
	if r.Kind == Tool {
		if r.Page {
			item.Page = filepath.Join(dir, "ui")
		}
		if err := putCase(w, p, item, r.Force); err != nil {
			return nil, err
		}
	}
	if r.DryRun {
		return item, nil
	}
	if r.Kind == Completion {
		if item.Registration, err = register(ctx, p, r.Name, item.Files[0], warn); err != nil {
			return nil, err
		}
	}
	warnRefused(p, filepath.Join(dir, filepath.FromSlash(files[0].path)), warn)
	return item, nil
}

// putCase writes the first test case of a new tool. An existing one is kept.
func putCase(w *writer, p *project.Project, item *Item, force bool) error {
	dir := filepath.Join(p.Root, project.TestsDir)
	f := render("case", item.Name, schemasFrom(p, dir))[0]
	at := filepath.Join(dir, f.path)
	if !force && isThere(at) {
		return nil
	}
	item.Files = append(item.Files, relative(p, at))
	return w.put(at, f)
}

// warnRefused warns if the server will refuse a file because others can change a directory on its path.
func warnRefused(p *project.Project, path string, warn func(string)) {
	if insecure, ok := errors.AsType[*trust.InsecureError](p.CheckPath(path)); ok {
		warn("the server will refuse it: " + insecure.Error())
	}
}

// plan returns the directory of an item and its files.
func plan(p *project.Project, r *Request) (dir string, files []file, err error) {
	parent := map[Kind]string{Tool: p.Tools, Prompt: p.Prompts, Resource: p.Resources, Completion: p.Completions,
		UI: p.UI, Skill: skill.Dir(p.Root)}[r.Kind]
	switch {
	case r.Kind == Skill && (r.Name == "" || r.Name == skillName):
		r.Name = skillName
		return filepath.Join(parent, skillName), []file{{"SKILL.md", skills.MCPBash, modeFile}}, nil
	case r.Kind == Skill && (!skill.ValidName(r.Name) || devices.MatchString(r.Name)):
		return "", nil, cli.Usagef("Invalid skill name: use 1 to 64 lower-case letters, digits and single dashes")
	case r.Kind == UI && r.Tool != "":
		return planPage(p, r)
	case r.Kind == Release:
		return planRelease(p, r)
	case r.Kind != Skill:
		err = checkName(string(r.Kind), r.Name)
	}
	if err != nil {
		return "", nil, err
	}
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
func otherPage(p *project.Project, r *Request) string {
	switch {
	case r.Kind == UI && r.Tool == "":
		return filepath.Join(p.Tools, r.Name, "ui")
	case r.Kind == UI:
		return filepath.Join(p.UI, r.Tool)
	case r.Kind == Tool && r.Page:
		return filepath.Join(p.UI, r.Name)
	}
	return ""
}

// planPage is plan for the UI of an existing tool.
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

// A Registration describes how a completion was registered.
type Registration struct {
	File       string          `json:"file"` // register.json
	Registered bool            `json:"registered"`
	Entry      json.RawMessage `json:"entry,omitempty"` // the entry that must be added by hand
	Known      bool            `json:"-"`               // the entry already existed
}

// completionTimeout is how long a scaffolded completion may take, in seconds.
const completionTimeout = 5

// register adds a completion to register.json. If there is only a register.sh, a
// register.json would disable it, so register returns the entry for the person to add.
func register(ctx context.Context, p *project.Project, name, script string, warn func(string)) (*Registration, error) {
	var b rawjson.Builder
	entry := b.Object().Name("name").String(name).Name("path").String(script).
		Name("timeoutSecs").Int(completionTimeout).End().Bytes()
	file := filepath.Join(p.Server, "register.json")
	if hook := filepath.Join(p.Server, "register.sh"); !isThere(file) && isThere(hook) {
		warn("register.json takes precedence over " + relative(p, hook) +
			"; have that one register the completion, or move everything to register.json")
		return &Registration{File: file, Entry: entry}, nil
	}
	known, err := registration.NewProject(p, registry.Options{}).RegisterCompletion(ctx, name, entry)
	if refused, ok := errors.AsType[*registration.Error](err); ok {
		return nil, cli.Failf(cli.CodeInvalid, "%s", refused.Message)
	}
	if failure, ok := errors.AsType[*registry.Failure](err); ok {
		return nil, &cli.Error{Code: cli.CodeTimeout, Cause: failure, Exit: cli.ExitUsage}
	}
	return &Registration{File: file, Registered: true, Known: known}, err
}

// checkName returns an error for an invalid name. The kind of item, what, is "server", "tool", ...
func checkName(what, name string) error {
	switch {
	case IsFileName(name):
		return nil
	case toolnames.IsPortable(name):
		return cli.Usagef("Invalid %s name: %s is a device on Windows; choose another", what, name)
	}
	return cli.Usagef("Invalid %s name: use 1 to 64 letters, digits, underscores and dashes. "+
		"A path is not a name, and some clients, such as Claude Desktop, reject dots.", what)
}

// IsFileName reports whether a name is a valid file name on every system.
func IsFileName(name string) bool { return toolnames.IsPortable(name) && !devices.MatchString(name) }

// devices matches the names that Windows reserves for devices, in every directory.
var devices = lazyregexp.New(`^(?i:CON|PRN|AUX|NUL|(?:COM|LPT)[1-9])$`)

// relative returns a path relative to the project's root if it is within the root.
func relative(p *project.Project, abs string) string {
	if !fsys.Within(p.Root, abs) {
		return abs
	}
	return filepath.ToSlash(strings.TrimPrefix(abs[len(p.Root):], string(filepath.Separator)))
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// planRelease is plan for the workflow that releases the project. The packages get the item's name, else the project's.
// A line of the template that begins with "?PART " belongs to a part that can be left out.
func planRelease(p *project.Project, r *Request) (dir string, files []file, err error) {
	if r.Name == "" {
		r.Name = p.Meta.Name
	}
	if err := checkName(string(Release), r.Name); err != nil {
		return "", nil, err
	} else if r.Name != strings.ToLower(r.Name) {
		return "", nil, cli.Usagef("npm and container registries need a name in lower case; give one")
	}
	known := ""
	releases := project.Releases(p.Env, project.InstalledHome(p.Env))
	if releases != "" && !strings.ContainsAny(releases, "'\n") {
		known = " || '" + releases + "'"
	}
	f := render(string(Release), r.Name, "")[0]
	without := map[string]bool{"npm": r.NoNPM, "pypi": r.NoPyPI, "image": r.NoImage}
	var b strings.Builder
	values := strings.NewReplacer("<version>", cli.Version, "<known>", known)
	for line := range strings.Lines(f.text) {
		if rest, conditional := strings.CutPrefix(line, "?"); conditional {
			part, content, _ := strings.Cut(rest, " ")
			if line = content; without[part] {
				continue
			}
		}
		values.WriteString(&b, line)
	}
	f.text = b.String()
	return filepath.Join(p.Root, ".github", "workflows"), []file{f}, nil
}

// templates has a directory for each kind of item. In the texts, __NAME__ represents the
// name, __TITLE__ the title derived from it, and __NAME_JSON__ and __TITLE_JSON__ both as
// JSON strings. __SCHEMAS__ represents the path to the schemas. In file names, NAME
// represents the name.
//
//go:embed templates
var templates embed.FS

// parts are the files of each template, in the order in which they are written and listed.
var parts = map[string][]string{
	"server":           {project.Marker},
	"hello":            {"tool.sh", "tool.meta.json"},
	"readme":           {"README.md"},
	"page":             {"index.html", "ui.meta.json"},
	string(Tool):       {"tool.sh", "tool.meta.json", "README.md"},
	string(Prompt):     {"NAME.txt", "NAME.meta.json", "README.md"},
	string(Resource):   {"NAME.txt", "NAME.meta.json", "README.md"},
	string(Completion): {"completion.sh", "README.md"},
	string(UI):         {"README.md"}, // next to a page
	string(Skill):      {"SKILL.md"},
	string(Release):    {"release.yml"},
	"case":             {"NAME.yaml"},
	"hellocase":        {"NAME.yaml"},
}

// render returns the files of a template. Scripts are executable. schemas is the path of the
// schemas, with slashes, relative to the directory of the files. If it is "", files refer to
// no schemas.
func render(template, name, schemas string) (files []file) {
	title := project.Title(name)
	texts := strings.NewReplacer("__NAME__", name, "__TITLE__", title,
		"__NAME_JSON__", string(rawjson.Quote(name)), "__TITLE_JSON__", string(rawjson.Quote(title)))
	for _, part := range parts[template] {
		text, err := templates.ReadFile(path.Join("templates", template, part))
		if err != nil {
			panic(err) // templates are embedded
		}
		f := file{strings.Replace(part, "NAME", name, 1), withSchema(texts.Replace(string(text)), schemas), modeFile}
		if strings.HasPrefix(f.text, "#!") {
			f.mode = modeScript
		}
		files = append(files, f)
	}
	return files
}

// withSchema inserts the path to the schemas into a text. If the path is "", it removes the
// line that refers to them.
func withSchema(text, schemas string) string {
	const gap = "__SCHEMAS__"
	before, after, found := strings.Cut(text, gap)
	switch {
	case !found:
		return text
	case schemas != "":
		return before + schemas + after
	}
	_, after, _ = strings.Cut(after, "\n")
	return before[:strings.LastIndexByte(before, '\n')+1] + after
}

// schemasDir is the directory in a project with the schemas of its files, for editors.
const schemasDir = ".schemas"

func schemaFiles() (list []file) {
	entries, err := schemas.Files.ReadDir(".")
	if err != nil {
		panic(err) // schemas are embedded
	}
	for _, e := range entries {
		switch e.Name() {
		case schemas.File(schemas.Tokens), schemas.File(schemas.Marketplace): // they are not part of a project
			continue
		}
		text, err := schemas.Files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		list = append(list, file{e.Name(), string(text), modeFile})
	}
	return list
}

// schemasFrom returns the path from a directory to the schemas of a project, or "" if the
// project has no schemas.
func schemasFrom(p *project.Project, dir string) string {
	place := filepath.Join(p.Root, schemasDir)
	way, err := filepath.Rel(dir, place)
	if err != nil || !isDir(place) || !fsys.Within(p.Root, dir) {
		return ""
	}
	return filepath.ToSlash(way)
}
