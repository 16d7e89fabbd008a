package scaffold

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
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
	Name string
	record
	text string // of the record
}

// A record is the content of .wrap.json.
type record struct {
	Version int      `json:"version"`
	Command []string `json:"command"`
	// Script is the script of which the tool was made, or "".
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

// Compare merges the files of a new tool with the files as generated and as they are now (WRAP-41).
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
