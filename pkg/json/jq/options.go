package jq

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

type options struct {
	filter    string // or, with fromFile, the file with the filter
	hasFilter bool
	fromFile  bool
	libraries []string // directories of modules
	files     []string // of the input; empty: standard input

	noInput, rawInput, slurp bool

	indent         string // of one level; "" is compact output
	raw, join, nul bool
	ascii, sorted  bool
	direct         bool // results are not buffered
	exitStatus     bool
	help, version  bool

	named      []binding
	positional []json.RawMessage
	rest       operands
}

// operands is the meaning of operands after the filter.
type operands int

const (
	inputFiles operands = iota
	stringValues
	jsonValues
)

// A binding is a variable that the command line sets: to a value, or to the value that load
// returns for a file.
type binding struct {
	name  string
	value json.RawMessage
	file  string
	load  func(file string) (json.RawMessage, error)
}

type flag struct {
	short byte // 0: no short form
	long  string
	words string // names of the words that follow
	help  string
	set   func(o *options, words []string) error
}

// on returns the set function of a flag without parameters.
func on(set func(o *options)) func(*options, []string) error {
	return func(o *options, _ []string) error {
		set(o)
		return nil
	}
}

// flagList returns all flags, in the order of the help text.
func flagList() []flag {
	return []flag{
		{'n', "null-input", "", "run the filter once, on null; input and inputs read the input",
			on(func(o *options) { o.noInput = true })},
		{'R', "raw-input", "", "take each line of the input as a string", on(func(o *options) { o.rawInput = true })},
		{'s', "slurp", "", "take the whole input as one array (with -R: one string)",
			on(func(o *options) { o.slurp = true })},

		{'c', "compact-output", "", "write each result on one line", on(func(o *options) { o.indent = "" })},
		{'r', "raw-output", "", "write strings as they are, without quotes", on(func(o *options) { o.raw = true })},
		{0, "raw-output0", "", "as -r, with NUL after each result", on(func(o *options) { o.raw, o.nul = true, true })},
		{'j', "join-output", "", "as -r, with nothing after each result",
			on(func(o *options) { o.raw, o.join = true, true })},
		{'a', "ascii-output", "", "write all that is not ASCII as escapes", on(func(o *options) { o.ascii = true })},
		{'S', "sort-keys", "", "write the members of objects sorted by name", on(func(o *options) { o.sorted = true })},
		{'M', "monochrome-output", "", "write no colours, which is always so", on(func(*options) {})},
		{0, "tab", "", "indent by tabs", on(func(o *options) { o.indent = "\t" })},
		{0, "indent", "N", "indent by N spaces, 0 to 7; 0 is -c", setIndent},
		{0, "unbuffered", "", "write each result at once", on(func(o *options) { o.direct = true })},

		{'f', "from-file", "", "the first operand is the file with the filter",
			on(func(o *options) { o.fromFile = true })},
		{'L', "library-path", "DIR", "look for modules in DIR", func(o *options, words []string) error {
			o.libraries = append(o.libraries, words[0])
			return nil
		}},
		{'e', "exit-status", "", "exit 1 if the last result is false or null, 4 without results",
			on(func(o *options) { o.exitStatus = true })},

		{0, "arg", "NAME TEXT", "set $NAME to a string", func(o *options, words []string) error {
			o.bind(binding{name: words[0], value: rawjson.Quote(words[1])})
			return nil
		}},
		{0, "argjson", "NAME JSON", "set $NAME to a value", func(o *options, words []string) error {
			value, err := checkArgument("--argjson "+words[0], words[1])
			o.bind(binding{name: words[0], value: value})
			return err
		}},
		{0, "slurpfile", "NAME FILE", "set $NAME to the array of the values in FILE", loadFile(slurpFile)},
		{0, "argfile", "NAME FILE", "set $NAME to the value in FILE, or the array of its values", loadFile(valueFile)},
		{0, "rawfile", "NAME FILE", "set $NAME to the content of FILE, a string", loadFile(textFile)},
		{0, "args", "", "operands after the filter are strings in $ARGS.positional",
			on(func(o *options) { o.rest = stringValues })},
		{0, "jsonargs", "", "operands after the filter are values in $ARGS.positional",
			on(func(o *options) { o.rest = jsonValues })},

		{'h', "help", "", "show this", on(func(o *options) { o.help = true })},
		{'V', "version", "", "show the version", on(func(o *options) { o.version = true })},
	}
}

func setIndent(o *options, words []string) error {
	if n := words[0]; len(n) != 1 || n[0] < '0' || n[0] > '7' {
		return &usageError{fmt.Sprintf("--indent takes a number from 0 to 7, not %q", n)}
	}
	o.indent = strings.Repeat(" ", int(words[0][0]-'0'))
	return nil
}

func loadFile(load func(file string) (json.RawMessage, error)) func(*options, []string) error {
	return func(o *options, words []string) error {
		o.bind(binding{name: words[0], file: words[1], load: load})
		return nil
	}
}

// bind adds a variable. The first one with a name wins.
func (o *options) bind(b binding) {
	for _, set := range o.named {
		if set.name == b.name {
			return
		}
	}
	o.named = append(o.named, b)
}

// parseOptions parses a command line, in which flags and operands can be mixed. It opens no
// file. The error is a [*usageError].
func parseOptions(args []string) (*options, error) {
	o := &options{indent: "  "}
	flags := flagList()
	onlyOperands := false
	for len(args) > 0 && !o.help && !o.version {
		word := args[0]
		args = args[1:]
		var err error
		switch {
		case onlyOperands || len(word) < 2 || word[0] != '-':
			err = o.operand(word)
		case word == "--":
			onlyOperands = true
		case strings.HasPrefix(word, "--"):
			args, err = o.longFlag(flags, word, args)
		default:
			args, err = o.shortFlags(flags, word, args)
		}
		if err != nil {
			return nil, err
		}
	}
	if o.fromFile && !o.hasFilter && !o.help && !o.version {
		return nil, &usageError{"--from-file needs a file with the filter"}
	}
	return o, nil
}

func (o *options) operand(word string) error {
	if !o.hasFilter {
		o.filter, o.hasFilter = word, true
		return nil
	}
	switch o.rest {
	case stringValues:
		o.positional = append(o.positional, rawjson.Quote(word))
	case jsonValues:
		value, err := checkArgument("--jsonargs", word)
		if err != nil {
			return err
		}
		o.positional = append(o.positional, value)
	default:
		o.files = append(o.files, word)
	}
	return nil
}

// longFlag parses a word such as --arg, and returns the words after the flag's parameters.
func (o *options) longFlag(flags []flag, word string, args []string) (rest []string, err error) {
	for i := range flags {
		if flags[i].long == word[2:] {
			return o.take(&flags[i], word, args)
		}
	}
	return nil, unknownFlag(word, word)
}

// shortFlags parses a word such as -rc.
func (o *options) shortFlags(flags []flag, word string, args []string) (rest []string, err error) {
	for at := 1; at < len(word); at++ {
		found := findShort(flags, word[at])
		if found == nil {
			return nil, unknownFlag(word, "-"+word[at:at+1])
		}
		if found.words != "" && at+1 < len(word) {
			return args, found.set(o, []string{word[at+1:]})
		}
		if args, err = o.take(found, word, args); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func findShort(flags []flag, letter byte) *flag {
	for i := range flags {
		if flags[i].short == letter && letter != 0 {
			return &flags[i]
		}
	}
	return nil
}

func (o *options) take(f *flag, word string, args []string) (rest []string, err error) {
	count := len(strings.Fields(f.words))
	if len(args) < count {
		return nil, &usageError{fmt.Sprintf("%s must be followed by %s", word, f.words)}
	}
	return args[count:], f.set(o, args[:count])
}

// unknownFlag returns the error for a flag in a word. A flag that only jq itself has is named (SDK-14).
func unknownFlag(word, flag string) error {
	switch flag {
	case "--seq", "--stream", "--stream-errors", "--color-output", "-C":
		return &usageError{fmt.Sprintf("the jq of mcp-bash does not have the option %s: install jq, which scripts then "+
			"get as MCPBASH_JSON_TOOL_BIN", flag)}
	}
	return &usageError{fmt.Sprintf("Unknown option %s; write -- before a filter or file that begins with a dash", word)}
}

func checkArgument(flag, text string) (json.RawMessage, error) {
	value, err := checkValue([]byte(text))
	if err != nil {
		return nil, &usageError{fmt.Sprintf("Invalid JSON text passed to %s: %v", flag, err)}
	}
	return value, nil
}

type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

const helpHead = `jq - the JSON processor of mcp-bash, compatible with jq 1.7

Usage:
  jq [OPTION...] [FILTER [FILE...]]
  jq [OPTION...] -f FILTER-FILE [FILE...]
  jq [OPTION...] FILTER --args [STRING...]
  jq [OPTION...] FILTER --jsonargs [JSON...]

Applies FILTER to each JSON value in the files, or in standard input, and
writes the results. Without a filter, or with the filter ".", it writes its
input. Short options can be combined: -rc.

Examples:
  jq -r .name config.json
  jq -n --arg name World '{greeting: ("Hello " + $name)}'
  jq -c '.items[] | select(.size > 10)' < list.json

Options:
`

const helpTail = `
Exit codes:
  0  success
  1  with -e: the last result is false or null
  2  wrong options, or a file that cannot be read
  3  the filter does not compile
  4  with -e: there are no results
  5  the filter failed, or the input is not JSON

The language is described at https://jqlang.org/manual. This jq differs in four
ways. Integers of any size keep their digits. Paths such as .a.b[0] keep the order
of an object's members, and other filters sort them. Regular expressions have no
look-around and no back-references. There are no --seq, --stream and --color-output.
`

func help() string {
	var b strings.Builder
	b.WriteString(helpHead)
	for _, f := range flagList() {
		short := "    "
		if f.short != 0 {
			short = fmt.Sprintf("-%c, ", f.short)
		}
		fmt.Fprintf(&b, "  %s%-26s %s\n", short, strings.TrimSpace("--"+f.long+" "+f.words), f.help)
	}
	b.WriteString(helpTail)
	return b.String()
}

func slurpFile(name string) (json.RawMessage, error) {
	values, _, err := fileValues(name)
	return values, err
}

// valueFile returns the value in a file. If the file does not have exactly one value, it
// returns the array of its values.
func valueFile(name string) (json.RawMessage, error) {
	array, count, err := fileValues(name)
	if err == nil && count == 1 {
		return array[1 : len(array)-1], nil
	}
	return array, err
}

func fileValues(name string) (array json.RawMessage, count int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	r := reader{name: name, src: file, beforeRead: func() {}}
	array, err = wholeArray(func() (json.RawMessage, error) {
		value, err := r.value()
		if err == nil {
			count++
		}
		return value, err
	})
	return array, count, err
}

func textFile(name string) (json.RawMessage, error) {
	text, err := os.ReadFile(name)
	return rawjson.AppendString(nil, text), err
}

func (o *options) loadVariables() error {
	for i := range o.named {
		if b := &o.named[i]; b.load != nil {
			var err error
			if b.value, err = b.load(b.file); err != nil {
				return fmt.Errorf("cannot set $%s: %w", b.name, err)
			}
		}
	}
	return nil
}

func (o *options) arguments() json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("positional").Array()
	for _, value := range o.positional {
		b.Raw(value)
	}
	b.End().Name("named").Object()
	for _, set := range o.named {
		b.Name(set.name).Raw(set.value)
	}
	b.End().End()
	return b.Bytes()
}
