package scaffold

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/merge"
	"mcp-bash/pkg/text/toolnames"
)

// NewTool makes a tool that runs a program from a recipe. words is the command line that tool.sh
// runs, and file is the program. name is the name of the tool. If it is "", the name is derived
// from the words.
func NewTool(p *project.Project, r *recipe.Recipe, from wrap.Source, words []string, file, name string,
	s wrap.Selection) (*wrap.Tool, error) {
	if name == "" {
		name = ToolName(append([]string{filepath.Base(words[0])}, words[1:]...))
	}
	if err := checkName(string(Tool), name); err != nil {
		return nil, err
	}
	t := wrap.Tool{Name: name, Words: words, Recipe: r, Source: from, Program: words[0]}
	if other := inPlace(file); other != "" {
		t.Starts = []string{other}
	}
	switch {
	case !strings.ContainsRune(words[0], filepath.Separator):
		t.Needs = words[0]
	case fsys.Within(p.Root, file): // tools start in the project's root
		t.Program = "./" + relative(p, file)
	default:
		t.Program, t.Needs = file, file
	}
	return wrap.New(t, s)
}

// maxHead limits how much of a program is read.
const maxHead = 4 << 10

// execLine matches the line of a shell script that runs another program in its place.
var execLine = lazyregexp.New(`(?m)^[ \t]*exec ["']?(/[^"'\s$]+)["']?(?:[ \t]|$)`)

// inPlace returns the program that a script runs in its place, or "".
func inPlace(file string) string {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	head, _ := boundedfile.ReadHead(resolved, maxHead)
	if m := execLine.FindSubmatch(head); m != nil && bytes.HasPrefix(head, []byte("#!")) {
		return string(m[1])
	}
	return ""
}

// ToolName derives the name of a tool from the words of a command line.
func ToolName(words []string) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.Join(words, "-"), "-"), "-")
	return strings.TrimRight(name[:min(len(name), toolnames.MaxPortable)], "-")
}

var notInName = lazyregexp.New(`[^A-Za-z0-9_-]`)

// CheckWords returns an error for words that are options, because options could run other words as programs. It also
// rejects words that cannot be in a comment of a script.
func CheckWords(words []string) error {
	for _, word := range words {
		if word == "" || strings.HasPrefix(word, "-") || strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
		}) {
			return cli.Usagef("cannot wrap a command line with the word %s", cli.Line(word))
		}
	}
	return nil
}

// filesOf returns the files of a tool.
func filesOf(p *project.Project, tool *wrap.Tool) (files []file) {
	for _, f := range tool.Files(schemasFrom(p, filepath.Join(p.Tools, tool.Name))) {
		mode := modeFile
		if f.Script {
			mode = modeScript
		}
		files = append(files, file{f.Name, f.Text, mode})
	}
	return files
}

// WrapOptions are the options of Wrap.
type WrapOptions struct {
	wrap.Selection
	Force  bool
	DryRun bool
}

// Wrap writes tools, all or none. It calls warn with problems that could stop them from working.
func Wrap(ctx context.Context, p *project.Project, tools []*wrap.Tool, o WrapOptions, warn func(string)) (made []*Item,
	err error) {
	w := writerFor(ctx, p, o.DryRun)
	defer w.close(&err)
	return wrapTools(w, p, tools, o, warn)
}

func wrapTools(w *writer, p *project.Project, tools []*wrap.Tool, o WrapOptions, warn func(string)) (made []*Item,
	err error) {
	for _, tool := range tools {
		dir := filepath.Join(p.Tools, tool.Name)
		files := filesOf(p, tool)
		files = append(files, recorded(tool, o.Selection, files))
		made = append(made, newItem(p, Tool, tool.Name, dir, files))
		if err := w.putItem(dir, string(Tool), files, o.Force); err != nil {
			if e, ok := errors.AsType[*cli.Error](err); ok && e.Code == cli.CodeExists && !o.Force {
				err = e.WithHint("replace it with --force, or make it again with --update, which keeps your changes")
			}
			return nil, err
		}
	}
	if err := require(w, p, tools); err != nil || o.DryRun {
		return made, err
	}
	for _, item := range made {
		warnRefused(p, filepath.Join(item.Path, "tool.sh"), warn)
	}
	return made, nil
}

// WriteRecipe writes a recipe into recipes/ of the project, for a person or an agent to complete. It returns the path
// of the file. An existing file is replaced only with force.
func WriteRecipe(ctx context.Context, p *project.Project, r *recipe.Recipe, force bool) (name string, err error) {
	name = path.Join("recipes", r.FileName())
	if schemas := schemasFrom(p, filepath.Join(p.Root, "recipes")); schemas != "" {
		r.Schema = schemas + "/recipe.schema.json"
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return "", err
	}
	if _, err := recipe.Parse(text.Bytes()); err != nil { // such as a program with an unusual name
		return "", cli.Failf(cli.CodeInvalid, "no recipe can be drafted: %v", err)
	}
	w := writerFor(ctx, p, false)
	defer w.close(&err)
	put := w.putNew
	if force {
		put = w.put
	}
	return name, put(filepath.Join(p.Root, filepath.FromSlash(name)), file{text: text.String(), mode: modeFile})
}

// wrapFile records how a wrapped tool was created, and its files at that time.
const wrapFile = ".wrap.json"

// maxWrapped limits the size of each file of a wrapped tool.
const maxWrapped = 1 << 20

// A Wrapped is the record of a tool that was wrapped.
type Wrapped struct {
	Name string
	record
	text string // of the record
}

// A record is the content of .wrap.json.
type record struct {
	Version int      `json:"version"`
	Command []string `json:"command"`
	// Script is the script from which the tool was made, or "".
	Script string `json:"script,omitempty"`
	Asks   bool   `json:"asks,omitempty"` // the user of the client answers the questions of the script
	// Recipe is the file of the recipe, or "" if the program's help was read (wrap.Source).
	Recipe string `json:"recipe,omitempty"`
	wrap.Selection
	Requires  []string          `json:"requires,omitempty"`
	Variables []string          `json:"variables,omitempty"` // of the server's environment that reach the tool
	Files     map[string]string `json:"files"`               // as they were generated
}

// recorded returns .wrap.json: how the tool was created, and its files as generated.
func recorded(t *wrap.Tool, c wrap.Selection, files []file) file {
	c.Max = max(c.Max, 0)
	r := record{Version: 1, Command: t.Words, Selection: c, Requires: t.Requires(), Variables: t.Variables,
		Files: map[string]string{}}
	if t.Source.Script {
		r.Script, r.Asks = t.Source.File, len(t.Asks) > 0
	} else {
		r.Recipe = t.Source.File
	}
	for _, f := range files {
		r.Files[f.path] = f.text
	}
	text, _ := json.Marshal(r)
	return file{wrapFile, string(rawjson.AppendIndent(nil, text, 0)) + "\n", modeFile}
}

// WrappedTools returns the wrapped tools of a project with the given names, or all of them.
func WrappedTools(p *project.Project, names []string) (list []*Wrapped, err error) {
	if len(names) == 0 {
		entries, err := os.ReadDir(p.Tools)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, invalid(p.Tools, err)
		}
		for _, e := range entries {
			if e.IsDir() && isThere(filepath.Join(p.Tools, e.Name(), wrapFile)) {
				names = append(names, e.Name())
			}
		}
		if len(names) == 0 {
			return nil, cli.Failf(cli.CodeNotFound, "no tool of this project was made by mcp-bash wrap or mcp-bash add")
		}
	}
	for _, name := range names {
		if err := checkName(string(Tool), name); err != nil {
			return nil, err
		}
		w, err := readWrapped(p, name)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

func readWrapped(p *project.Project, name string) (*Wrapped, error) {
	at := filepath.Join(p.Tools, name, wrapFile)
	text, err := p.ReadFile(at, 8*maxWrapped)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Failf(cli.CodeNotFound, "%s was not wrapped: it has no %s", name, relative(p, at))
	} else if err != nil {
		return nil, invalid(at, err)
	}
	w := &Wrapped{Name: name, text: string(text)}
	if json.Unmarshal(text, &w.record) != nil || len(w.Command) == 0 || CheckWords(w.Command) != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s is damaged; wrap the tool anew with --force", relative(p, at))
	}
	return w, nil
}

// invalid returns the error for a file that cannot be read.
func invalid(path string, err error) error {
	return &cli.Error{Code: cli.CodeInvalid, Subject: path, Cause: fsys.Cause(err)}
}

// A Change is the change of one file in an update.
type Change struct {
	Path      string `json:"path"` // relative to the project's root
	Before    string `json:"-"`
	After     string `json:"-"`
	Conflicts int    `json:"conflicts"` // places that both changed; the person's change is kept

	at string // the absolute path
}

// An Update is an update of a wrapped tool.
type Update struct {
	Tool    *wrap.Tool
	Changes []Change
	base    file // .wrap.json, with the files as generated
	stale   bool // it must be written
}

// Needed reports whether there is anything to write.
func (u *Update) Needed() bool { return len(u.Changes) > 0 || u.stale }

// Compare merges the files of a new tool with the files as generated and as they are now.
func (w *Wrapped) Compare(p *project.Project, tool *wrap.Tool, c wrap.Selection) (*Update, error) {
	files := filesOf(p, tool)
	u := &Update{Tool: tool, base: recorded(tool, c, files), Changes: []Change{}}
	u.stale = u.base.text != w.text
	for _, f := range files {
		at := filepath.Join(p.Tools, w.Name, f.path)
		text, err := p.ReadFile(at, maxWrapped)
		if errors.Is(err, fs.ErrNotExist) { // the person has deleted it, so it stays deleted
			continue
		} else if err != nil {
			return nil, invalid(at, err)
		}
		after, conflicts := merge.Files(f.path, w.Files[f.path], string(text), f.text)
		if after != string(text) || conflicts > 0 {
			u.Changes = append(u.Changes, Change{relative(p, at), string(text), after, conflicts, at})
		}
	}
	return u, nil
}

// Apply writes updates, all or none.
func Apply(ctx context.Context, p *project.Project, updates []*Update) (err error) {
	w := writerFor(ctx, p, false)
	defer w.close(&err)
	var tools []*wrap.Tool
	for _, u := range updates {
		for _, c := range u.Changes {
			if err := w.replace(c.at, c.Before, c.After); err != nil {
				return err
			}
		}
		err := w.edit(filepath.Join(p.Tools, u.Tool.Name, wrapFile), modeFile, maxReplaced,
			func(userfile.File) ([]byte, error) { return []byte(u.base.text), nil })
		if err != nil {
			return err
		}
		tools = append(tools, u.Tool)
	}
	return require(w, p, tools)
}

// replace replaces the text of a file, unless a person edited it in the meantime.
func (w *writer) replace(path, before, after string) error {
	return w.edit(path, modeFile, maxReplaced, func(there userfile.File) ([]byte, error) {
		if !there.There || string(there.Text) != before {
			return nil, cli.Failf(cli.CodeInvalid, "%s changed in the meantime and was kept; run this command again", path)
		}
		return []byte(after), nil
	})
}

// Complete returns the given selection, completed with the recorded one.
func (w *Wrapped) Complete(c wrap.Selection) wrap.Selection {
	orElse := func(list, otherwise []string) []string {
		if len(list) > 0 {
			return list
		}
		return otherwise
	}
	return wrap.Selection{Max: cmp.Or(c.Max, w.Max), Only: orElse(c.Only, w.Only), With: orElse(c.With, w.With),
		Without: orElse(c.Without, w.Without)}
}

// maxRequirements limits the size of a JSON file in server.d.
const maxRequirements = 1 << 20

// requirements is the file in server.d that lists programs, where doctor and validate look for them.
const requirements = "requirements.json"

// require adds the programs that tools need to the requirements of the project. It lets the variables that they need
// reach them.
func require(w *writer, p *project.Project, tools []*wrap.Tool) error {
	var variables []string
	for _, tool := range tools {
		variables = append(variables, tool.Variables...)
	}
	err := editJSON(w, p, requirements, func(doc *jsonedit.Document) {
		for _, tool := range tools {
			for _, name := range tool.Requires() {
				isIt := func(v json.RawMessage) bool { return rawjson.TextOf(v, "name") == name }
				if !slices.ContainsFunc(doc.Elements("dependencies"), isIt) {
					var b rawjson.Builder
					doc.Append("dependencies", b.Object().Name("name").String(name).End().Bytes())
				}
			}
		}
	})
	if err != nil || len(variables) == 0 {
		return err
	}
	return permit(w, p, variables, nil)
}

// The settings that let variables of the server's environment reach tools.
const (
	envMode = "MCPBASH_TOOL_ENV_MODE"
	envList = "MCPBASH_TOOL_ENV_ALLOWLIST"
)

// permittedIn returns the variables that "env" of server.meta.json lists. If all are permitted, the list has no effect.
func permittedIn(env json.RawMessage) []string {
	if rawjson.TextOf(env, envMode) == "inherit" {
		return nil
	}
	return strings.FieldsFunc(rawjson.TextOf(env, envList), func(r rune) bool { return r == ',' || r == ' ' })
}

// permit changes the variables of the server's environment that reach tools. If none is left, it removes the settings.
func permit(w *writer, p *project.Project, more, less []string) error {
	return editJSON(w, p, filepath.Base(project.Marker), func(doc *jsonedit.Document) {
		env := doc.Member("env")
		have := permittedIn(env)
		list := slices.Concat(have, more)
		slices.Sort(list)
		list = slices.DeleteFunc(slices.Compact(list), func(name string) bool { return slices.Contains(less, name) })
		mode := "allowlist"
		switch had := rawjson.TextOf(env, envMode); {
		case had == "inherit" || len(list) == len(have):
			return
		case len(list) < len(have): // a removal permits nothing new
			mode = cmp.Or(had, "minimal")
		}
		var b rawjson.Builder
		b.Object()
		if len(list) > 0 {
			b.Name(envMode).String(mode).Name(envList).String(strings.Join(list, ","))
		}
		doc.Set("env", b.Members(env, envMode, envList).End().Bytes())
	})
}

// editJSON edits a JSON file in server.d. A new file begins with an empty object.
func editJSON(w *writer, p *project.Project, name string, edit func(*jsonedit.Document)) error {
	at := filepath.Join(p.Server, name)
	return w.edit(at, modeFile, maxRequirements, func(old userfile.File) ([]byte, error) {
		text := old.Text
		if !old.There {
			text = []byte("{}\n")
		}
		if doc, err := rawjson.Check(text); err != nil || rawjson.KindOf(doc) != rawjson.Object {
			return nil, cli.Failf(cli.CodeInvalid, "%s is not a JSON object; fix it first", at)
		}
		doc := jsonedit.New(bytes.Clone(text))
		edit(doc)
		if bytes.Equal(doc.Text, text) {
			return old.Text, nil
		}
		return append(bytes.TrimRight(doc.Text, "\n"), '\n'), nil
	})
}
