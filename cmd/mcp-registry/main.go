// Mcp-registry writes and shows the files in .registry/, which list the content of a project.
package main

import (
	"os"
	"runtime/debug"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper/invoke"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
)

func main() {
	if invoke.Is(os.Args) { // register.sh calls this program (CLI-208)
		os.Exit(invoke.Forward(os.Args))
	}
	debug.SetGCPercent(400) // for a short run, memory is cheaper than garbage collection
	os.Exit(cli.Run("mcp-registry", run))
}

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
	json        bool
	check       bool
}

func command() *cli.Command {
	return &cli.Command{
		Name:    "registry",
		Summary: "Write and show the files in .registry/, and register tools.",
		Examples: []cli.Example{
			{Line: "NAME refresh", Purpose: "rebuild the files in .registry/"},
			{Line: "NAME status | jq .tools.count", Purpose: "show their state without a change"},
			{Line: "NAME list --ndjson | jq -r .id", Purpose: "one tool on each line"},
			{Line: "NAME get net-fetch", Purpose: "the details of one tool"},
			{Line: "NAME register --dry-run < fetch.json"},
			{Line: "NAME unregister net-fetch"},
			{Line: "NAME lock", Purpose: "pin what the project offers and runs"},
		},
		Text: `Each command prints JSON on standard output, and messages on standard error. On a terminal, list, status and
get print tables instead, unless --json is given. register.sh runs only with MCPBASH_ALLOW_PROJECT_HOOKS=true.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done"},
			{Code: 1, Meaning: "an error in the project, or no project"},
			{Code: 2, Meaning: "wrong usage, or the registry could not be locked or written to"},
			{Code: 3, Meaning: "DuplicateTool: a tool has this id or name already"},
			{Code: 4, Meaning: "ToolNotFound: no tool has this id or name"},
			{Code: 5, Meaning: "InvalidRegistration: the registration or register.json is invalid"},
			{Code: 6, Meaning: "PermissionDenied: the security level, the script or a file forbids it"},
		},
		Commands: []*cli.Command{refreshCommand(), statusCommand(), registerCommand(), unregisterCommand(),
			getCommand(), listCommand(), lockCommand()},
	}
}

func refreshCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "refresh",
		Summary: "Rebuild the files in .registry/. Unchanged files are not read again.",
		Examples: []cli.Example{
			{Line: "NAME | jq .tools"},
			{Line: "NAME --filter tools/net", Purpose: "look for changes in this directory only"},
			{Line: "NAME --strict", Purpose: "before a release: fail on warnings"},
		},
		Run: func(s cli.Streams, _ []string) error { return refresh(s, o) },
	}
	c.Flags.String(&o.filter, "filter", "DIR", `scan only this directory, absolute or relative to the project's root, and keep
		the other items`).Completes(cli.Dirs)
	c.Flags.Bool(&o.strict, "strict", "fail on warnings")
	c.Flags.Bool(new(bool), "no-notify", "no effect; for scripts of the Bash edition")
	o.common(c)
	return c
}

func statusCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:     "status",
		Summary:  "Show the state of .registry/ without a change.",
		Examples: []cli.Example{{Line: "NAME | jq .tools.count"}},
		Run:      func(s cli.Streams, _ []string) error { return status(s, o) },
	}
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.JSON(&o.json)
	return c
}

func registerCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "register",
		Summary: "Register a tool from a JSON object.",
		Examples: []cli.Example{
			{Line: "NAME --dry-run < fetch.json"},
			{Line: `jq -n '{name: "net-fetch", path: "net-fetch/tool.sh", capabilities: ["Network"]}' |` + "\nNAME"},
		},
		Operands: []cli.Operand{{Name: "[FILE]", Complete: cli.Files}},
		Text: `The object has the members name and path. The path leads to the script, relative to tools/. Optional members
are title, description, id, version, capabilities, securityLevel, inputSchema or parameters, outputSchema, annotations,
icons, timeoutSecs, and the other fields of a tool.meta.json.

The command adds the tool to server.d/register.json, and changes nothing else in that file. Without FILE, or if FILE
is -, it reads standard input. With exit codes 3 to 6 it prints {"error": {"type", "message", "id", "details"}}.`,
		Run: func(s cli.Streams, operands []string) error { return register(s, o, strings.Join(operands, "")) },
	}
	c.Flags.Bool(&o.replace, "replace", "replace a tool with the same id or name")
	c.Flags.Bool(&o.dryRun, "dry-run", "check the registration and show the result without a change")
	o.common(c)
	return c
}

func unregisterCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:     "unregister",
		Summary:  "Remove a registered tool by its id or name.",
		Examples: []cli.Example{{Line: "NAME net-fetch"}},
		Operands: []cli.Operand{{Name: "ID", Complete: cli.Found(toolNames)}},
		Run:      func(s cli.Streams, operands []string) error { return unregister(s, o, operands[0]) },
	}
	o.common(c)
	return c
}

func getCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:     "get",
		Summary:  "Show the details of a tool, by its id or name.",
		Examples: []cli.Example{{Line: "NAME net-fetch | jq .inputSchema"}},
		Operands: []cli.Operand{{Name: "ID", Complete: cli.Found(toolNames)}},
		Run:      func(s cli.Streams, operands []string) error { return get(s, o, operands[0]) },
	}
	o.common(c)
	return c
}

func listCommand() *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "list",
		Summary: "List the tools or other items of the project.",
		Examples: []cli.Example{
			{Line: "NAME --level standard", Purpose: "the tools available at a security level"},
			{Line: "NAME --ndjson | jq -r .id", Purpose: "one tool on each line"},
			{Line: "NAME --kind prompts", Purpose: "other items than tools"},
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
	c.Flags.String(&o.kind, "kind", "KIND", strings.Join(keys, ", ")+"; the default is tools").
		Completes(cli.Words(keys...))
	c.Flags.String(&o.capability, "capability", "C", "tools that declare a capability: "+strings.Join(capabilities, ", ")).
		Completes(cli.Words(capabilities...))
	c.Flags.String(&o.level, "level", "LEVEL", "tools available at restricted, standard, elevated or full").
		Completes(cli.Words("restricted", "standard", "elevated", "full"))
	c.Flags.Bool(&o.ndjson, "ndjson", "print each item on a line, instead of one object")
	o.common(c)
	return c
}

// common adds the options of most subcommands.
func (o *options) common(c *cli.Command) {
	c.Flags.Bool(&o.quiet, "quiet", "print errors only")
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.JSON(&o.json)
}

func toolNames() []string { return registry.CachedNames(kinds.Tools) }

func run(s cli.Streams, args []string) int { return command().Main(s, "mcp-registry", args) }
