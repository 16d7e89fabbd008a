package main

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"mcp-bash/pkg/check/health"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/serve"
)

// run serves, or runs the command of the first argument (cli chapter 3, P-100).
func run(s cli.Streams, args []string) int {
	if len(args) == 0 {
		return serveProject(s, serve.Options{})
	}
	c, word := command(), args[0]
	own := slices.IndexFunc(c.Commands, func(sub *cli.Command) bool {
		return sub.Name == word && (sub.Run != nil || sub.Commands != nil)
	})
	switch {
	case len(args) > 1 && (word == "help" || isHelp(word)) && !strings.HasPrefix(args[1], "-"): // CLI-1161
		return run(s, append(slices.Clone(args[1:]), "--help"))
	case word == "help":
		return c.Main(s, "mcp-bash", []string{"--help"})
	case isHelp(word) || word == "--version" || word == "-v" || strings.HasPrefix(word, "__"):
		return runOwn(s, c, args)
	case word == "serve": // arguments after -- are for the project's scripts (CLI-302)
		own, forScripts := splitArguments(args[1:])
		return serveCommand(func(s cli.Streams, o serve.Options) error {
			o.Args = forScripts
			return exit(serveProject(s, o))
		}).Main(s, "mcp-bash serve", own)
	case own >= 0:
		return c.Commands[own].Main(s, "mcp-bash "+word, args[1:])
	case word == "--health" || word == "--ready":
		return health.Command(word, serverOf).Main(s, "mcp-bash "+word, args[1:])
	case strings.HasPrefix(word, "-"):
		at := serveOption(args)
		if at != 0 {
			cli.Printf(s.Err, "mcp-bash: unknown option: %s\n", word)
		}
		if at >= 0 {
			return run(s, append([]string{"serve"}, args[at:]...))
		}
		if cli.IsTerminal(s.In) {
			cli.Printf(s.Err, "Usage: mcp-bash %s\n", c.Usage)
			return cli.ExitUsage
		}
		return serveProject(s, serve.Options{}) // hosts pass stray flags
	}
	return runVerb(s, args[0], args[1:])
}

// serveOption returns the index of the first option of serve in a command line that begins with an option, or -1. The
// word "serve" is missing there (CLI-301).
func serveOption(args []string) int {
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") {
		return -1
	}
	flags := &serveCommand(nil).Flags
	return slices.IndexFunc(args, func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		return strings.HasPrefix(name, "--") && flags.Has(name[2:])
	})
}

// splitArguments separates the arguments of serve from those for the project's scripts.
func splitArguments(args []string) (own, forScripts []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

func isHelp(word string) bool { return word == "--help" || word == "-h" }

func serveProject(s cli.Streams, o serve.Options) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(75) // the server mostly waits for scripts, so memory matters more than time
	}
	if o.HTTP == nil && cli.IsTerminal(s.In) && cli.IsTerminal(s.Err) { // CLI-1143
		cli.Printf(s.Err, "mcp-bash: this is an MCP server, and it waits for a client on standard input "+
			"(Ctrl-D ends it; try mcp-bash run-tool or mcp-bash --help)\n")
	}
	o.Env, o.Placeholders, o.Tree, o.Stderr = project.OSEnv(), project.Placeholders(), tree.Embedded, s.Err
	var err error
	if o.Dir, err = os.Getwd(); err != nil {
		o.Dir = string(os.PathSeparator)
	}
	return serve.Serve(o)
}

// runOwn runs a command of this program. The sibling of a verb completes the words after the verb.
func runOwn(s cli.Streams, c *cli.Command, args []string) int {
	if args[0] == cli.CompleteWord && len(args) > 2 {
		if owner, known := ownerOf(args[1]); known && findSibling(owner.program) != "" {
			rest := args[2:]
			if owner.passVerb {
				rest = args[1:]
			}
			owner.passVerb = false
			return runProgram(s, owner, append([]string{cli.CompleteWord}, rest...))
		}
	}
	return c.Main(s, "mcp-bash", args)
}

// debugCommand serves and records every message (cli chapter 13).
func debugCommand() *cli.Command {
	format, root := "text", ""
	c := &cli.Command{
		Name:    "debug",
		Summary: "Serve, and record every message in a new directory that is kept.",
		Examples: []cli.Example{
			{Line: "NAME"}, {Line: "NAME --format ndjson", Purpose: "records for programs"},
		},
		Operands: []cli.Operand{{Name: "[ARG...]"}}, // without effect (P-2500)
		Usage:    " ",
		Run: func(s cli.Streams, _ []string) error {
			return exit(serveProject(s, serve.Options{Root: root, Debug: true, NDJSON: format == "ndjson"}))
		},
	}
	c.Flags.ProjectRoot(&root)
	c.Flags.One(&format, "format", "FORMAT", []string{"text", "ndjson"}, "of the record: text or ndjson")
	return c
}

func exit(code int) error {
	if code == cli.ExitOK {
		return nil
	}
	return cli.ExitCode(code)
}
