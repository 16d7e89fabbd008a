package scaffold

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// A Removal lists the changes that remove a tool.
type Removal struct {
	Name      string   `json:"name"`
	Path      string   `json:"path"`
	Files     []string `json:"files"`        // of the tool's folder, relative to the project's root
	Programs  []string `json:"requirements"` // entries of requirements.json that only this tool needs
	Variables []string `json:"variables"`    // of the server's environment that only this tool gets
	Kept      []Kept   `json:"kept"`
}

// Kept is something that stays, although the tool uses it.
type Kept struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// maxSearched is the largest number of files that are searched for other uses of a program or a variable.
const maxSearched = 5000

// PlanRemoval finds the files and settings that only this tool uses. It changes nothing.
func PlanRemoval(p *project.Project, name string) (*Removal, error) {
	if err := checkName(string(Tool), name); err != nil {
		return nil, err
	}
	r := &Removal{name, filepath.Join(p.Tools, name), []string{}, []string{}, []string{}, []Kept{}}
	switch info, err := os.Lstat(r.Path); {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return nil, inTheWay(r.Path, info)
	case err != nil || !info.IsDir() || !isThere(filepath.Join(r.Path, "tool.meta.json")) &&
		!isThere(filepath.Join(r.Path, "tool.sh")):
		return nil, cli.Failf(cli.CodeNotFound, "%s is not a tool of this project", relative(p, r.Path))
	}
	err := filepath.WalkDir(r.Path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			r.Files = append(r.Files, relative(p, file))
		}
		return err
	})
	if err != nil {
		return nil, failed(r.Path, err)
	}
	if cases := project.TestsDir + "/" + name + ".yaml"; isThere(filepath.Join(p.Root, filepath.FromSlash(cases))) {
		r.keep(cases, "its test cases may call other tools; without "+name+" its own fail")
	}
	if !isThere(filepath.Join(r.Path, wrapFile)) {
		r.keep("server.d", "the tool was written by hand, so its requirements are not recorded")
		return r, nil
	}
	w, err := readWrapped(p, name)
	if err != nil {
		return nil, err
	}
	if w.Script != "" {
		r.keep(w.Script, "the script is yours")
	}
	return r, r.shared(p, w)
}

func (r *Removal) keep(what, why string) { r.Kept = append(r.Kept, Kept{what, why}) }

// shared separates the programs and variables that only this tool uses from those that others use.
func (r *Removal) shared(p *project.Project, w *Wrapped) error {
	uses, err := usesOf(p, slices.Concat(w.Requires, w.Variables), r.Path, w.Script)
	if err != nil {
		return err
	}
	entries, err := readJSON(p, requirements)
	if err != nil {
		return err
	}
	meta, err := readJSON(p, filepath.Base(project.Marker))
	if err != nil {
		return err
	}
	own := func(list *[]string, name, where string, changed bool) {
		switch {
		case uses[name] != "":
			r.keep(name+" in "+where, uses[name]+" uses it")
		case changed:
			r.keep(name+" in "+where, "its entry was changed by hand")
		default:
			*list = append(*list, name)
		}
	}
	for entry := range rawjson.Elements(rawjson.Get(entries, "dependencies")) {
		if name := rawjson.TextOf(entry, "name"); slices.Contains(w.Requires, name) {
			own(&r.Programs, name, requirements, len(rawjson.Members(entry)) != 1)
		}
	}
	for _, name := range permittedIn(rawjson.Get(meta, "env")) {
		if slices.Contains(w.Variables, name) {
			own(&r.Variables, name, "env of server.meta.json", false)
		}
	}
	return nil
}

// usesOf finds a file of the project that has each word, outside of one tool and its script. Documents and test cases
// do not count.
func usesOf(p *project.Project, words []string, tool, script string) (map[string]string, error) {
	uses, searched := map[string]string{}, 0
	search := func(top string) error {
		return filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			hidden := file != top && strings.HasPrefix(d.Name(), ".") && d.Name() != wrapFile
			isSkipped := hidden || file == tool || file == filepath.Join(p.Root, project.TestsDir) || d.Name() == "node_modules"
			switch {
			case os.IsNotExist(err):
				return nil
			case err != nil:
				return err
			case d.IsDir() && isSkipped:
				return fs.SkipDir
			case hidden || !d.Type().IsRegular() || filepath.Ext(d.Name()) == ".md" || relative(p, file) == script ||
				filepath.Dir(file) == p.Server && filepath.Ext(d.Name()) == ".json":
				return nil
			}
			if searched++; searched > maxSearched {
				return cli.Failf(cli.CodeInvalid, "%s has more than %d files, so other uses of %s cannot be found; "+
					"remove %s by hand", p.Root, maxSearched, strings.Join(words, ", "), relative(p, tool))
			}
			for _, word := range wordsIn(file, words) {
				uses[word] = relative(p, file)
			}
			return nil
		})
	}
	for _, top := range []string{p.Root, p.Tools, p.Prompts, p.Resources, p.Completions} {
		if top != p.Root && fsys.Within(p.Root, top) || len(words) == 0 {
			continue
		}
		if err := search(top); err != nil {
			return nil, err
		}
	}
	return uses, nil
}

// wordsIn returns the given words that a file contains as whole words. A file that is too large or cannot be read
// counts as having all of them.
func wordsIn(file string, words []string) []string {
	text, err := boundedfile.Read(file, maxWrapped)
	if err != nil {
		return words
	}
	others := strings.FieldsFunc(string(text), func(r rune) bool {
		return !strings.ContainsRune("-_.+@", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(others, word) })
}

// readJSON returns a JSON file in server.d, or nil if it is missing.
func readJSON(p *project.Project, name string) (json.RawMessage, error) {
	file := filepath.Join(p.Server, name)
	text, err := p.ReadFile(file, maxRequirements)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, invalid(file, err)
	}
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s is not a JSON object; fix it first", file)
	}
	return doc, nil
}

// Remove removes a tool, completely or not at all. It renames the tool's folder first, so that a running server never
// reads a part of it.
func Remove(ctx context.Context, p *project.Project, r *Removal) (err error) {
	w := writerFor(ctx, p, false)
	defer w.close(&err)
	root, name, err := w.below(r.Path)
	if err != nil {
		return err
	}
	temporary := temporaryName(name)
	if err := root.Rename(name, temporary); err != nil {
		return failed(r.Path, err)
	}
	w.undo = append(w.undo, func() { root.Rename(temporary, name) })
	if err := permit(w, p, nil, r.Variables); err != nil {
		return err
	}
	err = editJSON(w, p, requirements, func(doc *jsonedit.Document) {
		for i, entry := range slices.Backward(doc.Elements("dependencies")) {
			if slices.Contains(r.Programs, rawjson.TextOf(entry, "name")) {
				doc.Delete("dependencies", i)
			}
		}
	})
	if err != nil {
		return err
	}
	w.undo = nil
	if err := root.RemoveAll(temporary); err != nil {
		return failed(temporary, err)
	}
	return nil
}
