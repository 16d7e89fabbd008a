// Package helper implements the programs that scripts start (CLI-208). These are the JSON program,
// the renderer of UI templates, and private helpers for the slow paths of the Bash SDK. They are
// part of mcp-bash, whose main begins with
//
//	if invoke.Is(os.Args) {
//		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
//	}
//
// The other programs that start scripts forward such command lines to mcp-bash (package invoke).
//
// # Private helpers
//
// The SDK calls BINARY --helper NAME ARG... and passes text on standard input. The helper removes
// one newline at the end, which Bash adds, and reads invalid UTF-8 as U+FFFD. The output never
// contains U+0000. Exit code 0 is success, and 2 is wrong usage. The list explains other codes.
//
//	get FILTER          JSON in; a letter for the kind of the result and its
//	                    text out (see get). 3 the filter does not compile,
//	                    5 it fails or the input is not JSON.
//	json                one JSON value in, the same compact out. 1 no JSON value.
//	quote               text in, a JSON string out.
//	success MAX         JSON in, the result envelope of SDK-70 out, with a
//	                    summary as text above MAX bytes. 1 no JSON.
//	error               JSON in, the error envelope of SDK-71 out. 1 no JSON.
//	truncate MAX [PATH] JSON in, the object of SDK-86 out; PATH leads to the
//	                    array to cut, as .key.key.
//	cli-error           output of a program in; the message of SDK-89 out, or
//	                    nothing.
//	answers [KEY]       batch.response of T-128 in; the answers out, or that of
//	                    one key. 1 one is missing.
//	config LENGTH EXAMPLE FILE VARIABLE
//	                    the default configuration of LENGTH bytes and the value
//	                    of the VARIABLE behind it in; lines about the sources and
//	                    the configuration out (see config).
//	progress            a line of JSON in; a percentage, a newline, the message
//	                    and a dot out. 1 no progress, 5 no JSON.
//	path PATH [ROOT...] the physical path out. 1 it is outside of the roots.
//	tool-path PROJECT TOOLSDIR PATH
//	                    1 the script may not be run as a tool (for policy.sh).
//	tool-policy NAME ALLOWLIST ALLOW_DEFAULT CONTEXT PROJECT TOOLSDIR
//	                    a tool's registry entry in. 1 the built-in policy refuses
//	                    the tool: the message, a newline and the data out (for
//	                    policy.sh).
//	mime FILE...        a MIME type for each file out, one on a line.
//	media KIND LIMIT FILE [MIME]
//	                    an image or sound; the envelope of SDK-77 out, for an
//	                    answer of at most LIMIT bytes.
//	http                a line of JSON that describes an HTTP request and its
//	                    content in (see httpRequest); the status code, a newline and
//	                    the content of the answer out, for the other programs.
//	                    1 there is no answer.
//	exchange PATH PATH  exchanges the two, for install.sh (CLI-1710). 1 the system
//	                    cannot.
//
// These helpers define the results. A copy of the SDK without our programs uses
// sdk/fallback.sh, which sdk/fallback_test.go compares with the helpers.
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
