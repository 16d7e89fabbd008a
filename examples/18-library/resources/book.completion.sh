#!/usr/bin/env bash
# Completes the variables of the template book: subjects, and titles of the subject that was chosen before.
set -euo pipefail

cd books
printf '%s\n' */*.md | "$MCPBASH_JSON_TOOL_BIN" -Rnc --argjson request "$MCP_COMPLETION_ARGS_JSON" '
  $request.context.arguments.subject as $chosen
  | [inputs | rtrimstr(".md") / "/" | { subject: .[0], title: .[1] }]
  | if $request.argument.name == "title" and $chosen then map(select(.subject == $chosen)) else . end
  | map(.[$request.argument.name] // empty)
  | unique
  | map(select(startswith($request.query | ascii_downcase)))
'
