# shellcheck shell=bash
# Questions to the user, for the tools of this project.

if [[ ${MCP_ELICIT_SUPPORTED-} != 1 ]]; then
  mcp_error cannot_ask 'This client cannot ask the user.'
  exit 0
fi

# ask MESSAGE SCHEMA: the answer, whatever it is.
ask() { mcp_elicit "$1" "$2" || true; }

# completed ANSWER: the result of a tool that only asks.
completed() {
  local action content
  action=$("${MCPBASH_JSON_TOOL_BIN:?}" -r .action <<<"$1")
  content=$("$MCPBASH_JSON_TOOL_BIN" -c .content <<<"$1")
  mcp_emit_text "Elicitation completed: action=${action}, content=${content}"
}
