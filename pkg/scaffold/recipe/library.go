package recipe

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A Library is a directory of recipes without faults. The recipe of "git log" is git-log.json.
type Library struct{ Files fs.FS }

// All returns all recipes, by file name.
func (l Library) All() (list []*Recipe, err error) {
	names, err := fs.Glob(l.Files, "*.json")
	for _, name := range names {
		r, err := l.read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, r)
	}
	return list, err
}

func (l Library) read(name string) (*Recipe, error) {
	text, err := fs.ReadFile(l.Files, name)
	if err != nil {
		return nil, err
	}
	r := new(Recipe)
	return r, json.Unmarshal(text, r)
}

// Of returns the recipes for a program and its commands, by file name.
func (l Library) Of(program string) ([]*Recipe, error) {
	all, err := l.All()
	return slices.DeleteFunc(all, func(r *Recipe) bool { return !r.Names(program) }), err
}

// Find returns the recipe for a command line, or nil. words[0] is the program's name or another
// name of it. Only for another name must all recipes be read.
func (l Library) Find(words []string) (*Recipe, error) {
	if r, err := l.read(fileName(words)); err == nil && r.Is(words) {
		return r, nil
	}
	all, err := l.Of(words[0])
	if i := slices.IndexFunc(all, func(r *Recipe) bool { return r.Is(words) }); i >= 0 {
		return all[i], nil
	}
	return nil, err
}

// FileName returns the name of the file of a recipe.
func (r *Recipe) FileName() string { return fileName(r.Words()) }

func fileName(words []string) string { return strings.Join(words, "-") + ".json" }

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
