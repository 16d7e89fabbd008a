package wrap

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/scaffold/recipe"
)

// A Selection determines which options a tool gets (WRAP-6).
type Selection struct {
	// Max is the maximum number of options that are not required. 0 is MaxOptions for a tool
	// from a program's help, and all for one from a recipe. -1 allows none.
	Max     int      `json:"maxOptions,omitempty"`
	Only    []string `json:"only,omitempty"` // offer only these
	With    []string `json:"with,omitempty"` // offer these, too, which are left out otherwise
	Without []string `json:"without,omitempty"`
}

// MaxOptions is the maximum number of options of a tool that is made from a program's help.
const MaxOptions = 80

// For removes names that the recipe does not have. It is for one of several tools.
func (s Selection) For(r *recipe.Recipe) Selection {
	known := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !Has(r, name) })
	}
	if len(s.Only) > 0 && len(known(s.Only)) == 0 {
		s.Max = -1
	}
	s.Only, s.With, s.Without = known(s.Only), known(s.With), known(s.Without)
	return s
}

// Has reports whether a name is one of the recipe's arguments.
func Has(r *recipe.Recipe, name string) bool {
	return r.Stdin != nil && r.Stdin.Name == name ||
		slices.ContainsFunc(r.Arguments, func(a recipe.Argument) bool { return named(&a, name) })
}

// named reports whether a name, with or without dashes, names an argument or its option.
func named(a *recipe.Argument, name string) bool {
	return a.Name != "" && (name == a.Name || strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_") == a.Name ||
		slices.ContainsFunc(append([]string{a.Option}, a.Aliases...), func(option string) bool {
			return option != "" && (name == option || name == strings.TrimLeft(option, "-"))
		}))
}

// asked reports whether a list names an argument.
func asked(a *recipe.Argument, list []string) bool {
	return slices.ContainsFunc(list, func(name string) bool { return named(a, name) })
}

// choose takes the arguments from the recipe that the tool offers, and records the reason for
// each other one.
func (t *Tool) choose(s Selection) error {
	if err := unknownName(t.Recipe, s); err != nil {
		return err
	}
	options, limit := 0, max(s.Max, 0)
	switch {
	case len(s.Only) > 0, s.Max == 0 && t.Source.File != "":
		limit = math.MaxInt
	case s.Max == 0:
		limit = MaxOptions
	}
	for _, a := range t.Recipe.Arguments {
		why := ""
		switch {
		case a.Name == "":
		case asked(&a, s.Without) && a.Required:
			return cli.Usagef("--without %s: each call needs %[1]s", a.Name)
		case asked(&a, s.Without):
			why = "--without"
		case asked(&a, s.Only), asked(&a, s.With), a.Required:
		case a.Only:
			if why = "--with adds it"; t.Recipe.Danger(&a) != "" {
				why = t.Recipe.Danger(&a) + "; " + why
			}
		case len(s.Only) > 0 && a.Option != "":
			why = "--only"
		case a.Option != "" && options >= limit:
			why = fmt.Sprintf("beyond the first %d; --max-options or --with adds it", limit)
		}
		if why != "" {
			t.LeftOut = append(t.LeftOut, LeftOut{name(&a), why})
			continue
		}
		if a.Option != "" && !a.Required {
			options++
		}
		t.arguments = append(t.arguments, a)
	}
	for _, option := range slices.Sorted(maps.Keys(t.Recipe.Dangers)) {
		if t.Source.File != "" && !Has(t.Recipe, option) {
			t.LeftOut = append(t.LeftOut, LeftOut{option, t.Recipe.Dangers[option]})
		}
	}
	slices.SortStableFunc(t.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Why, b.Why) })
	if stdin := t.Recipe.Stdin; stdin != nil && !slices.Contains(s.Without, stdin.Name) {
		t.stdin = stdin
	}
	t.groups()
	return nil
}

// groups keeps the rules that concern offered arguments. A group with one argument that is needed
// makes it required.
func (t *Tool) groups() {
	offered := func(groups [][]string, least int) (kept [][]string) {
		for _, group := range groups {
			list := slices.DeleteFunc(slices.Clone(group), func(name string) bool { return !t.Offers(name) })
			if len(list) >= least {
				kept = append(kept, list)
			}
		}
		return kept
	}
	t.requires, t.excludes = offered(t.Recipe.Requires, 1), offered(t.Recipe.Excludes, 2)
}

// unknownName returns a usage error for the first name that the recipe does not have.
func unknownName(r *recipe.Recipe, s Selection) error {
	for _, name := range slices.Concat(s.Only, s.With, s.Without) {
		if Has(r, name) {
			continue
		}
		program := strings.Join(r.Words(), " ")
		for _, option := range []string{name, "-" + name, "--" + name} {
			if why := r.Dangers[option]; why != "" {
				return cli.Usagef("the recipe of %s does not offer %s: it %s; --no-recipe reads the program's help instead",
					program, option, why)
			}
		}
		var names []string
		for _, a := range r.Arguments {
			names = append(names, a.Name, strings.TrimLeft(a.Option, "-"))
		}
		return cli.Usagef("%s has no option %s%s", program, name, cli.DidYouMean(strings.TrimLeft(name, "-"), names))
	}
	return nil
}

// name returns the program's name for an argument.
func name(a *recipe.Argument) string {
	if a.Option == "" {
		return a.Name
	}
	return strings.Join(append([]string{a.Option}, a.Aliases...), ", ")
}
