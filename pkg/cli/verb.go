package cli

import (
	"fmt"
	"os"
	"slices"
)

// A Verb is one thing a command does.
type Verb struct {
	Name  string                               // as it stands before its error messages: "run-tool"
	Usage string                               // how it is called from mcp-bash: "mcp-bash run-tool"
	Help  func(name string) string             // the help text; name is how the user called it
	Run   func(s Streams, args []string) error // an *Error, ErrHelp, an ExitCode, or nil
}

// An ExitCode is the error of a verb that failed and has said so already.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Main runs a verb and returns the exit code. --version and --help work
// whatever else is wrong (C-7).
func (v Verb) Main(s Streams, binary string, args []string) int {
	name := os.Getenv("MCPBASH_ARGV0") // set by mcp-bash (M-3)
	if name == "" {
		name = binary
	}
	if before, _ := beforeOperands(args); slices.Contains(before, "--version") || len(args) > 0 && args[0] == "-v" {
		fmt.Fprintf(s.Out, "%s %s\n", binary, Version)
		return ExitOK
	}
	switch err := v.Run(s, args); err := err.(type) {
	case nil:
		return ExitOK
	case ExitCode:
		return int(err)
	default:
		if err == ErrHelp {
			fmt.Fprint(s.Out, v.Help(name))
			return ExitOK
		}
		return Report(s, err, v.Name, name, asJSON(args))
	}
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
