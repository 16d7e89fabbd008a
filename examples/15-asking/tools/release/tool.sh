#!/usr/bin/env bash
# Asks the user and the model at once, in one round. If an answer is missing, it continues without it, or
# explains how to call it again.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT}/lib/answer.sh"

version=$(mcp_args_require '.version')
changes=$(mcp_args_require '.changes')
kind=$(mcp_args_get '.kind // empty')

if [[ -z $kind ]]; then
  mcp_input_request kind elicitation/create '{
    "message": "What kind of release is it?",
    "requestedSchema": {
      "type": "object",
      "properties": {"kind": {"type": "string", "title": "Kind", "enum": ["patch", "minor", "major"]}},
      "required": ["kind"]
    }
  }'
fi
task=$(mcp_json_escape "Write release notes, one line for each change: ${changes}")
mcp_input_request notes sampling/createMessage \
  "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":${task}}}],\"maxTokens\":500}"

answers=$(mcp_input_wait) || true # the status is 1 when any of them was not answered

if [[ -z $kind ]]; then
  kind=$("$MCPBASH_JSON_TOOL_BIN" -r '.kind.content.kind // empty' <<<"$answers")
fi
notes=$(text_of .notes "$answers")

IFS=. read -r major minor patch <<<"$version"
case $kind in
  patch) version=$major.$minor.$((10#$patch + 1)) ;;
  minor) version=$major.$((10#$minor + 1)).0 ;;
  major) version=$((10#$major + 1)).0.0 ;;
  *)
    mcp_error no_kind 'The user did not choose the kind of release.' --hint 'Call again with kind.'
    exit 0
    ;;
esac
mcp_emit_json "$(mcp_json_obj version "$version" notes "${notes:-$changes}")"
