package cli

import (
	"flag"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/peterbourgon/ff/v3"

	"mcp-bash/pkg/files/fsys"
)

// Flags are the options of a command. Unlike with package flag, options may follow operands. The zero value has no
// options.
type Flags struct {
	list  []*Flag
	set   *flag.FlagSet
	fault *Error // the error of an invalid value
}

// A Flag is one option.
type Flag struct {
	Name  string
	Value string // the name of its value, such as "DIR"; "" for a switch
	Help  string

	Complete Completion // of the value
	letter   string     // "o" for -o, or ""
	missing  string
}

// String adds an option with a text.
func (f *Flags) String(p *string, name, value, help string) *Flag {
	f.flags().StringVar(p, name, *p, "")
	return f.add(name, value, help)
}

// Strings adds an option with a text that may be repeated.
func (f *Flags) Strings(p *[]string, name, value, help string) *Flag {
	f.flags().Func(name, "", func(text string) error {
		*p = append(*p, text)
		return nil
	})
	return f.add(name, value, help)
}

// Positive adds an option with a whole number above zero.
func (f *Flags) Positive(p *int, name, value, help string) *Flag {
	f.flags().Func(name, "", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 || strings.Trim(text, "0123456789") != "" {
			return f.refuse("--%s must be a positive integer", name)
		}
		*p = n
		return nil
	})
	return f.add(name, value, help)
}

// Bool adds a switch.
func (f *Flags) Bool(p *bool, name, help string) *Flag {
	f.flags().BoolVar(p, name, *p, "")
	return f.add(name, "", help)
}

// One adds an option with one of several words.
func (f *Flags) One(p *string, name, value string, of []string, help string) *Flag {
	f.flags().Func(name, "", func(text string) error {
		if !slices.Contains(of, text) {
			return f.refuse("--%s: unknown %s %q%s; there are %s",
				name, strings.ToLower(value), text, DidYouMean(text, of), strings.Join(of, ", "))
		}
		*p = text
		return nil
	})
	added := f.add(name, value, help)
	added.Complete = Words(of...)
	return added
}

// Func adds an option whose text a function parses.
func (f *Flags) Func(name, value, help string, take func(text string) *Error) *Flag {
	f.flags().Func(name, "", func(text string) error {
		if f.fault = take(text); f.fault != nil {
			return f.fault
		}
		return nil
	})
	return f.add(name, value, help)
}

// Mode adds a switch that sets a text to the name of the switch. The last of several switches takes precedence.
func (f *Flags) Mode(p *string, name, help string) *Flag {
	f.flags().BoolFunc(name, "", func(text string) error {
		on, err := strconv.ParseBool(text)
		if on {
			*p = name
		}
		return err
	})
	return f.add(name, "", help)
}

// Completes sets the completion of the option's value.
func (f *Flag) Completes(c Completion) *Flag { f.Complete = c; return f }

// isPath reports whether the value is a path, and not possibly a URL.
func (f *Flag) isPath() bool { return f.Complete.isPath() && !strings.Contains(f.Value, "URL") }

// Letter adds a short form of the option, such as -o.
func (f *Flag) Letter(letter string) *Flag { f.letter = letter; return f }

// Missing sets the error for the option without a value, in place of the usual one.
func (f *Flag) Missing(text string) *Flag { f.missing = text; return f }

// Given reports whether an option was on the command line.
func (f *Flags) Given(name string) (given bool) {
	f.flags().Visit(func(set *flag.Flag) { given = given || set.Name == name })
	return given
}

// Any returns the name of an option that was on the command line and is not one of but, or "".
func (f *Flags) Any(but ...string) (name string) {
	f.flags().Visit(func(set *flag.Flag) {
		if !slices.Contains(but, set.Name) {
			name = set.Name
		}
	})
	return name
}

// Empty returns the name of an option that was on the command line with an empty value, or "".
func (f *Flags) Empty() (name string) {
	f.flags().Visit(func(set *flag.Flag) {
		if v, isText := set.Value.(flag.Getter); isText && v.Get() == "" {
			name = set.Name
		}
	})
	return name
}

func (f *Flags) flags() *flag.FlagSet {
	if f.set == nil {
		f.set = flag.NewFlagSet("", flag.ContinueOnError)
		f.set.SetOutput(io.Discard)
		f.set.Usage = func() {}
	}
	return f.set
}

func (f *Flags) add(name, value, help string) *Flag {
	added := &Flag{Name: name, Value: value, Help: help}
	f.list = append(f.list, added)
	return added
}

// Has reports whether there is an option.
func (f *Flags) Has(name string) bool { return f.find(name) != nil }

func (f *Flags) find(name string) *Flag {
	at := slices.IndexFunc(f.list, func(one *Flag) bool { return one.Name == name })
	if at < 0 {
		return nil
	}
	return f.list[at]
}

// read parses the options and returns the operands. All arguments after "--" are operands.
func (f *Flags) read(args []string) (operands []string, err error) {
	var given []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			operands = append(operands, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			operands = append(operands, arg)
			continue
		}
		isLetter := func(one *Flag) bool { return one.letter != "" && arg == "-"+one.letter }
		if at := slices.IndexFunc(f.list, isLetter); at >= 0 {
			arg = "--" + f.list[at].Name
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		option := f.find(name)
		if option == nil || !strings.HasPrefix(arg, "--") {
			return nil, Usagef("unknown option: %s%s", arg, DidYouMean("--"+name, f.names()))
		}
		if hasValue {
			if value, err = option.value(value); err != nil {
				return nil, err
			}
			arg = "--" + name + "=" + value
		}
		given = append(given, arg)
		if hasValue || option.Value == "" {
			continue
		}
		if i++; i == len(args) {
			if option.missing != "" {
				return nil, Usagef("%s", option.missing)
			}
			return nil, Usagef("--%s requires a value", name)
		}
		if value, err = option.value(args[i]); err != nil {
			return nil, err
		}
		given = append(given, value)
	}
	switch err := ff.Parse(f.flags(), given); {
	case f.fault != nil:
		return nil, f.fault
	case err != nil:
		return nil, Usagef("%s", err)
	}
	return operands, nil
}

// value checks the value of an option, and expands the tilde of a path. Texts must be valid UTF-8, because commands
// write them into JSON. Paths can have any bytes.
func (f *Flag) value(text string) (string, error) {
	switch {
	case f.isPath():
		path, err := fsys.Named(text, os.Getenv("HOME"))
		if err != nil {
			return "", Usagef("--%s: %v", f.Name, err)
		}
		return path, nil
	case !utf8.ValidString(text):
		return "", Usagef("--%s: %q is not valid UTF-8", f.Name, text)
	}
	return text, nil
}

func (f *Flags) refuse(format string, args ...any) error {
	f.fault = Usagef(format, args...)
	return f.fault
}

func (f *Flags) names() (names []string) {
	for _, one := range f.list {
		names = append(names, "--"+one.Name)
	}
	return names
}

// ProjectRoot adds the option --project-root (cli chapter 4).
func (f *Flags) ProjectRoot(p *string) *Flag {
	return f.String(p, "project-root", "DIR", `the project; else MCPBASH_PROJECT_ROOT, else the nearest directory
		upwards that holds server.d/server.meta.json`).Completes(Dirs)
}

// JSON adds the option --json to a command that prints JSON unless standard output is a terminal.
func (f *Flags) JSON(p *bool) {
	f.Bool(p, "json", "print results as JSON on a terminal, too, and errors as JSON on standard output")
}

// DidYouMean returns a suggestion for a mistyped word, or "".
func DidYouMean(word string, names []string) string { return Meant(Nearest(word, names)) }

// Meant returns the suggestion of a name, or "" for an empty name.
func Meant(name string) string {
	if name == "" {
		return ""
	}
	return " (did you mean " + name + "?)"
}

// maxMistyped limits mistyped words, in bytes. Words may come from untrusted texts.
const maxMistyped = 128

// Nearest returns the name that is most similar to a mistyped word, or "". At most a third of the word may be wrong,
// and never all of it.
func Nearest(word string, names []string) string {
	best, least := "", min(max(1, len(word)/3)+1, len(word))
	if word == "" || len(word) > maxMistyped {
		return ""
	}
	for _, name := range names {
		if len(name)-len(word) >= least || len(word)-len(name) >= least {
			continue // the difference in length alone is too large
		}
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the number of edits from a to b. An edit adds, removes or changes a letter, or exchanges
// neighbours.
func distance(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// Resembles reports whether a name is probably a mistyped form of another one. At most one letter differs. Case and
// other characters do not count.
func Resembles(name, meant string) bool {
	const longest = 64 // bytes; names may come from untrusted texts
	if len(name) > longest {
		return false
	}
	letters := func(text string) []rune {
		return []rune(strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, text))
	}
	a, b := letters(name), letters(meant)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1
}
