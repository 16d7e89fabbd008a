package helper

import (
	"fmt"
	"io"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper/invoke"
	"mcp-bash/pkg/json/jq"
)

const (
	exitOK     = 0
	exitNo     = 1 // the answer is no, or is missing
	exitUsage  = 2 // wrong arguments, or input or output failed
	exitNoJSON = 5
)

// Main runs the helper that a command line asks for (see [invoke.Is]) and returns its
// exit code.
func Main(argv []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(argv) > 1 && argv[1] == invoke.Flag {
		return Run(argv[2:], stdin, stdout, stderr)
	}
	return jq.Run(argv[min(1, len(argv)):], stdin, stdout, stderr)
}

// Run runs a helper, the first of args being its name, and returns its exit
// code. Only helpers with an input read stdin.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintf(stderr, "%s: the name of a helper is missing\n", invoke.Flag)
		return exitUsage
	}
	name, args := args[0], args[1:]
	switch name {
	case "jq":
		return jq.Run(args, stdin, stdout, stderr)
	case "provider":
		return Provider(args, readBuiltin, stdout, stderr)
	case "ui-template":
		return uiTemplate(args, stdin, stdout, stderr)
	case "http":
		return httpRequest(stdin, stdout, stderr)
	}
	h, ok := private(name)
	switch {
	case !ok:
		cli.Printf(stderr, "%s: unknown helper %q\n", invoke.Flag, name)
		return exitUsage
	case len(args) < h.minArgs || h.maxArgs >= 0 && len(args) > h.maxArgs:
		cli.Printf(stderr, "%s %s: wrong number of arguments\n", invoke.Flag, name)
		return exitUsage
	}
	var input []byte
	if h.reads {
		var err error
		if input, err = readText(stdin); err != nil {
			cli.Printf(stderr, "%s %s: %v\n", invoke.Flag, name, err)
			return exitUsage
		}
	}
	answer, code := h.run(args, input)
	if code == exitUsage {
		cli.Printf(stderr, "%s %s: wrong arguments\n", invoke.Flag, name)
	}
	if _, err := stdout.Write(withoutNUL(answer)); err != nil {
		cli.Printf(stderr, "%s %s: %v\n", invoke.Flag, name, err)
		return exitUsage
	}
	return code
}

// A program is a private helper. It takes arguments and an input, and returns the output and the
// exit code.
type program struct {
	run     func(args []string, input []byte) (answer []byte, code int)
	reads   bool
	minArgs int
	maxArgs int // -1: any number
}

// private returns a private helper. A table would cost time at every start of the program.
func private(name string) (program, bool) {
	switch name {
	case "get":
		return program{get, true, 1, 1}, true
	case "json":
		return program{oneValue, true, 0, 0}, true
	case "quote":
		return program{quote, true, 0, 0}, true
	case "success":
		return program{success, true, 1, 1}, true
	case "error":
		return program{failure, true, 0, 0}, true
	case "truncate":
		return program{truncate, true, 1, 2}, true
	case "cli-error":
		return program{cliError, true, 0, 0}, true
	case "answers":
		return program{answers, true, 0, 1}, true
	case "config":
		return program{config, true, 4, 4}, true
	case "progress":
		return program{progress, true, 0, 0}, true
	case "path":
		return program{physicalPath, false, 1, -1}, true
	case "tool-path":
		return program{toolPath, false, 3, 3}, true
	case "tool-policy":
		return program{toolPolicy, true, 6, 6}, true
	case "mime":
		return program{mimeTypes, false, 1, -1}, true
	case "media":
		return program{medium, false, 3, 4}, true
	case "redact":
		return program{redacted, true, 0, 0}, true
	case "exchange":
		return program{exchange, false, 2, 2}, true
	}
	return program{}, false
}
