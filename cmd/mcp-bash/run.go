package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/server"
	"mcp-bash/pkg/tree"
)

// run does what the first argument asks for (cli chapter 3, protocol P-100).
func run(s cli.Streams, args []string) int {
	if len(args) == 0 {
		return serve(s, server.Options{})
	}
	switch word := args[0]; {
	case word == "--help" || word == "-h" || word == "help":
		fmt.Fprint(s.Out, help)
		return cli.ExitOK
	case word == "--version" || word == "-v":
		fmt.Fprintf(s.Out, "mcp-bash %s\n", cli.Version)
		return cli.ExitOK
	case word == "serve":
		return serveVerb(s, args[1:])
	case word == "debug":
		return debugVerb(s, args[1:])
	case word == "ui-template", word == "provider":
		return helper.Run(args, s.In, s.Out, s.Err)
	case word == "--health" || word == "--ready":
		return runVerb(s, strings.TrimPrefix(word, "--"), args[1:])
	case strings.HasPrefix(word, "-"):
		fmt.Fprintf(s.Err, "mcp-bash: unknown option: %s\n", word)
		if cli.IsTerminal(s.In) {
			fmt.Fprintln(s.Err, usage)
			return cli.ExitUsage
		}
		return serve(s, server.Options{}) // hosts pass stray flags
	}
	return runVerb(s, args[0], args[1:])
}

func serve(s cli.Streams, o server.Options) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(75) // it mostly waits for scripts: rather small than busy
	}
	o.Env, o.Tree, o.Stderr = project.OSEnv(), tree.Embedded, s.Err
	var err error
	if o.Dir, err = os.Getwd(); err != nil {
		o.Dir = string(os.PathSeparator)
	}
	return server.Serve(o)
}

// serveVerb is "serve [-- ARG...]": the arguments are for the project's scripts
// (B-2).
func serveVerb(s cli.Streams, args []string) int {
	switch {
	case len(args) == 0:
		return serve(s, server.Options{})
	case args[0] == "--":
		return serve(s, server.Options{Args: args[1:]})
	case args[0] == "--help" || args[0] == "-h":
		fmt.Fprint(s.Out, help)
		return cli.ExitOK
	}
	err := cli.Usagef("unexpected argument: %s (arguments for the project's scripts go after --)", args[0])
	return cli.Report(s, err, "serve", "mcp-bash", false)
}

// debugVerb serves and keeps a record of every message (cli chapter 13).
func debugVerb(s cli.Streams, args []string) int {
	options := cli.NewOptions("debug")
	format := options.String("format", "", "")
	_, err := options.Read(args)
	switch {
	case err == cli.ErrHelp:
		fmt.Fprint(s.Out, help)
		return cli.ExitOK
	case err == nil && *format != "" && *format != "ndjson" && *format != "text":
		return cli.Report(s, cli.Usagef("--format must be text or ndjson"), "debug", "mcp-bash", false)
	}
	return serve(s, server.Options{Debug: true, NDJSON: *format == "ndjson"}) // other arguments mean nothing (P-2500)
}
