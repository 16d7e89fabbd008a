package scaffold

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/text/merge"
)

// wrapFile records how a wrapped tool was created, and its files at that time (WRAP-40).
const wrapFile = ".wrap.json"

// maxWrapped limits the size of each file of a wrapped tool.
const maxWrapped = 1 << 20

// A Wrapped is the record of a tool that was wrapped (WRAP-40).
type Wrapped struct {
	Name    string
	Command []string
	// Recipe is the file of the recipe, or "" if the program's help was read (wrap.Source).
	Recipe string
	// Script is the script of which the tool was made, or "".
	Script string
	Asks   bool // the user of the client answers the questions of the script
	wrap.Selection
	files     map[string]string // as they were generated
	programs  []string          // to install
	variables []string          // of the server's environment that reach the tool
}

// base returns .wrap.json: how the tool was created, and its files as generated.
func base(t *wrap.Tool, c wrap.Selection, files []file) file {
	var b rawjson.Builder
	b.Object().Name("version").Int(1).Name("command").Strings(t.Words)
	if t.Source.Script {
		b.Name("script").String(t.Source.File)
		if len(t.Asks) > 0 {
			b.Name("asks").Bool(true)
		}
	} else if t.Source.File != "" {
		b.Name("recipe").String(t.Source.File)
	}
	if c.Max > 0 {
		b.Name("maxOptions").Int(c.Max)
	}
	if len(c.Only) > 0 {
		b.Name("only").Strings(c.Only)
	}
	if len(c.With) > 0 {
		b.Name("with").Strings(c.With)
	}
	if len(c.Without) > 0 {
		b.Name("without").Strings(c.Without)
	}
	if list := t.Requires(); len(list) > 0 {
		b.Name("requires").Strings(list)
	}
	if len(t.Variables) > 0 {
		b.Name("variables").Strings(t.Variables)
	}
	b.Name("files").Object()
	for _, f := range files {
		b.Name(f.path).String(f.text)
	}
	b.End().End()
	return file{wrapFile, string(rawjson.AppendIndent(nil, b.Bytes(), 0)) + "\n", modeFile}
}

// WrappedTools returns the wrapped tools of a project with the given names, or all of them.
func WrappedTools(p *project.Project, names []string) (list []*Wrapped, err error) {
	if len(names) == 0 {
		entries, err := os.ReadDir(p.Tools)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &cli.Error{Code: cli.CodeInvalid, Subject: p.Tools, Cause: fsys.Cause(err)}
		}
		for _, e := range entries {
			if e.IsDir() && isThere(filepath.Join(p.Tools, e.Name(), wrapFile)) {
				names = append(names, e.Name())
			}
		}
		if len(names) == 0 {
			return nil, cli.Failf(cli.CodeNotFound, "no tool of this project was wrapped; begin with: mcp-bash wrap COMMAND")
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
		return nil, &cli.Error{Code: cli.CodeInvalid, Subject: at, Cause: fsys.Cause(err)}
	}
	doc, err := rawjson.Check(text)
	w := &Wrapped{Name: name, files: map[string]string{}}
	var ok [6]bool
	if err == nil {
		w.Command, ok[0] = rawjson.Strings(rawjson.Get(doc, "command"))
		w.Only, ok[1] = rawjson.Strings(rawjson.Get(doc, "only"))
		w.Without, ok[2] = rawjson.Strings(rawjson.Get(doc, "without"))
		w.With, ok[3] = rawjson.Strings(rawjson.Get(doc, "with"))
		w.programs, ok[4] = rawjson.Strings(rawjson.Get(doc, "requires"))
		w.variables, ok[5] = rawjson.Strings(rawjson.Get(doc, "variables"))
		w.Recipe, w.Script = rawjson.TextOf(doc, "recipe"), rawjson.TextOf(doc, "script")
		w.Asks = string(rawjson.Get(doc, "asks")) == "true"
		w.Max = rawjson.PositiveInt(rawjson.Get(doc, "maxOptions"))
	}
	if err != nil || len(w.Command) == 0 || CheckWords(w.Command) != nil || slices.Contains(ok[:], false) {
		return nil, cli.Failf(cli.CodeInvalid, "%s is damaged; wrap the tool anew with --force", relative(p, at))
	}
	for _, m := range rawjson.Members(rawjson.Get(doc, "files")) {
		if value, isText := rawjson.Text(m.Value); isText {
			w.files[m.Name] = value
		}
	}
	return w, nil
}

// A Change is the change of one file in an update.
type Change struct {
	Path      string // relative to the project's root
	Before    string
	After     string
	Conflicts int // places that both changed; the person's change is kept

	file file
}

// An Update is an update of a wrapped tool.
type Update struct {
	Tool    *wrap.Tool
	Changes []Change
	files   []file // as generated, without a person's changes
	stale   bool   // .wrap.json must be written
	c       wrap.Selection
	dir     string
}

// Needed reports whether there is anything to write.
func (u *Update) Needed() bool { return len(u.Changes) > 0 || u.stale }

// Compare merges the files of a new tool with the files as generated and as they are now (WRAP-41).
func (w *Wrapped) Compare(p *project.Project, tool *wrap.Tool, c wrap.Selection) (*Update, error) {
	dir := filepath.Join(p.Tools, w.Name)
	u := &Update{Tool: tool, files: filesOf(tool, schemasFrom(p, dir)), c: c, dir: dir}
	for _, f := range u.files {
		at := filepath.Join(dir, f.path)
		base := w.files[f.path]
		text, err := p.ReadFile(at, maxWrapped)
		if errors.Is(err, fs.ErrNotExist) { // the person has deleted it, so it stays deleted
			continue
		} else if err != nil {
			return nil, &cli.Error{Code: cli.CodeInvalid, Subject: at, Cause: fsys.Cause(err)}
		}
		u.stale = u.stale || base != f.text
		after, conflicts := merge.Files(f.path, base, string(text), f.text)
		if after == string(text) && conflicts == 0 {
			continue
		}
		u.Changes = append(u.Changes, Change{Path: relative(p, at), Before: string(text), After: after, Conflicts: conflicts,
			file: file{f.path, after, 0}})
	}
	u.stale = u.stale || !slices.Equal(w.programs, tool.Requires()) || !slices.Equal(w.variables, tool.Variables)
	u.stale = u.stale || cmp.Or(w.Script, w.Recipe) != tool.Source.File
	u.stale = u.stale || !slices.Equal(w.Only, c.Only) || !slices.Equal(w.With, c.With) ||
		!slices.Equal(w.Without, c.Without) || w.Max != c.Max
	return u, nil
}

// Apply writes updates, all or none.
func Apply(ctx context.Context, p *project.Project, updates []*Update) (err error) {
	top := writtenBelow(p, p.Tools)
	at, err := openPlace(ctx, top)
	if err != nil {
		return err
	}
	defer func() { at.close(err) }()
	var tools []*wrap.Tool
	var variables []string
	for _, u := range updates {
		rel, err := filepath.Rel(top, u.dir)
		if err != nil {
			return err
		}
		for _, c := range u.Changes {
			c.file.path = path.Join(filepath.ToSlash(rel), c.file.path)
			if err := at.putOver(c.file, &c.Before); err != nil {
				return err
			}
		}
		// The base comes last. If a write before it fails, the next update merges again.
		f := base(u.Tool, u.c, u.files)
		f.path = path.Join(filepath.ToSlash(rel), f.path)
		if err := at.putOver(f, nil); err != nil {
			return err
		}
		tools = append(tools, u.Tool)
		variables = append(variables, u.Tool.Variables...)
	}
	if err := require(ctx, p, tools); err != nil || len(variables) == 0 {
		return err
	}
	return permit(ctx, p, variables)
}

// Complete returns the given selection, completed with the recorded one.
func (w *Wrapped) Complete(c wrap.Selection) wrap.Selection {
	return wrap.Selection{Max: cmp.Or(c.Max, w.Max), Only: orElse(c.Only, w.Only), With: orElse(c.With, w.With),
		Without: orElse(c.Without, w.Without)}
}

func orElse(list, otherwise []string) []string {
	if len(list) > 0 {
		return list
	}
	return otherwise
}
