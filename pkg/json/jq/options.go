package jq

import (
	_ "embed" // the help
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

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
	rest       string // the flag that determines the meaning of operands after the filter, or "" for input files
}

// A binding is a variable that the command line sets: to a value, or by a flag to the content of a file.
type binding struct {
	name  string
	value json.RawMessage
	flag  string
	file  string
}

//go:embed help.txt
var help string

// A flag is a line of the help text: "  -n, --null-input   run the filter …", "      --arg NAME TEXT   set $NAME …".
type flag struct{ names, words []string }

var flags = sync.OnceValue(func() (list []flag) {
	for line := range strings.Lines(help) {
		before, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		words := strings.Fields(strings.ReplaceAll(before, ",", ""))
		n := len(words)
		if at := slices.IndexFunc(words, func(word string) bool { return word[0] != '-' }); at >= 0 {
			n = at
		}
		if n > 0 {
			list = append(list, flag{words[:n], words[n:]})
		}
	}
	return list
})

// set sets a flag with the words that follow it.
func (o *options) set(flag string, words []string) error {
	switches := map[string]*bool{
		"--null-input": &o.noInput, "--raw-input": &o.rawInput, "--slurp": &o.slurp, "--raw-output": &o.raw,
		"--ascii-output": &o.ascii, "--sort-keys": &o.sorted, "--unbuffered": &o.direct, "--from-file": &o.fromFile,
		"--exit-status": &o.exitStatus, "--help": &o.help, "--version": &o.version,
	}
	if is := switches[flag]; is != nil {
		*is = true
		return nil
	}
	switch flag {
	case "--raw-output0":
		o.raw, o.nul = true, true
	case "--join-output":
		o.raw, o.join = true, true
	case "--compact-output":
		o.indent = ""
	case "--tab":
		o.indent = "\t"
	case "--indent":
		n := words[0]
		if len(n) != 1 || n[0] < '0' || n[0] > '7' {
			return &usageError{fmt.Sprintf("--indent takes a number from 0 to 7, not %q", n)}
		}
		o.indent = strings.Repeat(" ", int(n[0]-'0'))
	case "--library-path":
		o.libraries = append(o.libraries, words[0])
	case "--arg":
		o.bind(binding{name: words[0], value: rawjson.Quote(words[1])})
	case "--argjson":
		value, err := checkArgument("--argjson "+words[0], words[1])
		o.bind(binding{name: words[0], value: value})
		return err
	case "--slurpfile", "--argfile", "--rawfile":
		o.bind(binding{name: words[0], flag: flag, file: words[1]})
	case "--args", "--jsonargs":
		o.rest = flag
	}
	return nil // --monochrome-output: the output never has colours
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
			args, err = o.take(word, word, args)
		default:
			args, err = o.shortFlags(word, args)
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
	case "--args":
		o.positional = append(o.positional, rawjson.Quote(word))
	case "--jsonargs":
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

// shortFlags parses a word such as -rc, and returns the words after the parameters of the flags.
func (o *options) shortFlags(word string, args []string) (rest []string, err error) {
	for at := 1; at < len(word); at++ {
		if letter := word[at : at+1]; letter == "L" && at+1 < len(word) {
			return args, o.set("--library-path", []string{word[at+1:]})
		} else if args, err = o.take("-"+letter, word, args); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// take sets a flag of a word with the words that it needs.
func (o *options) take(name, word string, args []string) (rest []string, err error) {
	at := slices.IndexFunc(flags(), func(f flag) bool { return slices.Contains(f.names, name) })
	if at < 0 {
		return nil, unknownFlag(word, name)
	}
	f := flags()[at]
	count := len(f.words)
	if len(args) < count {
		return nil, &usageError{fmt.Sprintf("%s must be followed by %s", word, strings.Join(f.words, " "))}
	}
	return args[count:], o.set(f.names[len(f.names)-1], args[:count])
}

// unknownFlag returns the error for a flag in a word. The error differs for a flag that only jq itself has.
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

// load reads the file of a variable. --argfile sets the value in it, unless the file does not have exactly one.
func (b *binding) load() error {
	if b.flag == "--rawfile" {
		text, err := os.ReadFile(b.file)
		b.value = rawjson.AppendString(nil, text)
		return err
	}
	file, err := os.Open(b.file)
	if err != nil {
		return err
	}
	defer file.Close()
	r := reader{name: b.file, src: file, beforeRead: func() {}}
	b.value, err = wholeArray(r.value)
	if values := slices.Collect(rawjson.Elements(b.value)); err == nil && b.flag == "--argfile" && len(values) == 1 {
		b.value = values[0]
	}
	return err
}

func (o *options) loadVariables() error {
	for i := range o.named {
		if b := &o.named[i]; b.flag != "" {
			if err := b.load(); err != nil {
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
