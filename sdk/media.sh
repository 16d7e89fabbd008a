# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Images and sounds: mcp_result_image, mcp_result_audio.

__mcp_load common results

# Bash never reads the data: it would be slow, and Bash does not support NUL.
__mcp_result_media() { # image|audio FILE [MIME]
  local _kind=$1 _file=${2-} _type=${3-} _limit
  __mcp_alone "mcp_result_$_kind"
  __mcp_limit '' MCPBASH_MAX_TOOL_OUTPUT_SIZE 10485760
  _limit=$__mcp_reply __mcp_reply=''
  if [[ ! -f $_file || ! -r $_file ]]; then
    __mcp_internal_error "mcp_result_$_kind: not a readable file: $_file"
  elif [[ ! -s $_file ]]; then
    __mcp_internal_error "mcp_result_$_kind: the file is empty: $_file"
  elif [[ -n $_type && $_type != "$_kind"/[A-Za-z0-9]* || $_type == *[!A-Za-z0-9/.+-]* ]]; then
    __mcp_internal_error "mcp_result_$_kind: not a MIME type $_kind/...: $_type"
  elif __mcp_program; then
    "$__mcp_bin" --helper media "$_kind" "$_limit" "$_file" ${_type:+"$_type"}
  else
    __mcp_load fallback
    __mcp_fallback media "$_kind" "$_limit" "$_file" ${_type:+"$_type"}
  fi
}
