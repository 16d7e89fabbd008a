package scaffold

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
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

// A Removal is what the removal of a tool changes.
type Removal struct {
	Name, Path string
	Files      []string // of the tool's folder, relative to the project's root
	Programs   []string // entries of requirements.json that only this tool needs
	Variables  []string // of the server's environment that only this tool gets
	Kept       []Kept
}

// Kept is something that stays, although the tool uses it.
type Kept struct{ What, Why string }

// maxSearched is the largest number of files that are searched for other uses of a program or a variable.
const maxSearched = 5000

// PlanRemoval finds what belongs to a tool alone (ADD-40). It changes nothing.
func PlanRemoval(p *project.Project, name string) (*Removal, error) {
	if err := checkName(string(Tool), name); err != nil {
		return nil, err
	}
	r := &Removal{Name: name, Path: filepath.Join(p.Tools, name)}
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

// shared separates what the tool needs alone from what others need.
func (r *Removal) shared(p *project.Project, w *Wrapped) error {
	words := slices.Concat(w.Requires, w.Variables)
	if len(words) == 0 {
		return nil
	}
	uses, err := usesOf(p, words, r.Path, w.Script)
	if err != nil {
		return err
	}
	entries, err := readJSON(p, "requirements.json")
	if err != nil {
		return err
	}
	meta, err := readJSON(p, filepath.Base(project.Marker))
	if err != nil {
		return err
	}
	list := slices.Collect(rawjson.Elements(rawjson.Get(entries, "dependencies")))
	for _, name := range w.Requires {
		i := slices.IndexFunc(list, func(v json.RawMessage) bool { return rawjson.TextOf(v, "name") == name })
		switch {
		case i < 0:
		case uses[name] != "":
			r.keep(name+" in requirements.json", uses[name]+" uses it")
		case len(rawjson.Members(list[i])) != 1:
			r.keep(name+" in requirements.json", "its entry was changed by hand")
		default:
			r.Programs = append(r.Programs, name)
		}
	}
	permitted := permittedIn(rawjson.Get(meta, "env"))
	for _, name := range w.Variables {
		switch {
		case !slices.Contains(permitted, name):
		case uses[name] != "":
			r.keep(name+" in env of server.meta.json", uses[name]+" uses it")
		default:
			r.Variables = append(r.Variables, name)
		}
	}
	return nil
}

// usesOf finds a file of the project that has each word, outside of one tool and its script. Documents and test cases
// do not count.
func usesOf(p *project.Project, words []string, tool, script string) (map[string]string, error) {
	uses, searched := map[string]string{}, 0
	tops := []string{p.Root}
	for _, dir := range []string{p.Tools, p.Prompts, p.Resources, p.Completions} {
		if !fsys.Within(p.Root, dir) {
			tops = append(tops, dir)
		}
	}
	for _, top := range tops {
		tests := filepath.Join(p.Root, project.TestsDir)
		err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			hidden := file != top && strings.HasPrefix(d.Name(), ".") && d.Name() != wrapFile
			switch {
			case err != nil && os.IsNotExist(err):
				return nil
			case err != nil:
				return err
			case d.IsDir() && (file == tool || file == tests || hidden || d.Name() == "node_modules"):
				return fs.SkipDir
			case d.IsDir() || hidden || !d.Type().IsRegular() || path.Ext(d.Name()) == ".md" ||
				relative(p, file) == script || filepath.Dir(file) == p.Server && strings.HasSuffix(d.Name(), ".json"):
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
		if err != nil {
			return nil, err
		}
	}
	return uses, nil
}

// wordsIn returns the words that a file has, as whole words. A file that is too large or cannot be read counts as
// having all of them.
func wordsIn(file string, words []string) (found []string) {
	f, err := boundedfile.OpenBelow(filepath.Dir(file), file)
	if err != nil {
		return words
	}
	defer f.Close()
	text, err := boundedfile.ReadAll(f, maxWrapped)
	if err != nil {
		return words
	}
	others := strings.FieldsFunc(string(text), func(r rune) bool {
		return !strings.ContainsRune("-_.+@", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	for _, word := range words {
		if slices.Contains(others, word) {
			found = append(found, word)
		}
	}
	return found
}

// readJSON returns a JSON file in server.d, or nil if it is missing.
func readJSON(p *project.Project, name string) (json.RawMessage, error) {
	file := filepath.Join(p.Server, name)
	text, err := p.ReadFile(file, maxRequirements)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, &cli.Error{Code: cli.CodeInvalid, Subject: file, Cause: fsys.Cause(err)}
	}
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s is not a JSON object; fix it first", file)
	}
	return doc, nil
}

// Remove removes a tool, completely or not at all. The tool has another name first, so that a running server never
// reads a half of it.
func Remove(ctx context.Context, p *project.Project, r *Removal) error {
	at, rel, err := openFor(ctx, p, p.Tools)
	if err != nil {
		return err
	}
	defer at.close(nil)
	rel = path.Join(rel, r.Name)
	temporary := temporaryName(rel)
	if err := at.root.Rename(rel, temporary); err != nil {
		return failed(r.Path, err)
	}
	err = editJSON(ctx, p, filepath.Base(project.Marker), func(doc *jsonedit.Document) bool {
		return setPermitted(doc, func(have []string) []string {
			return slices.DeleteFunc(have, func(name string) bool { return slices.Contains(r.Variables, name) })
		})
	})
	if err == nil {
		err = r.removePrograms(ctx, p)
	}
	if err != nil {
		if back := at.root.Rename(temporary, rel); back != nil {
			return fmt.Errorf("%w; the tool is in %s", err, at.abs(temporary))
		}
		return err
	}
	if err := at.root.RemoveAll(temporary); err != nil {
		return failed(at.abs(temporary), err)
	}
	return nil
}

func (r *Removal) removePrograms(ctx context.Context, p *project.Project) error {
	if len(r.Programs) == 0 {
		return nil
	}
	return editJSON(ctx, p, "requirements.json", func(doc *jsonedit.Document) (changed bool) {
		for i, entry := range slices.Backward(doc.Elements("dependencies")) {
			if slices.Contains(r.Programs, rawjson.TextOf(entry, "name")) {
				doc.Delete("dependencies", i)
				changed = true
			}
		}
		return changed
	})
}
