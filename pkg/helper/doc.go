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
//	                    text out (see get.go). 3 the filter does not compile,
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
//	                    the configuration out (see config.go).
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
//	                    content in (see http.go); the status code, a newline and
//	                    the content of the answer out, for the other programs.
//	                    1 there is no answer.
//	exchange PATH PATH  exchanges the two, for install.sh (CLI-1710). 1 the system
//	                    cannot.
//
// These helpers define the results. A copy of the SDK without our programs uses
// sdk/fallback.sh, which sdk/fallback_test.go compares with the helpers.
package helper
