// Package cli has the common parts of all commands: version, exit codes, options, help, errors, completion, and
// output to terminals (cli chapter 1).
//
// A [Command] is one value for everything that people see of a verb:
//
//	var quiet bool
//	c := &cli.Command{Name: "greet", Summary: "Greet somebody.", Usage: "NAME"}
//	c.Flags.Bool(&quiet, "quiet", "print nothing")
//	c.Run = func(s cli.Streams, operands []string) error { … }
//	os.Exit(cli.Run("mcp-greet", func(s cli.Streams, args []string) int {
//		return c.Main(s, "mcp-greet", args)
//	}))
//
// Run writes data to Out of its [Streams], and diagnostics to Err. An error of type [Error] has a cause and a remedy.
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Command describes one verb. Its options, --help, shell completion and manual page all come from this value.
type Command struct {
	Name     string    // such as "run-tool"; the prefix of error messages
	Summary  string    // one or two sentences, the first lines of the help
	Examples []Example // after the summary
	Usage    string    // the usage line between the name and the options, such as "[NAME]"
	Operands []Operand // in order
	Flags    Flags
	Text     string // after the options; indented lines are not wrapped
	Exits    []Exit // in order; without 2, that is wrong usage
	NotVerb  bool   // "mcp-bash NAME" does not run this command

	// Commands are subcommands. The first operand selects one. With Run, the command itself takes other operands.
	// Otherwise it has no operands and options. If a subcommand has subcommands too, the program calls its Main with
	// the remaining arguments.
	Commands []*Command
	Default  string // the subcommand that runs if the arguments name none; "": that is wrong usage

	// Run runs the command. The error may be an [*Error] or an [ExitCode].
	Run func(s Streams, operands []string) error
}

// An Example is a command line with its purpose. The help replaces NAME in the line by the command that was called.
type Example struct{ Line, Purpose string }

// An Operand is an argument that is not an option.
type Operand struct {
	Name     string // such as "FILE"; in brackets if it is optional, with dots if it can be repeated
	Complete Completion
	Missing  string // the error if a required operand is missing; "": the usual one
}

func (o Operand) optional() bool   { return strings.HasPrefix(o.Name, "[") }
func (o Operand) repeatable() bool { return strings.HasSuffix(strings.TrimSuffix(o.Name, "]"), "...") }

// An Exit is an exit code with its meaning.
type Exit struct {
	Code    int
	Meaning string
}

// exits returns the exit codes for people.
func (c *Command) exits() []Exit {
	at, found := slices.BinarySearchFunc(c.Exits, ExitUsage, func(e Exit, code int) int { return e.Code - code })
	if found || len(c.Exits) == 0 {
		return c.Exits
	}
	return slices.Insert(slices.Clone(c.Exits), at, Exit{ExitUsage, "wrong usage"})
}

// An ExitCode is the error of a command that failed and has printed the reason.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Main runs a command with the process's arguments and returns the exit code. binary is the name of the program.
// --version and --help take precedence over errors in other arguments.
func (c *Command) Main(s Streams, binary string, args []string) int {
	name := os.Getenv("MCPBASH_ARGV0") // set by mcp-bash
	name = cmp.Or(name, binary)
	before, _ := beforeOperands(args)
	switch {
	case len(args) > 0 && args[0] == CompleteWord:
		return c.complete(s, args[1:])
	case len(args) == 1 && args[0] == manualWord:
		fmt.Fprint(s.Out, c.manual(binary))
		return ExitOK
	case len(args) > 0 && args[0] == "help" && len(c.Commands) > 0: // CLI-1161
		return c.Main(s, binary, append(slices.Clone(args[1:]), "--help"))
	}
	sub, rest, err := c.choose(args)
	if slices.Contains(before, "--version") && sub.Flags.find("version") == nil || len(args) > 0 && args[0] == "-v" {
		printVersion(s.Out, binary, asJSON(args))
		return ExitOK
	}
	verb := c.Name
	if sub != c {
		name, verb = name+" "+sub.Name, verb+" "+sub.Name
	}
	if slices.Contains(before, "--help") || slices.Contains(before, "-h") {
		asVerb := "mcp-bash " + verb
		if sub == c && c.Name == binary { // a program of several verbs is not a verb
			asVerb = name
		} else if c.Name == binary {
			asVerb = "mcp-bash " + sub.Name
		}
		fmt.Fprint(s.Out, sub.help(name, asVerb, layoutFor(s.Out)))
		return ExitOK
	}
	if err == errNoSubcommand {
		if sub = c.subcommand(c.Default); sub == nil {
			sub, err = c, c.missingSubcommand()
		} else {
			rest, err = args, nil
		}
	}
	var operands []string
	if err == nil {
		operands, err = sub.read(rest)
	}
	if err == nil {
		err = sub.Run(s, operands)
	}
	switch err := err.(type) {
	case nil:
		return ExitOK
	case ExitCode:
		return int(err)
	}
	return report(s, err, c.Name, name, asJSON(args))
}

// MainOf is [Command.Main] for a program whose subcommands have subcommands, or are verbs. The subcommand that the
// first argument names parses the other arguments itself, as it does behind mcp-bash.
func (c *Command) MainOf(s Streams, args []string) int {
	if len(args) > 0 {
		if sub := c.subcommand(args[0]); sub != nil {
			return sub.Main(s, c.Name+" "+args[0], args[1:])
		}
	}
	return c.Main(s, c.Name, args)
}

// choose returns the selected subcommand and the remaining arguments. Options may precede the subcommand.
func (c *Command) choose(args []string) (*Command, []string, error) {
	if len(c.Commands) == 0 {
		return c, args, nil
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--" || arg == "-":
		case strings.HasPrefix(arg, "-"):
			if c.takesValue(arg) {
				i++
			}
			continue
		}
		if sub := c.subcommand(arg); sub != nil {
			return sub, slices.Concat(args[:i], args[i+1:]), nil
		}
		if c.Run == nil {
			return c, nil, Usagef("unknown subcommand: %s%s", arg, DidYouMean(arg, c.subcommands()))
		}
		break
	}
	if c.Run != nil {
		return c, args, nil
	}
	return c, nil, errNoSubcommand
}

// errNoSubcommand is the error of choose for arguments without a subcommand.
var errNoSubcommand = errors.New("no subcommand")

func (c *Command) missingSubcommand() error {
	names := c.subcommands()
	last := len(names) - 1
	return Usagef("a subcommand is missing: %s or %s", strings.Join(names[:last], ", "), names[last])
}

// subcommand returns the subcommand with a name, or nil.
func (c *Command) subcommand(name string) *Command {
	at := slices.IndexFunc(c.Commands, func(sub *Command) bool { return sub.Name == name })
	if at < 0 {
		return nil
	}
	return c.Commands[at]
}

func (c *Command) subcommands() (names []string) {
	for _, sub := range c.Commands {
		names = append(names, sub.Name)
	}
	return names
}

// takesValue reports whether an argument is an option of the command or a subcommand, with its value in the next
// argument.
func (c *Command) takesValue(arg string) bool {
	name := strings.TrimPrefix(arg, "--")
	return slices.ContainsFunc(append([]*Command{c}, c.Commands...), func(sub *Command) bool {
		f := sub.Flags.find(name)
		return f != nil && f.Value != ""
	})
}

// read parses the options, and checks the number of the operands.
func (c *Command) read(args []string) (operands []string, err error) {
	if operands, err = c.Flags.read(args); err != nil {
		return nil, err
	}
	for i, o := range c.Operands {
		if i == len(operands) && !o.optional() {
			if o.Missing != "" {
				return nil, Usagef("%s", o.Missing)
			}
			return nil, Usagef("%s is missing", strings.TrimSuffix(o.Name, "..."))
		}
	}
	most := len(c.Operands)
	if most > 0 && c.Operands[most-1].repeatable() {
		return operands, nil
	}
	if len(operands) > most {
		return nil, Usagef("unexpected argument: %s", operands[most])
	}
	return operands, nil
}

// asJSON reports whether --json was given. It also works for invalid options.
func asJSON(args []string) bool {
	before, _ := beforeOperands(args)
	return slices.Contains(before, "--json") || slices.Contains(before, "--json=true")
}

// beforeOperands splits args at "--".
func beforeOperands(args []string) (before, after []string) {
	if at := slices.Index(args, "--"); at >= 0 {
		return args[:at], args[at+1:]
	}
	return args, nil
}

// A Completion lists the possible values of an operand or an option. The zero value is for unknown values.
type Completion struct {
	// files and dirs leave the completion to the shell.
	files, dirs bool
	isList      bool
	words       func() []string
}

// Files completes names of files. Dirs completes names of directories, and DirList the first of a list.
var (
	Files   = Completion{files: true}
	Dirs    = Completion{dirs: true}
	DirList = Completion{dirs: true, isList: true}
)

// isPath reports whether the value is one path.
func (c *Completion) isPath() bool { return (c.files || c.dirs) && !c.isList }

// Words completes fixed words.
func Words(words ...string) Completion { return Completion{words: func() []string { return words }} }

// Found completes words that a function returns.
func Found(words func() []string) Completion { return Completion{words: words} }

// CompleteWord is the first argument with which the scripts in share/completions call a command. The command prints
// the completions of the last argument, one on each line: the word, a tab, and its meaning. The lines ":files" and
// ":directories" leave the completion to the shell.
const CompleteWord = "__complete"

func (c *Command) complete(s Streams, args []string) int {
	if len(args) == 0 {
		return ExitUsage
	}
	for _, line := range c.candidates(args[:len(args)-1], args[len(args)-1]) {
		fmt.Fprintln(s.Out, line)
	}
	return ExitOK
}

// candidates returns the completions of part after the words before.
func (c *Command) candidates(before []string, part string) (lines []string) {
	cmd := c
	if len(c.Commands) > 0 {
		sub, rest, err := c.choose(before)
		switch {
		case err != nil:
			return c.startingWith(part)
		case sub != c && len(sub.Commands) > 0:
			return sub.candidates(rest, part)
		}
		cmd, before = sub, rest
	}
	if n := len(before); n > 0 {
		if f := cmd.Flags.find(strings.TrimPrefix(before[n-1], "--")); f != nil && f.Value != "" &&
			!slices.Contains(before, "--") {
			return f.Complete.candidates(part)
		}
	}
	if name, value, ok := strings.Cut(part, "="); ok && strings.HasPrefix(name, "--") {
		if f := cmd.Flags.find(name[2:]); f != nil {
			for _, line := range f.Complete.candidates(value) {
				lines = append(lines, name+"="+line)
			}
			return lines
		}
	}
	if strings.HasPrefix(part, "-") && !slices.Contains(before, "--") {
		for _, row := range cmd.optionRows() {
			word, _, _ := strings.Cut(row[0][strings.Index(row[0], "--"):], " ")
			if strings.HasPrefix(word, part) {
				lines = append(lines, word+"\t"+strings.Join(strings.Fields(row[1]), " "))
			}
		}
		return lines
	}
	if len(before) == 0 {
		lines = cmd.startingWith(part)
	}
	return append(lines, cmd.operand(before).candidates(part)...)
}

func (c *Command) startingWith(part string) (lines []string) {
	for _, sub := range c.Commands {
		if strings.HasPrefix(sub.Name, part) {
			lines = append(lines, sub.Name+"\t"+sub.brief())
		}
	}
	if strings.HasPrefix(part, "-") {
		lines = append(lines, "--help", "--version")
	}
	return lines
}

// operand returns the completion of the operand after the words before.
func (c *Command) operand(before []string) Completion {
	if len(c.Operands) == 0 {
		return Completion{}
	}
	at := 0
	for i := 0; i < len(before); i++ {
		if f := c.Flags.find(strings.TrimPrefix(before[i], "--")); f != nil && strings.HasPrefix(before[i], "--") {
			if f.Value != "" {
				i++
			}
			continue
		}
		if !strings.HasPrefix(before[i], "-") {
			at++
		}
	}
	last := len(c.Operands) - 1
	if at > last {
		if !c.Operands[last].repeatable() {
			return Completion{}
		}
		at = last
	}
	return c.Operands[at].Complete
}

func (c Completion) candidates(part string) (lines []string) {
	switch {
	case c.files:
		return []string{":files"}
	case c.dirs:
		return []string{":directories"}
	case c.words == nil:
		return nil
	}
	for _, word := range c.words() {
		if strings.HasPrefix(word, part) {
			lines = append(lines, word)
		}
	}
	return lines
}
