package main

import "strings"

const helpText = `Make and show what a project offers, and register tools in it.

  NAME refresh                       rebuild the files in .registry/
  NAME refresh --filter tools/net    look for changes there only
  NAME status | jq .tools.count      what is in them, changing nothing

  NAME list --level standard         the tools usable at a security level
  NAME list --ndjson | jq -r .id     one tool a line
  NAME get net-fetch                 all about one tool
  NAME register --dry-run < fetch.json
  jq -n '{name: "net-fetch", path: "net-fetch/tool.sh", capabilities: ["Network"]}' |
    NAME register
  NAME unregister net-fetch

Usage:
  NAME refresh [--filter DIR] [--no-notify] [--quiet]
  NAME status
  NAME list [--capability C] [--level LEVEL] [--ndjson] [--quiet]
  NAME get ID [--quiet]
  NAME register [--replace] [--dry-run] [--quiet] [FILE|-]
  NAME unregister ID [--quiet]

Options:
  --project-root DIR   the project; else MCPBASH_PROJECT_ROOT, else the nearest
                       directory upwards that holds server.d/server.meta.json
  --filter DIR         rescan only what lies below this directory, given from the
                       project's root or absolute, and keep the rest
  --no-notify          accepted for scripts; a command notifies nobody anyway
  --capability C       tools that declare FileSystem, Process, Network, Search or Edit
  --level LEVEL        tools usable at restricted, standard, elevated or full
  --ndjson             one JSON object a line, instead of one for all
  --replace            put the tool in place of one of the same id or name
  --dry-run            check everything, show what would be, change nothing
  --quiet              no messages below errors
  --json               errors of use as JSON on standard output too; results always are
  --version, --help

Each prints JSON on standard output; messages go to standard error. register
reads one JSON object: name and path (of the script, relative to tools/), and any
of title, description, id, version, capabilities, securityLevel, inputSchema or
parameters, outputSchema, annotations, icons, timeoutSecs and the other fields of
a tool.meta.json. It is kept in server.d/register.json, of which everything else
stays as it is. ID is the id of a tool, or its name.

register.sh is run only with MCPBASH_ALLOW_PROJECT_HOOKS=true.

Exit codes:
  0  done
  1  something in the project failed, or there is no project
  2  wrong usage, or the registry could not be locked or written to
  3  DuplicateTool        the id or the name is taken
  4  ToolNotFound         nothing has that id or name
  5  InvalidRegistration  the registration, or register.json, is at fault
  6  PermissionDenied     not at this security level, not that script, or not writable

With 3 to 6 standard output holds {"error": {"type", "message", "id", "details"}}.

The same program is reached as mcp-bash registry.
`

func help(name string) string { return strings.ReplaceAll(helpText, "NAME", name) }
