# shellcheck shell=bash
# Evaluates policy.sh (T-25 to T-32). It writes the results to descriptor 3, as
# fields that end with a NUL byte. The output of the policy is discarded.
# Arguments: policy.sh, the tool's name, its registry entry. If the entry is too
# long for an argument, it is "", and the next argument is a file with the entry.
set -uo pipefail
exec 3>&1 >/dev/null

_MCP_TOOLS_ERROR_CODE='' _MCP_TOOLS_ERROR_MESSAGE='' _MCP_TOOLS_ERROR_DATA=''

mcp_tools_error() {
  _MCP_TOOLS_ERROR_CODE="${1-}" _MCP_TOOLS_ERROR_MESSAGE="${2-}" _MCP_TOOLS_ERROR_DATA="${3-}"
}

__mcp_policy_log() { printf 'log\0%s\0%s\0%s\0' "$1" "${2-}" "${3-}" >&3; }
mcp_logging_debug() { __mcp_policy_log debug "$@"; }
mcp_logging_info() { __mcp_policy_log info "$@"; }
mcp_logging_notice() { __mcp_policy_log notice "$@"; }
mcp_logging_warning() { __mcp_policy_log warning "$@"; }
mcp_logging_error() { __mcp_policy_log error "$@"; }
mcp_logging_critical() { __mcp_policy_log critical "$@"; }
mcp_logging_alert() { __mcp_policy_log alert "$@"; }
mcp_logging_emergency() { __mcp_policy_log emergency "$@"; }

# A policy must not decide on a question that nothing could answer (T-32). It may ask in a subshell, so the
# server gets the reason.
__mcp_policy_unable() { # STATUS QUESTION PROGRAM
  case "$1" in
    126 | 127) set -- "$1" "$2" "put $3 on PATH" ;;
    12[89] | 1[3-9]? | 2??) set -- "$1" "$2" "its program ended with exit status $1" ;;
    *) return 0 ;;
  esac
  printf 'unable\0%s cannot answer: %s\0' "$2" "$3" >&3
  exit 1
}

mcp_json_extract_optional() {
  local out rc=0
  out="$(printf '%s' "${1-}" | "$MCPBASH_JSON_TOOL_BIN" "${2:--r}" "${3:-.}" 2>/dev/null)" || rc=$?
  __mcp_policy_unable "$rc" mcp_json_extract_optional "jq or mcp-bash"
  [ "$rc" = 0 ] || out="${4-}"
  printf '%s\n' "$out"
}

mcp_json_extract_file_required() {
  local rc=0
  "$MCPBASH_JSON_TOOL_BIN" "${2:--r}" "${3:-.}" "${1-}" 2>/dev/null || rc=$?
  __mcp_policy_unable "$rc" mcp_json_extract_file_required "jq or mcp-bash"
  [ "$rc" = 0 ]
}

mcp_tools_validate_path() {
  local rc=0
  "$MCPBASH_HELPER_BIN" --helper tool-path "$MCPBASH_PROJECT_ROOT" "$MCPBASH_TOOLS_DIR" "${1-}" || rc=$?
  __mcp_policy_unable "$rc" mcp_tools_validate_path mcp-bash
  return "$rc"
}

# The built-in policy, for a policy.sh that adds rules to it (T-33).
mcp_tools_policy_check_default() {
  local refusal item="${2-}" rc=0
  set -- "${1-}" "${MCPBASH_TOOL_ALLOWLIST-}" "${MCPBASH_TOOL_ALLOW_DEFAULT-}" "${MCPBASH_TOOL_POLICY_CONTEXT-}"
  refusal="$(printf '%s' "$item" |
    "$MCPBASH_HELPER_BIN" --helper tool-policy "$@" "$MCPBASH_PROJECT_ROOT" "$MCPBASH_TOOLS_DIR")" || rc=$?
  [ "$rc" != 0 ] || return 0
  __mcp_policy_unable "$rc" mcp_tools_policy_check_default mcp-bash
  mcp_tools_error -32602 "${refusal%%$'\n'*}" "${refusal#*$'\n'}"
  return 1
}

__mcp_policy_file="$1" __mcp_policy_name="$2" __mcp_policy_item="$3"
if [ -n "${4-}" ]; then
  __mcp_policy_item="$(<"$4")"
fi
# The status of the last command does not matter. A syntax error does.
# shellcheck disable=SC1090 # the project's own file
source "$__mcp_policy_file" || "$BASH" -n "$__mcp_policy_file" || exit 1
if ! declare -F mcp_tools_policy_check >/dev/null; then
  printf 'builtin\0%s\0%s\0' "${MCPBASH_TOOL_ALLOWLIST-}" "${MCPBASH_TOOL_ALLOW_DEFAULT-}" >&3
elif mcp_tools_policy_check "$__mcp_policy_name" "$__mcp_policy_item"; then
  printf 'allow\0' >&3
else
  printf 'deny\0%s\0%s\0%s\0' "$_MCP_TOOLS_ERROR_CODE" "$_MCP_TOOLS_ERROR_MESSAGE" "$_MCP_TOOLS_ERROR_DATA" >&3
fi
printf 'env\0%s\0%s\0' "${MCPBASH_TOOL_ENV_MODE-}" "${MCPBASH_TOOL_ENV_ALLOWLIST-}" >&3
