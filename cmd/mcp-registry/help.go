package main

import "strings"

const helpText = `Make and show the files in .registry/ that say what a project offers.

  NAME refresh                       rebuild them all
  NAME refresh --filter tools/net    look for changes there only
  NAME status | jq .tools.count      what is in them, changing nothing

Usage:
  NAME refresh [--project-root DIR] [--filter DIR] [--no-notify] [--quiet]
  NAME status [--project-root DIR]

Options:
  --project-root DIR   the project; else MCPBASH_PROJECT_ROOT, else the nearest
                       directory upwards that holds server.d/server.meta.json
  --filter DIR         rescan only what lies below this directory, given from the
                       project's root or absolute, and keep the rest
  --no-notify          accepted for scripts; a command notifies nobody anyway
  --quiet              no messages below errors
  --json               errors as JSON on standard output too; results always are
  --version, --help

Each prints one JSON object on standard output; messages go to standard error.
register.sh is run only with MCPBASH_ALLOW_PROJECT_HOOKS=true.

Exit codes:
  0  done
  1  something in the project failed, or there is no project
  2  wrong usage, or .registry/ could not be locked or written to

The same program is reached as mcp-bash registry.
`

func help(name string) string { return strings.ReplaceAll(helpText, "NAME", name) }
