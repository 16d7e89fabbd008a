package main

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"mcp-bash/pkg/check/health"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/serve"
	"mcp-bash/pkg/serve/httpd"
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
		own, forScripts := args[1:], []string(nil)
		if i := slices.Index(own, "--"); i >= 0 {
			own, forScripts = own[:i], own[i+1:]
		}
		return serveCommand(forScripts).Main(s, "mcp-bash serve", own)
	case own >= 0:
		return c.Commands[own].Main(s, "mcp-bash "+word, args[1:])
	case word == "--health" || word == "--ready":
		return health.Command(word).Main(s, "mcp-bash "+word, args[1:])
	case strings.HasPrefix(word, "-"):
		cli.Printf(s.Err, "mcp-bash: unknown option: %s\n", word)
		if cli.IsTerminal(s.In) {
			cli.Printf(s.Err, "Usage: mcp-bash %s\n", c.Usage)
			return cli.ExitUsage
		}
		return serveProject(s, serve.Options{}) // hosts pass stray flags
	}
	return runVerb(s, args[0], args[1:])
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

// serveCommand serves over stdio or HTTP. args are for the project's scripts.
func serveCommand(args []string) *cli.Command {
	overHTTP, options := false, httpd.Options{}
	var access func(project.Env) (httpd.Access, error)
	var c *cli.Command
	c = &cli.Command{
		Name:    "serve",
		Summary: "Serve the project over standard input and output, or over HTTP.",
		Examples: []cli.Example{
			{Line: "NAME"},
			{Line: "NAME -- --region eu", Purpose: "scripts see the words in MCPBASH_SERVER_ARGS_JSON"},
			{Line: "NAME --http", Purpose: "many clients, at http://" + httpd.DefaultAddr + "/mcp"},
			{Line: "NAME --http unix:/run/mcp.sock", Purpose: "at a socket that only this user can use"},
			{Line: "NAME --http 0.0.0.0:8000 --token-file tokens.json",
				Purpose: "to other machines, with bearer tokens"},
			{Line: "NAME --http 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem \\" +
				"\n--oidc-issuer https://login.example.com --public-url https://mcp.example.com:8443",
				Purpose: "with TLS, and access tokens of an OpenID provider"},
		},
		Usage:    "[--http [ADDR]] [-- ARG...]",
		Operands: []cli.Operand{{Name: "[ADDR]"}},
		Run: func(s cli.Streams, operands []string) error {
			options.Addr = os.Getenv("MCPBASH_HTTP_ADDR")
			switch {
			case overHTTP && len(operands) == 1:
				options.Addr = operands[0]
			case len(operands) > 0:
				return cli.Usagef("unexpected argument: %s (arguments for the project's scripts go after --)",
					operands[len(operands)-1])
			case overHTTP || options.Addr != "":
			case c.Flags.Any() != "":
				return cli.Usagef("--%s needs --http", c.Flags.Any())
			default:
				return exit(serveProject(s, serve.Options{Args: args}))
			}
			env := project.OSEnv()
			options.TrustRoots = options.TrustRoots || settings.Bool(env, "MCPBASH_HTTP_TRUST_CLIENT_ROOTS")
			var err error
			if options.Access, err = access(env); err != nil {
				return err
			}
			return exit(serveProject(s, serve.Options{Args: args, HTTP: &options}))
		},
	}
	c.Flags.Bool(&overHTTP, "http",
		"serve over HTTP, at ADDR: HOST:PORT, PORT (on this machine alone) or unix:PATH; else at "+httpd.DefaultAddr)
	access = accessFlags(&c.Flags)
	c.Flags.Bool(&options.TrustRoots, "trust-client-roots", "use the roots of clients that can be on another machine")
	c.Flags.String(&options.StateKeyFile, "state-key-file", "FILE",
		"the keys that seal the state of calls, for replicas")
	c.Flags.String(&options.Advertise, "advertise", "URL", "where other replicas reach this server")
	return c
}

// debugCommand serves and records every message (cli chapter 13).
func debugCommand() *cli.Command {
	format := "text"
	c := &cli.Command{
		Name:    "debug",
		Summary: "Serve, and record every message in a new directory that is kept.",
		Examples: []cli.Example{
			{Line: "NAME"}, {Line: "NAME --format ndjson", Purpose: "records for programs"},
		},
		Operands: []cli.Operand{{Name: "[ARG...]"}}, // without effect (P-2500)
		Usage:    " ",
		Run: func(s cli.Streams, _ []string) error {
			return exit(serveProject(s, serve.Options{Debug: true, NDJSON: format == "ndjson"}))
		},
	}
	c.Flags.One(&format, "format", "FORMAT", []string{"text", "ndjson"}, "of the record: text or ndjson")
	return c
}

func exit(code int) error {
	if code == cli.ExitOK {
		return nil
	}
	return cli.ExitCode(code)
}
