package main

const usage = `Usage: mcp-bash [serve [-- ARG...] | debug | VERB ...]`

const help = `mcp-bash serves a folder of scripts to MCP clients.

Examples:
  mcp-bash                               serve the project around this directory on stdin and stdout
  MCPBASH_PROJECT_ROOT=~/srv mcp-bash    serve that project: what a client's configuration runs
  mcp-bash run-tool hello --allow-self   try one tool without a client
  mcp-bash registry refresh              rebuild .registry/*.json
  mcp-bash debug                         serve, and keep a record of every message

` + usage + `

Serving (in mcp-bash itself):
  serve [-- ARG...]   serve; the ARGs reach scripts as MCPBASH_SERVER_ARGS_JSON
  debug [--format ndjson]
                      serve with payload.debug.log in a fresh directory that stays
  -h, --help          this text
  -v, --version       mcp-bash and its version

Views of MCP Apps (in mcp-bash itself):
  ui-template NAME    print the HTML of a ready-made view; its configuration is read
                      from stdin

Resources (in mcp-bash itself):
  provider NAME URI   print what a URI stands for, fetched as a server would by the
                      provider file, https, git, echo or ui; exit codes 2 to 7 say
                      why it is refused (docs/SECURITY.md)

Verbs (each is a command of its own beside mcp-bash, or on PATH; any mcp-NAME is
run for "mcp-bash NAME", as git does):
  run-tool            mcp-runtool: run one tool and print its result
  registry            mcp-registry: refresh and show the registry cache

A project is a directory with server.d/server.meta.json. Started outside of one,
mcp-bash serves a temporary getting-started helper.

Environment most often set (all of it: docs/contract/env.md):
  MCPBASH_PROJECT_ROOT     the project to serve
  MCPBASH_TOOL_ALLOWLIST   tools that may run; * for all; unset, none may
  MCPBASH_REMOTE_TOKEN     a secret that every request must carry
  MCPBASH_LOG_LEVEL        debug, info, notice, warning, error, ...

Exit codes: 0 normal end; 1 failure at start, or stdout lost; 2 usage, or stdout
damaged repeatedly; 128+n ended by signal n.
`
