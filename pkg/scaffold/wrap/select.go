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

// A LeftOut is an option that the tool does not offer.
type LeftOut struct{ Option, Why string }

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
	return slices.ContainsFunc(r.Properties(), func(a *recipe.Argument) bool { return isNamed(a, []string{name}) })
}

// isNamed reports whether one of the names, with or without dashes, names an argument or its option.
func isNamed(a *recipe.Argument, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		bare := strings.TrimLeft(name, "-")
		return name == a.Name || strings.ReplaceAll(bare, "-", "_") == a.Name ||
			slices.ContainsFunc(a.Spellings(), func(option string) bool {
				return name == option || name == strings.TrimLeft(option, "-")
			})
	})
}

// choose takes the arguments from the recipe that the tool offers, and records the reason for
// each other one.
func (t *Tool) choose(s Selection) error {
	if err := unknownName(t.Recipe, s); err != nil {
		return err
	}
	left := max(s.Max, 0) // options that there is room for
	limit := left
	switch {
	case len(s.Only) > 0, s.Max == 0 && t.Source.File != "":
		left = math.MaxInt
	case s.Max == 0:
		left, limit = MaxOptions, MaxOptions
	}
	var err error
	t.offer = t.Recipe.Keep(func(a *recipe.Argument) bool {
		why := ""
		isOption := a.Option != ""
		switch danger := t.Recipe.Danger(a); {
		case isNamed(a, s.Without) && a.Required:
			err = cli.Usagef("--without %s: each call needs %[1]s", a.Name)
		case isNamed(a, s.Without):
			why = "--without"
		case isNamed(a, s.Only), isNamed(a, s.With), a.Required:
		case a.Only && danger != "":
			why = danger + "; --with adds it"
		case a.Only:
			why = "--with adds it"
		case len(s.Only) > 0 && isOption:
			why = "--only"
		case isOption && left <= 0:
			why = fmt.Sprintf("beyond the first %d; --max-options or --with adds it", limit)
		}
		if why != "" {
			t.LeftOut = append(t.LeftOut, LeftOut{inProgram(a), why})
		} else if isOption && !a.Required {
			left--
		}
		return why == ""
	})
	for _, option := range slices.Sorted(maps.Keys(t.Recipe.Dangers)) {
		if t.Source.File != "" && !Has(t.Recipe, option) {
			t.LeftOut = append(t.LeftOut, LeftOut{option, t.Recipe.Dangers[option]})
		}
	}
	slices.SortStableFunc(t.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Why, b.Why) })
	return err
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
		for _, a := range r.Properties() {
			names = append(names, a.Name, strings.TrimLeft(a.Option, "-"))
		}
		return cli.Usagef("%s has no option %s%s", program, name, cli.DidYouMean(strings.TrimLeft(name, "-"), names))
	}
	return nil
}
