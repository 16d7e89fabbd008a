// Mcp-registry writes and shows the files in .registry/, which list the content of a project.
package main

import (
	"os"
	"runtime/debug"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/helper/invoke"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

func main() {
	if invoke.Is(os.Args) { // register.sh calls this program
		os.Exit(invoke.Forward(os.Args))
	}
	debug.SetGCPercent(400) // for a short run, memory is cheaper than garbage collection
	os.Exit(cli.Run("mcp-registry", run))
}

// options has the options of all subcommands. Only one subcommand runs.
type options struct {
	projectRoot, filter, kind, capability, level        string
	quiet, strict, replace, dryRun, ndjson, json, check bool
}

func command() *cli.Command {
	o := &options{}
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
		Commands: append(o.registryCommands(), append(o.toolCommands(), o.lockCommand())...),
	}
}

// registryCommands returns the subcommands about the whole registry.
func (o *options) registryCommands() []*cli.Command {
	refresh := &cli.Command{
		Name:    "refresh",
		Summary: "Rebuild the files in .registry/. Unchanged files are not read again.",
		Examples: []cli.Example{
			{Line: "NAME | jq .tools"},
			{Line: "NAME --filter tools/net", Purpose: "look for changes in this directory only"},
			{Line: "NAME --strict", Purpose: "before a release: fail on warnings"},
		},
		Run: o.refresh,
	}
	refresh.Flags.String(&o.filter, "filter", "DIR", `scan only this directory, absolute or relative to the project's root,
		and keep the other items`).Completes(cli.Dirs)
	refresh.Flags.Bool(&o.strict, "strict", "fail on warnings")
	refresh.Flags.Bool(new(bool), "no-notify", "no effect; for scripts of the Bash edition")
	o.common(refresh)
	status := &cli.Command{
		Name:     "status",
		Summary:  "Show the state of .registry/ without a change.",
		Examples: []cli.Example{{Line: "NAME | jq .tools.count"}},
		Run:      o.status,
	}
	status.Flags.ProjectRoot(&o.projectRoot)
	status.Flags.JSON(&o.json)
	return []*cli.Command{refresh, status}
}

// toolCommands returns the subcommands about single items.
func (o *options) toolCommands() []*cli.Command {
	id := []cli.Operand{{Name: "ID", Complete: cli.Found(toolNames)}}
	register := &cli.Command{
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
		Run: o.register,
	}
	register.Flags.Bool(&o.replace, "replace", "replace a tool with the same id or name")
	register.Flags.Bool(&o.dryRun, "dry-run", "check the registration and show the result without a change")
	list := &cli.Command{
		Name:    "list",
		Summary: "List the tools or other items of the project.",
		Examples: []cli.Example{
			{Line: "NAME --level standard", Purpose: "the tools available at a security level"},
			{Line: "NAME --ndjson | jq -r .id", Purpose: "one tool on each line"},
			{Line: "NAME --kind prompts", Purpose: "other items than tools"},
		},
		Run: o.list,
	}
	f, keys, capabilities := &list.Flags, kindKeys(), capabilityNames()
	f.String(&o.kind, "kind", "KIND", strings.Join(keys, ", ")+"; the default is tools").Completes(cli.Words(keys...))
	f.String(&o.capability, "capability", "C", "tools that declare a capability: "+strings.Join(capabilities, ", ")).
		Completes(cli.Words(capabilities...))
	f.String(&o.level, "level", "LEVEL", "tools available at restricted, standard, elevated or full").
		Completes(cli.Words("restricted", "standard", "elevated", "full"))
	f.Bool(&o.ndjson, "ndjson", "print each item on a line, instead of one object")
	all := []*cli.Command{register, {
		Name:     "unregister",
		Summary:  "Remove a registered tool by its id or name.",
		Examples: []cli.Example{{Line: "NAME net-fetch"}},
		Operands: id,
		Run:      o.unregister,
	}, {
		Name:     "get",
		Summary:  "Show the details of a tool, by its id or name.",
		Examples: []cli.Example{{Line: "NAME net-fetch | jq .inputSchema"}},
		Operands: id,
		Run:      o.get,
	}, list}
	for _, c := range all {
		o.common(c)
	}
	return all
}

// common adds the options of most subcommands.
func (o *options) common(c *cli.Command) {
	c.Flags.Bool(&o.quiet, "quiet", "print errors only")
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.JSON(&o.json)
}

func toolNames() []string { return registry.CachedNames(kinds.Tools) }

func run(s cli.Streams, args []string) int { return command().Main(s, "mcp-registry", args) }
