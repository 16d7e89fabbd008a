package recipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// A Library is a directory of recipes. The recipe of "git log" is git-log.json.
type Library struct {
	Files fs.FS
	// Checked reports that the recipes are known to be right, so that they are read without [Parse]. It
	// takes longer to check a recipe than to make a tool of it.
	Checked bool
}

// FileName returns the name of the file of a recipe.
func (r *Recipe) FileName() string {
	return strings.Join(r.Words(), "-") + ".json"
}

// Words returns the words by which a person asks for the recipe: the program, its command and the
// variant.
func (r *Recipe) Words() []string {
	words := append([]string{r.Program}, r.Command...)
	if r.Variant != "" {
		words = append(words, r.Variant)
	}
	return words
}

// Names reports whether a name is one of the program's.
func (r *Recipe) Names(program string) bool {
	return r.Program == program || slices.Contains(r.Aliases, program)
}

// Is reports whether the words, a program and a subcommand, name the recipe.
func (r *Recipe) Is(words []string) bool {
	return r.Names(words[0]) && slices.Equal(r.Words()[1:], words[1:])
}

// Find returns the recipe for a command line, or nil. words[0] is the program's name or another
// name of it.
func (l Library) Find(words []string) (*Recipe, error) {
	name := strings.Join(words, "-") + ".json"
	if fs.ValidPath(name) && !strings.Contains(name, "/") {
		r, err := l.read(name)
		if err == nil && r.Is(words) {
			return r, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	names, err := l.list()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if l.mentions(name, words[0]) {
			if r, err := l.read(name); err != nil || r.Is(words) {
				return r, err
			}
		}
	}
	return nil, nil
}

// Of returns the recipes for a program and its commands, by file name.
func (l Library) Of(program string) ([]*Recipe, error) {
	list, err := l.where(func(name string) bool {
		return strings.HasPrefix(name, program) || l.mentions(name, program)
	})
	return slices.DeleteFunc(list, func(r *Recipe) bool { return !r.Names(program) }), err
}

// All returns all recipes, by file name.
func (l Library) All() ([]*Recipe, error) { return l.where(func(string) bool { return true }) }

// where returns the recipes in some files.
func (l Library) where(is func(name string) bool) (list []*Recipe, err error) {
	names, err := l.list()
	for _, name := range names {
		if is(name) {
			r, err := l.read(name)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
	}
	return list, err
}

func (l Library) list() ([]string, error) { return fs.Glob(l.Files, "*.json") }

// mentions reports whether a file has the name of a program among its aliases. It does not check
// the file, because that takes longer.
func (l Library) mentions(file, program string) bool {
	text, err := fs.ReadFile(l.Files, file)
	if err != nil {
		return false
	}
	aliases, _ := rawjson.Strings(rawjson.Get(text, "aliases"))
	return slices.Contains(aliases, program)
}

func (l Library) read(name string) (*Recipe, error) {
	text, err := fs.ReadFile(l.Files, name)
	if err != nil {
		return nil, err
	}
	r := new(Recipe)
	if l.Checked {
		err = json.Unmarshal(text, r)
	} else {
		r, err = Parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(name), err)
	}
	if r.FileName() != name {
		return nil, fmt.Errorf("%s: the file of this recipe must be called %s", name, r.FileName())
	}
	return r, nil
}
