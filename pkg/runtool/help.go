package runtool

import "fmt"

func help(name string) string {
	return fmt.Sprintf(`Run one tool of a project, as the server would, and print its result.

Examples:
  %[1]s hello --allow-self
  %[1]s hello --allow-self --args '{"name":"Ada"}' | jq .structuredContent
  %[1]s convert --allow-all --args @request.json --verbose
  %[1]s report --dry-run

Usage: %[1]s NAME [options]        (as a verb: mcp-bash run-tool NAME)

Options:
  --args JSON          arguments, a JSON object; @FILE reads a file, - standard input
  --meta JSON          the request's _meta, likewise
  --roots A,B          directories the tool may work in
  --timeout SECS       instead of the tool's own timeout
  --allow-self         let this tool run, whatever MCPBASH_TOOL_ALLOWLIST says
  --allow TOOL         let TOOL run; may be repeated
  --allow-all          let every tool run
  --with-server-env    evaluate server.d/env.sh first, if it is there
  --source FILE        evaluate FILE first; may be repeated; relative to the project
  --no-refresh         use .registry/tools.json as it is
  --dry-run            say what would run, and whether it may
  --print-env          say what a run would work with
  --check              exit 1 when the result is an error
  --verbose            show the tool's standard error and log as they come
  --minimal            behave as in minimal mode, where no tool runs
  --project-root DIR   the project; else MCPBASH_PROJECT_ROOT, else the one around
                       this directory
  --json               print JSON only, errors included
  -h, --help           this text
  -v, --version        the version

Prints the tools/call result as one line of JSON. A failure that a client would
get as an error is {"_mcpToolError":true,"code":...,"message":...,"data":...}.

Exit codes: 0 the tool ended with 0 (also when its result is an error, unless
--check); 1 anything failed; 2 usage; 128+n ended by signal n.
`, name)
}
