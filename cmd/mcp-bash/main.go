// Mcp-bash serves a project's tools to an MCP client on standard input and output. "mcp-bash VERB" runs the program
// that implements the verb.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"mcp-bash/pkg/check/health"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/helper/invoke"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/serve"
)

func main() {
	if invoke.Is(os.Args) { // a script calls this program
		os.Exit(helper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	project.UsePackaged()
	os.Exit(cli.Run("mcp-bash", run))
}

func command() *cli.Command {
	c := &cli.Command{
		Name:    "mcp-bash",
		Summary: "Serve a folder of scripts to MCP clients.",
		Examples: []cli.Example{
			{Line: "mcp-bash", Purpose: "serve the project around this directory"},
			{Line: "MCPBASH_PROJECT_ROOT=~/srv mcp-bash", Purpose: "serve that one, as a client does"},
			{Line: "mcp-bash run-tool hello --allow-self", Purpose: "try one tool without a client"},
			{Line: "mcp-bash request tools/list", Purpose: "ask the server one thing"},
			{Line: "mcp-bash registry refresh", Purpose: "rebuild .registry/*.json"},
			{Line: "mcp-bash debug", Purpose: "serve, and record every message"},
			{Line: "mcp-bash new my-server", Purpose: "make a project"},
			{Line: "mcp-bash scaffold tool my-tool", Purpose: "add a tool to it"},
		},
		Usage: "[serve [--http [ADDR]] [-- ARG...] | debug | COMMAND ...]",
		Text: `"mcp-bash FOO" runs the program mcp-FOO, as git does. The program is next to mcp-bash or on PATH.

A project is a directory with server.d/server.meta.json. Outside of a project, mcp-bash serves a temporary
getting-started helper.

Frequent environment variables (all variables: docs/SETTINGS.md):

  MCPBASH_PROJECT_ROOT     the project to serve
  MCPBASH_TOOL_ALLOWLIST   tools that may run; * for all; unset, none may
  MCPBASH_REMOTE_TOKEN     a secret that every request must carry
  MCPBASH_LOG_LEVEL        debug, info, notice, warning, error, ...`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "normal end"},
			{Code: 1, Meaning: "failure at start, or standard output that cannot be written"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Commands: []*cli.Command{serveCommand(nil), debugCommand(), requestCommand(), providerCommand(),
			templateCommand(), tokenCommand(), health.Command("health", serverOf), health.Command("ready", serverOf)},
	}
	for _, s := range siblings {
		summary := fmt.Sprintf("%s (%s).", s.summary, s.program)
		c.Commands = append(c.Commands, &cli.Command{Name: s.verb, Summary: summary})
	}
	return c
}

// run runs a server, or the command that the first argument names (cli chapter 3, P-100).
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
	case word == "serve": // arguments after -- are for the project's scripts
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
		return serveProject(s, serve.Options{}) // some clients pass unknown options
	}
	return runVerb(s, args[0], args[1:])
}

// serveOption returns the index of the first option of serve, or -1. The command line must begin with an option, so the
// word "serve" is missing.
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

// runOwn runs a command of this program. If a sibling implements a verb, it completes the words after the verb.
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
		Operands: []cli.Operand{{Name: "[ARG...]"}}, // without effect
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

// A sibling is another program that implements a verb, such as mcp-bundle.
type sibling struct {
	verb     string
	program  string
	passVerb bool // the verb is the first argument, because the program has several verbs
	summary  string
}

// siblings are the programs of this product, in the order of the help.
var siblings = []sibling{
	{"run-tool", "mcp-runtool", false, "List the tools, or run one and show its result"},
	{"registry", "mcp-registry", false, "Refresh and show what the project offers"},
	{"new", "mcp-scaffold", true, "Make a project in a new directory"},
	{"init", "mcp-scaffold", true, "Make a project in this directory"},
	{"add", "mcp-scaffold", true, "Make tools of scripts"},
	{"remove", "mcp-scaffold", true, "Remove a tool"},
	{"scaffold", "mcp-scaffold", true, "Add tools, prompts, pages and more to the project"},
	{"wrap", "mcp-scaffold", true, "Make tools of a command-line program"},
	{"validate", "mcp-doctor", true, "Check a project, before clients do"},
	{"test", "mcp-doctor", true, "Run the test cases of a project's tools"},
	{"migrate", "mcp-doctor", true, "Show what changes for a project of the Bash edition"},
	{"doctor", "mcp-doctor", true, "Check the installation, and fix it"},
	{"upgrade", "mcp-doctor", true, "Install the next version of mcp-bash"},
	{"audit", "mcp-doctor", true, "Show who called what, and check the records"},
	{"explain", "mcp-doctor", true, "Explain a finding of validate, migrate or doctor"},
	{"config", "mcp-scaffold", true, "Connect a client: show or change its configuration"},
	{"bundle", "mcp-bundle", true, "Make a bundle of the project, which clients can install"},
	{"plugin", "mcp-bundle", true, "Make a plugin of the project, which coding agents can install"},
	{"marketplace", "mcp-bundle", true, "List the plugins of a repository for agents"},
	{"wheel", "mcp-bundle", true, "Make Python wheels of the project, for uvx, pipx and pip"},
	{"publish", "mcp-bundle", true, "Announce a bundle in the MCP registry"},
	{"image", "mcp-bundle", true, "Make a container image of the project, without a container engine"},
	{"manifest", "mcp-bundle", true, "Make the files that deploy the project over HTTP"},
	{"vendor", "mcp-bundle", true, "Copy the server into the project, for users without an installation"},
}

// ownerOf returns the sibling of a verb. An unknown verb can be the name of another program.
func ownerOf(verb string) (owner sibling, known bool) {
	for _, s := range siblings {
		if s.verb == verb {
			return s, true
		}
	}
	return sibling{verb: verb, program: "mcp-" + verb}, false
}

// runVerb runs the sibling that implements a verb, as git does.
func runVerb(s cli.Streams, verb string, args []string) int {
	owner, known := ownerOf(verb)
	switch path := findSibling(owner.program); {
	case path == "" && known:
		cli.Printf(s.Err, "Error: %q is not available in this installation.\n", verb)
		if vendored() {
			fmt.Fprint(s.Err, "This is a vendored runtime — ")
		}
		fmt.Fprintln(s.Err, "CLI commands require a full mcp-bash install.")
		return cli.ExitFailed
	case path == "":
		cli.Printf(s.Err, "Unknown command: %s%s\n\nRun \"mcp-bash --help\" for available commands.\n", verb,
			cli.DidYouMean(verb, verbs()))
		return cli.ExitUsage
	}
	if owner.passVerb {
		args = append([]string{verb}, args...)
	}
	return runProgram(s, owner, args)
}

func runProgram(s cli.Streams, owner sibling, args []string) int {
	path := findSibling(owner.program)
	env := append(os.Environ(), "MCPBASH_ARGV0=mcp-bash "+owner.verb)
	code, err := script.Replace(path, append([]string{owner.program}, args...), env)
	if err != nil {
		cli.Printf(s.Err, "mcp-bash: %s: %v\n", path, err)
		return cli.ExitFailed
	}
	return code
}

func verbs() (names []string) {
	for _, c := range command().Commands {
		names = append(names, c.Name)
	}
	return names
}

// findSibling returns the path of a program next to the resolved binary, or on PATH.
func findSibling(command string) string {
	if filepath.Base(command) != command {
		return ""
	}
	return script.Find(command, os.Getenv("PATH"))
}

// vendored reports whether this binary belongs to a vendored copy in a project.
func vendored() bool {
	home := os.Getenv("MCPBASH_HOME") // the directory may be incomplete
	if home == "" {
		home = project.InstalledHome(project.OSEnv())
	}
	_, err := os.Stat(filepath.Join(home, "vendor.json"))
	return err == nil
}
