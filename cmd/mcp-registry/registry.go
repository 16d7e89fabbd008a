package main

import (
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
)

// Options of all subcommands; each takes some of them.
type options struct {
	projectRoot string
	filter      string
	quiet       bool
	strict      bool
	replace     bool
	dryRun      bool
	kind        string
	capability  string
	level       string
	ndjson      bool
}

// command describes the command.
func command() *cli.Command {
	return &cli.Command{
		Name:    "registry",
		Summary: "Make and show what a project offers, and register tools in it.",
		Examples: []cli.Example{
			{Line: "NAME refresh", Purpose: "rebuild the files in .registry/"},
			{Line: "NAME status | jq .tools.count", Purpose: "what is in them, changing nothing"},
			{Line: "NAME list --ndjson | jq -r .id", Purpose: "one tool a line"},
			{Line: "NAME get net-fetch", Purpose: "all about one tool"},
			{Line: "NAME register --dry-run < fetch.json"},
			{Line: "NAME unregister net-fetch"},
		},
		Text: `Each prints JSON on standard output; messages go to standard error. register.sh is run only with
MCPBASH_ALLOW_PROJECT_HOOKS=true.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done"},
			{Code: 1, Meaning: "something in the project failed, or there is no project"},
			{Code: 2, Meaning: "wrong usage, or the registry could not be locked or written to"},
			{Code: 3, Meaning: "DuplicateTool: the id or the name is taken"},
			{Code: 4, Meaning: "ToolNotFound: nothing has that id or name"},
			{Code: 5, Meaning: "InvalidRegistration: the registration, or register.json, is at fault"},
			{Code: 6, Meaning: "PermissionDenied: not at this security level, not that script, or not writable"},
		},
		Commands: []*cli.Command{refreshCommand(), statusCommand(), registerCommand(), unregisterCommand(),
			getCommand(), listCommand()},
	}
}

func refreshCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "refresh",
		Summary: "Rebuild the files in .registry/. What has not changed is not read again.",
		Examples: []cli.Example{
			{Line: "NAME | jq .tools"},
			{Line: "NAME --filter tools/net", Purpose: "look for changes there only"},
			{Line: "NAME --strict", Purpose: "before a release: no warning goes by"},
		},
		Run: func(s cli.Streams, _ []string) error { return refresh(s, o) },
	}
	c.Flags.String(&o.filter, "filter", "DIR", `rescan only what lies below this directory, given from the project's
		root or absolute, and keep the rest`).Completes(cli.Dirs)
	c.Flags.Bool(&o.strict, "strict", "fail when there is anything to warn about")
	c.Flags.Bool(new(bool), "no-notify", "accepted for scripts; a command notifies nobody anyway")
	o.quietly(c)
	return c
}

func statusCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:     "status",
		Summary:  "Show what is in .registry/, changing nothing.",
		Examples: []cli.Example{{Line: "NAME | jq .tools.count"}},
		Run:      func(s cli.Streams, _ []string) error { return status(s, o) },
	}
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.JSON()
	return c
}

func registerCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "register",
		Summary: "Register a tool that is described by one JSON object.",
		Examples: []cli.Example{
			{Line: "NAME --dry-run < fetch.json"},
			{Line: `jq -n '{name: "net-fetch", path: "net-fetch/tool.sh", capabilities: ["Network"]}' |` + "\nNAME"},
		},
		Operands: []cli.Operand{{Name: "[FILE]", Complete: cli.Files}},
		Text: `The object has name and path (of the script, relative to tools/), and any of title, description, id,
version, capabilities, securityLevel, inputSchema or parameters, outputSchema, annotations, icons, timeoutSecs and the
other fields of a tool.meta.json. It is kept in server.d/register.json, of which everything else stays as it is. FILE is
- or left out for standard input.

With exit codes 3 to 6 standard output holds {"error": {"type", "message", "id", "details"}}.`,
		Run: func(s cli.Streams, operands []string) error { return register(s, o, strings.Join(operands, "")) },
	}
	c.Flags.Bool(&o.replace, "replace", "put the tool in place of one of the same id or name")
	c.Flags.Bool(&o.dryRun, "dry-run", "check everything, show what would be, change nothing")
	o.quietly(c)
	return c
}

func unregisterCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:     "unregister",
		Summary:  "Take a registered tool out, by its id or its name.",
		Examples: []cli.Example{{Line: "NAME net-fetch"}},
		Operands: []cli.Operand{{Name: "ID", Complete: cli.Found(toolNames)}},
		Run:      func(s cli.Streams, operands []string) error { return unregister(s, o, operands[0]) },
	}
	o.quietly(c)
	return c
}

func getCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:     "get",
		Summary:  "Show all about one tool, by its id or its name.",
		Examples: []cli.Example{{Line: "NAME net-fetch | jq .inputSchema"}},
		Operands: []cli.Operand{{Name: "ID", Complete: cli.Found(toolNames)}},
		Run:      func(s cli.Streams, operands []string) error { return get(s, o, operands[0]) },
	}
	o.quietly(c)
	return c
}

func listCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "list",
		Summary: "List what the project offers.",
		Examples: []cli.Example{
			{Line: "NAME --level standard", Purpose: "the tools usable at a security level"},
			{Line: "NAME --ndjson | jq -r .id", Purpose: "one tool a line"},
			{Line: "NAME --kind prompts", Purpose: "what else there is"},
		},
		Run: func(s cli.Streams, _ []string) error { return list(s, o) },
	}
	var keys, capabilities []string
	for _, kind := range kinds.All {
		keys = append(keys, kind.Key)
	}
	for _, capability := range access.Capabilities {
		capabilities = append(capabilities, string(capability))
	}
	c.Flags.String(&o.kind, "kind", "KIND", strings.Join(keys, ", ")+"; tools without it").Completes(cli.Words(keys...))
	c.Flags.String(&o.capability, "capability", "C", "tools that declare one of "+strings.Join(capabilities, ", ")).
		Completes(cli.Words(capabilities...))
	c.Flags.String(&o.level, "level", "LEVEL", "tools usable at restricted, standard, elevated or full").
		Completes(cli.Words("restricted", "standard", "elevated", "full"))
	c.Flags.Bool(&o.ndjson, "ndjson", "one JSON object a line, instead of one for all")
	o.quietly(c)
	return c
}

// quietly adds the options of subcommands that tell people what they do.
func (o *options) quietly(c *cli.Command) {
	c.Flags.Bool(&o.quiet, "quiet", "no messages below errors")
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.JSON()
}

func toolNames() []string { return registry.CachedNames(kinds.Tools) }

func run(s cli.Streams, args []string) int { return command().Main(s, "mcp-registry", args) }
