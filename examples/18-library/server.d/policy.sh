# shellcheck shell=bash
# Adds a rule to the list of allowed tools: tools that change something need a library card.

mcp_tools_policy_check() { # NAME METADATA_JSON
  mcp_tools_policy_check_default "$@" || return 1
  local reads
  reads=$(mcp_json_extract_optional "$2" -r '.annotations.readOnlyHint' false)
  if [[ $reads != true && -z ${LIBRARY_CARD-} ]]; then
    mcp_tools_error -32602 "$1 needs a library card: set LIBRARY_CARD in the environment of the server"
    return 1
  fi
}
