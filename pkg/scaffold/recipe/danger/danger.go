// Package danger has the list of dangerous programs and options. They run other programs, read settings
// that do, write to paths that they name, delete, take credentials or send data. Tools offer them only if
// somebody asks for them by name (WRAP-26). The list is dangers.json.
package danger

import (
	_ "embed" // the list
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

//go:embed dangers.json
var dangers []byte

// A List is the list of dangers.
type List struct {
	// Interpreters are programs that run the code they are given.
	Interpreters []string `json:"interpreters"`
	// Runners are programs whose operands or expressions run programs, with the reason.
	Runners map[string]string `json:"runners"`
	// Options are dangerous whichever program has them, and Programs those of some programs. The file can name several
	// programs with the same options, separated by spaces.
	Options  map[string]string            `json:"options"`
	Programs map[string]map[string]string `json:"programs"`
	// Kinds describe dangerous options of any program.
	Kinds []Kind `json:"kinds"`
}

// A Kind is a kind of dangerous options. An option is of the kind if its name, the name of its value or
// its description matches.
type Kind struct {
	Why string `json:"why"`
	// NotResult excludes options that only name the file or the folder of the result.
	NotResult bool `json:"notResult"`
	// Writes is for options that write to the path that they name.
	Writes bool `json:"writes"`
	// Edits is for switches that edit the input in place. This is what people use some programs for, so it is harmless.
	Edits bool `json:"edits"`
	// Takes restricts the kind to options with a text as value ("value"), with a path ("path") or
	// without a value ("none").
	Takes string `json:"takes"`
	// Name and Value are expressions for words of names in small letters, joined by dashes.
	Name  string `json:"name"`
	Value string `json:"value"`
	// Text is an expression for descriptions, and Unless for those of other options.
	Text   string `json:"text"`
	Unless string `json:"unless"`

	name, value, text, unless *regexp.Regexp // or nil
}

// An Option has the facts of the documentation about an option.
type Option struct {
	Names []string
	Value string // the name of its value
	Takes bool   // it has a value, which is not a number or a choice
	Help  string
	// Command are the words after the program. The result of "backup" is a backup.
	Command []string
	// Compiled reports that the program's language does not load code by its name. Node reports that the program is a
	// script of Node.js. These load formatters and the like by a name.
	Compiled, Node bool
}

// Load reads the list.
func Load() *List {
	l := &List{}
	if err := json.Unmarshal(dangers, l); err != nil {
		panic("dangers.json: " + err.Error()) // it is compiled in, and tested
	}
	for names, options := range maps.Clone(l.Programs) {
		for _, name := range strings.Fields(names) {
			l.Programs[name] = options
		}
		if strings.Contains(names, " ") {
			delete(l.Programs, names)
		}
	}
	for i := range l.Kinds {
		k := &l.Kinds[i]
		k.name, k.value = compile(`(?:^|-)(?:`, k.Name, `)$`), compile(`(?:^|-)(?:`, k.Value, `)$`)
		k.text, k.unless = compile("", k.Text, ""), compile("", k.Unless, "")
	}
	return l
}

func compile(before, expression, after string) *regexp.Regexp {
	if expression == "" {
		return nil
	}
	return regexp.MustCompile(before + expression + after)
}

// Interpreter reports whether a program runs the code it is given. A version can follow its name,
// as in python3.13.
func (l *List) Interpreter(program string) bool {
	return slices.Contains(l.Interpreters, base(program))
}

// Program returns the reason why a tool cannot pass any words to a program, or "".
func (l *List) Program(program string) string {
	if l.Interpreter(program) {
		return "runs the code it is given"
	}
	return l.Runners[base(program)]
}

// base returns a program's name without its version and suffix.
func base(program string) string {
	name := strings.TrimSuffix(program[strings.LastIndexAny(program, `/\`)+1:], ".exe")
	if short := strings.TrimRight(name, "0123456789.-"); short != "" && name != "sqlite3" && name != "m4" {
		return short
	}
	return name
}

// Names returns the dangerous options of a program: those that are dangerous anywhere, and its own.
func (l *List) Names(program string) map[string]string {
	names := maps.Clone(l.Options)
	maps.Copy(names, l.Programs[base(program)])
	maps.Copy(names, l.Programs[program])
	return names
}

var (
	// negative matches the beginning of names of options that avoid something.
	negative = lazyregexp.New(`^(?:no|without|disable|skip|ignore|exclude|keep|preserve|show|list|print|dry)-`)
	// denied matches a verb that a description denies, and what an option replaces.
	denied = lazyregexp.New(`(?i)(?:\bnot|n't|\bnever|\bprevent\w*|\bavoid\w*|\bwithout|\bno longer|` +
		`\bdisables?|\bremoves? the need) (?:\S+ )?\S+|\bwould (?:\S+ )?\S+(?: (?:to|in) (?:an? |the )?files?)?|` +
		`\b(?:instead of|rather than) \S+(?: (?:it|them|(?:the )?files?))?(?: in[- ]?place)?`)
	// toStdout matches what an output file replaces.
	toStdout = lazyregexp.New(`(?i)\b(?:instead of|rather than) (?:to )?(?:the )?(?:stdout|` +
		`standard output|console)\b`)
	// prints matches what only prints.
	prints = lazyregexp.New(`(?i)\b(?:writ|send|output|dump|force|extract|unpack|` +
		`decompress)\w* (?:\S+ ){0,3}?(?:to|on) ` +
		`(?:the |a )?(?:stdout|standard output|console|terminal|pipe)\b|\bwrit(?:es?|` +
		`ing) (?:(?:the|a|out) )*(?:count|number|total|name|size|length)s?\b|` +
		`\b(?:creat|generat|produc|mak)es? an? (?:table|list|summary|tree|diff)\b`)
	// pathValue matches names of values that are paths.
	pathValue = lazyregexp.New(`(?i)(?:file(?:[ _-]?name)?|basename|path|dir|dirname|directory|folder|out|dest|log|` +
		`^-$)s?[0-9]*$`)
	// harmless matches names of values that are numbers or a choice.
	harmless = lazyregexp.New(`(?i)^(?:n|num(?:ber)?|count|limit|max|min|size|sec(?:ond)?s?|` +
		`minutes|days|ms|msec|port|` +
		`level|lines?|width|height|depth|col(?:umn)?s?|percent|rate|ratio|bytes|factor|threads|` +
		`jobs|type|format|fmt|` +
		`style|mode|kind|when|html|xml|json|csv|yaml|scheme|encoding|charset|lang(?:uage)?|colou?r)$`)
	// aside matches a remark in parentheses.
	aside = lazyregexp.New(`(?i) \((?:note|see|default|e\.g\.|for example)\b[^()]*\)?`)
	// counts matches descriptions of values that are numbers.
	counts    = lazyregexp.New(`(?i)^(?:\w+ ){0,3}number of\b`)
	camel     = lazyregexp.New(`([a-z0-9])([A-Z])`)
	separator = lazyregexp.New(`[^a-z0-9]+`)
)

// Affirmed returns a description without the actions that it denies.
func Affirmed(help string) string {
	help = prints.ReplaceAllString(toStdout.ReplaceAllString(help, "(or stdout)"), "print")
	return denied.ReplaceAllString(help, "")
}

// First returns the first sentence of a description. Others often explain other options.
func First(help string) string {
	help = aside.ReplaceAllString(strings.TrimLeft(help, "- "), "")
	at := strings.Index(help[min(25, len(help)):], ". ")
	if at < 0 {
		return help
	}
	return help[:at+26]
}

// isNumber reports whether a value is a number, a format or the like.
func isNumber(o Option) bool {
	return harmless.MatchString(o.Value) || counts.MatchString(o.Help)
}

// words returns the words of a name in small letters, joined by dashes.
func words(name string) string {
	if strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz") {
		name = camel.ReplaceAllString(name, "$1-$2")
	}
	return strings.Trim(separator.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// An Effect is what the documentation of an option shows about its effects.
type Effect struct {
	Why    string // the reason why the option is dangerous, or ""
	Writes bool   // it is dangerous because it writes to the path that it names
	Result bool   // it only names the file or the folder of the result
	Edits  bool   // it edits the input in place
}

// Option returns the effect of an option of a program.
func (l *List) Option(program string, o Option) Effect {
	for _, name := range o.Names {
		for _, list := range []map[string]string{l.Programs[program], l.Programs[base(program)], l.Options} {
			if why := list[name]; why != "" && (o.Takes || o.Value == "") {
				return Effect{Why: why}
			}
		}
	}
	result := namesResult(o)
	o.Help = Affirmed(First(o.Help))
	if len(o.Names) == 1 && o.Names[0] == "-o" && o.Takes && pathValue.MatchString(o.Value) && !result {
		return Effect{Why: "writes to the path that it names", Writes: true}
	}
	o.Takes = o.Takes && !isNumber(o)
	if slices.ContainsFunc(o.Names, func(name string) bool { return negative.MatchString(words(name)) }) {
		return Effect{}
	}
	for i := range l.Kinds {
		switch k := &l.Kinds[i]; {
		case result && k.NotResult, !k.has(&o):
		case k.Edits:
			return Effect{Edits: true}
		default:
			return Effect{Why: k.Why, Writes: k.Writes}
		}
	}
	return Effect{Result: result}
}

// has reports whether an option is of the kind.
func (k *Kind) has(o *Option) bool {
	switch {
	case k.Takes == "value" && !o.Takes, k.Takes == "none" && (o.Takes || o.Value != ""),
		k.Takes == "path" && !(o.Takes && (pathValue.MatchString(o.Value))),
		k.unless != nil && k.unless.MatchString(o.Help):
		return false
	}
	return k.text != nil && k.text.MatchString(o.Help) ||
		k.value != nil && o.Takes && k.value.MatchString(words(o.Value)) ||
		k.name != nil && slices.ContainsFunc(o.Names, func(name string) bool {
			return len(strings.TrimLeft(name, "-")) > 1 && k.name.MatchString(words(name))
		})
}
