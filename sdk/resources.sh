# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Files in results: mcp_result_text_with_resource.

__mcp_load common results

__mcp_result_text_with_resource() { # DATA [--path FILE [--mime TYPE] [--uri URI]]...
  local _data=${1-} _n=0 _i _list=''
  local -a _paths _mimes _uris
  shift "$(($# > 0))"
  while (($#)); do
    case $1 in
      --path) _paths[_n]=${2-} _mimes[_n]='' _uris[_n]='' && ((++_n)) ;;
      --mime) ((_n == 0)) || _mimes[_n - 1]=${2-} ;;
      --uri) ((_n == 0)) || _uris[_n - 1]=${2-} ;;
      *)
        mcp_log_debug sdk "mcp_result_text_with_resource: unknown flag ignored: $1"
        shift
        continue
        ;;
    esac
    shift "$(($# > 1 ? 2 : 1))"
  done
  if ((_n)) && [[ -z ${MCP_TOOL_RESOURCES_FILE-} ]]; then
    mcp_log_warn sdk 'mcp_result_text_with_resource: MCP_TOOL_RESOURCES_FILE not set, resources will not be embedded'
    __mcp_called || __mcp_sdk_warn "mcp_result_text_with_resource: nobody embeds the files; $__mcp_by_hand"
  elif ((_n)); then
    __mcp_resources
    { printf '[%s]' "${_list#,}" >|"$MCP_TOOL_RESOURCES_FILE"; } 2>/dev/null
  fi
  if [[ -n $_data ]] && ! __mcp_compact "$_data"; then
    __mcp_quote "$_data"
    _data=$__mcp_reply
  fi
  __mcp_result_success "$_data"
}

__mcp_resources() { # stores the lists of mcp_result_text_with_resource in _list, as members of a JSON array
  local -a _unknown
  local _path _type _m=0
  for ((_i = 0; _i < _n; _i++)); do
    _path=${_paths[_i]}
    if [[ -z $_path ]]; then
      mcp_log_debug sdk 'mcp_result_text_with_resource: empty path, skipping'
    elif [[ ! -f $_path || ! -r $_path ]]; then
      mcp_log_warn sdk "mcp_result_text_with_resource: not a readable file, skipping path=$_path"
      _paths[_i]=''
    elif [[ -z ${_mimes[_i]} ]]; then
      _unknown[_m++]=$_path
    fi
  done
  __mcp_reply=''
  if ((_m)) && __mcp_program; then __mcp_helper mime "${_unknown[@]}"; fi
  # shellcheck disable=SC2086 # types have no blanks
  set -- $__mcp_reply
  for ((_i = 0; _i < _n; _i++)); do
    [[ -n ${_paths[_i]} ]] || continue
    _type=${_mimes[_i]}
    if [[ -z $_type ]]; then
      _type=${1:-application/octet-stream}
      shift "$(($# > 0))"
    fi
    __mcp_quote "${_paths[_i]}"
    _list="$_list,{\"path\":$__mcp_reply"
    __mcp_quote "$_type"
    _list="$_list,\"mimeType\":$__mcp_reply"
    __mcp_reply=null
    [[ -z ${_uris[_i]} ]] || __mcp_quote "${_uris[_i]}"
    _list="$_list,\"uri\":$__mcp_reply}"
  done
}
