# shellcheck shell=bash
# Functions that read the user's answers, for the tools of this project.

# field NAME ANSWER: a field of an accepted answer, as text or compact JSON.
field() { "$MCPBASH_JSON_TOOL_BIN" -rc ".content.$1" <<<"$2"; }

# accepted ANSWER WHAT: ends the tool politely unless the user agreed.
accepted() {
  case $("$MCPBASH_JSON_TOOL_BIN" -r .action <<<"$1") in
    accept) return ;;
    decline) mcp_emit_text "$2: you declined." ;;
    cancel) mcp_emit_text "$2: you closed the question." ;;
    *) mcp_error no_answer "$2: no answer came." --hint 'Ask the user whether to try again.' ;;
  esac
  exit 0
}

# can_ask HINT: ends the tool where the client cannot put questions to the user.
can_ask() {
  [[ ${MCP_ELICIT_SUPPORTED-} != 1 ]] || return 0
  mcp_error cannot_ask 'This client cannot ask the user.' --hint "$1"
  exit 0
}
