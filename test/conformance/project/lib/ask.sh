# shellcheck shell=bash
# Questions to the user, for the tools of this project.

if [[ ${MCP_ELICIT_SUPPORTED-} != 1 ]]; then
  mcp_error cannot_ask 'This client cannot ask the user.'
  exit 0
fi

# ask [--key NAME] MESSAGE SCHEMA: the answer, whatever it is.
ask() { mcp_elicit "$@" || true; }

# field ANSWER PATH: a part of an answer.
field() { "${MCPBASH_JSON_TOOL_BIN:?}" -rc "$2" <<<"$1"; }

# completed ANSWER: the result of a tool that only asks.
completed() { mcp_emit_text "Elicitation completed: action=$(field "$1" .action), content=$(field "$1" .content)"; }
