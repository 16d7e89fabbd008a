package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Command describes one verb, once: what it accepts, its --help, what shells
// complete and its manual page all come from here.
type Command struct {
	Name     string    // "run-tool": before its error messages
	Summary  string    // a sentence or two, at the top of the help
	Examples []Example // right below it
	Usage    string    // what stands between the name and the options: "[NAME]"
	Operands []Operand // in order
	Flags    Flags
	Text     string // after the options: paragraphs, or indented lines kept as they are
	Exits    []Exit
	NotVerb  bool // "mcp-bash NAME" is something else, or nothing

	// Commands are chosen by the first operand. The command itself then has
	// neither operands, options nor Run. Where one of them has commands itself, the
	// program calls Main of that one with what follows its name.
	Commands []*Command

	// Run does the work. The error is an [*Error], an [ExitCode], or any other.
	Run func(s Streams, operands []string) error
}

// An Example is a command line and what it is good for. In it, and in all texts,
// NAME stands for the command as the user called it.
type Example struct{ Line, Purpose string }

// An Operand is an argument that is no option.
type Operand struct {
	Name     string // "FILE"; in brackets one that may be left out, with dots one that may be repeated
	Complete Completion
	Missing  string // the error where it is left out and may not be; "": the usual one
}

func (o Operand) optional() bool   { return strings.HasPrefix(o.Name, "[") }
func (o Operand) repeatable() bool { return strings.HasSuffix(strings.TrimSuffix(o.Name, "]"), "...") }

// An Exit is an exit code and what it means.
type Exit struct {
	Code    int
	Meaning string
}

// An ExitCode is the error of a verb that failed and has said so already.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Main runs a command with the process's arguments and returns the exit code.
// binary is the name of the program. --version and --help work whatever else is
// wrong (CLI-107).
func (c *Command) Main(s Streams, binary string, args []string) int {
	name := os.Getenv("MCPBASH_ARGV0") // set by mcp-bash (CLI-203)
	if name == "" {
		name = binary
	}
	before, _ := beforeOperands(args)
	switch {
	case len(args) > 0 && args[0] == CompleteWord:
		return c.complete(s, args[1:])
	case len(args) == 1 && args[0] == manualWord:
		fmt.Fprint(s.Out, c.manual(binary))
		return ExitOK
	}
	sub, rest, err := c.choose(args)
	if slices.Contains(before, "--version") && sub.Flags.find("version") == nil || len(args) > 0 && args[0] == "-v" {
		fmt.Fprintf(s.Out, "%s %s\n", binary, stamped())
		return ExitOK
	}
	verb := c.Name
	if sub != c {
		name, verb = name+" "+sub.Name, verb+" "+sub.Name
	}
	if slices.Contains(before, "--help") || slices.Contains(before, "-h") {
		asVerb := "mcp-bash " + verb
		if sub == c && c.Name == binary { // a program of several verbs is none itself
			asVerb = name
		}
		fmt.Fprint(s.Out, sub.help(name, asVerb))
		return ExitOK
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

// choose returns the command that is meant and what is left of the arguments.
// The word that chooses it may stand behind options.
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
		at := slices.IndexFunc(c.Commands, func(sub *Command) bool { return sub.Name == arg })
		if at < 0 {
			return c, nil, Usagef("unknown subcommand: %s%s", arg, DidYouMean(arg, c.subcommands()))
		}
		return c.Commands[at], slices.Concat(args[:i], args[i+1:]), nil
	}
	names := c.subcommands()
	last := len(names) - 1
	return c, nil, Usagef("a subcommand is missing: %s or %s", strings.Join(names[:last], ", "), names[last])
}

func (c *Command) subcommands() (names []string) {
	for _, sub := range c.Commands {
		names = append(names, sub.Name)
	}
	return names
}

// takesValue reports whether an argument is an option of one of the commands
// below whose value is the next argument.
func (c *Command) takesValue(arg string) bool {
	name := strings.TrimPrefix(arg, "--")
	return slices.ContainsFunc(c.Commands, func(sub *Command) bool {
		f := sub.Flags.find(name)
		return f != nil && f.Value != ""
	})
}

// read takes the options out of the arguments and checks how many operands are
// left.
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

// asJSON reports whether --json was asked for, also when the options could not
// be read because one of them is wrong.
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
