// Package helper implements the programs that scripts start. These are the JSON program, the renderer of UI templates,
// and private helpers for the slow paths of the Bash SDK. They are part of mcp-bash, whose main begins with
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
	"bytes"
	"fmt"
	"io"
	"slices"

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

// Run runs the helper that args[0] names, with the other args, and returns its exit code. Only helpers with an input
// read stdin.
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
	at := slices.IndexFunc(private, func(p program) bool { return p.name == name })
	if at < 0 {
		cli.Printf(stderr, "%s: unknown helper %q\n", invoke.Flag, name)
		return exitUsage
	}
	wrong := func(reason string) int {
		cli.Printf(stderr, "%s %s: %s\n", invoke.Flag, name, reason)
		return exitUsage
	}
	h, input := &private[at], []byte(nil)
	if len(args) < h.minArgs || h.maxArgs >= 0 && len(args) > h.maxArgs {
		return wrong("wrong number of arguments")
	}
	if h.reads {
		var err error
		if input, err = readText(stdin); err != nil {
			return wrong(err.Error())
		}
	}
	answer, code := h.run(args, input)
	if code == exitUsage {
		wrong("wrong arguments")
	}
	answer = bytes.ReplaceAll(answer, []byte{0}, nil) // a Bash variable cannot contain U+0000
	if _, err := stdout.Write(answer); err != nil {
		return wrong(err.Error())
	}
	return code
}

// A program is a private helper. It takes arguments and an input, and returns the output and the
// exit code.
type program struct {
	name    string
	run     func(args []string, input []byte) (answer []byte, code int)
	reads   bool
	minArgs int
	maxArgs int // -1: any number
}

// private are the private helpers. A list of constants costs no time at the start of the program.
var private = []program{
	{"get", get, true, 1, 1}, {"json", oneValue, true, 0, 0}, {"quote", quote, true, 0, 0},
	{"success", success, true, 1, 1}, {"error", failure, true, 0, 0}, {"truncate", truncate, true, 1, 2},
	{"cli-error", cliError, true, 0, 0}, {"answers", answers, true, 0, 1}, {"config", config, true, 4, 4},
	{"progress", progress, true, 0, 0}, {"path", physicalPath, false, 1, -1}, {"tool-path", toolPath, false, 3, 3},
	{"tool-policy", toolPolicy, true, 6, 6}, {"mime", mimeTypes, false, 1, -1}, {"media", medium, false, 3, 4},
	{"redact", redacted, true, 0, 0}, {"exchange", exchange, false, 2, 2},
}
