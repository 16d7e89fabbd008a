# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Configuration: mcp_config_load, mcp_config_get.

__mcp_load common arguments

__mcp_config_load() { # [--env VARIABLE] [--file PATH] [--example PATH] [--defaults JSON]
  local _env='' _file='' _example='' _defaults='' _value='' _line _json=$__mcp_none _table='' _keep='' _rc=1
  while (($#)); do
    case $1 in
      --env) _env=${2-} ;;
      --file) _file=${2-} ;;
      --example) _example=${2-} ;;
      --defaults) _defaults=${2-} ;;
      *)
        shift
        continue
        ;;
    esac
    shift "$(($# > 1 ? 2 : 1))"
  done
  [[ -n $_defaults ]] || _defaults=$__mcp_none
  case $_env in '' | [!A-Za-z_]* | *[!A-Za-z0-9_]*) _env='' ;; *) _value=${!_env-} ;; esac
  if ! __mcp_full; then
    __mcp_config_minimal
    return
  fi
  __mcp_helper config "${#_defaults}" "$_example" "$_file" "$_env" <<<"$_defaults$_value"
  local IFS=$__mcp_nl
  # shellcheck disable=SC2086 # a word for each line
  set -- $__mcp_reply
  for _line; do
    case $_line in
      .*) _table=$_table$_line$__mcp_nl ;;
      'json '*) _json=${_line#json } ;;
      loaded) _rc=0 ;;
      keep) _keep=1 ;;
      *) mcp_log "${_line%% *}" config "${_line#* }" ;;
    esac
  done
  export MCP_CONFIG_JSON=$_json
  [[ -z $_keep ]] || MCP_CONFIG_JSON=$_defaults
  __mcp_config_text=$MCP_CONFIG_JSON __mcp_config_json=$_json __mcp_config_table=$_table __mcp_reply=''
  return "$_rc"
}

# Without a JSON tool, the last source that looks like JSON is the result. Outside of minimal mode, several are an
# error.
__mcp_config_minimal() {
  local _path _text _sources=0
  [[ $_defaults == "$__mcp_none" ]] || _rc=0 _sources=1
  MCP_CONFIG_JSON=$_defaults
  [[ ! -r $_value || ! -f $_value ]] || _value=$(<"$_value")
  for _path in "$_example" "$_file"; do
    _text=''
    [[ ! -r $_path || ! -f $_path ]] || _text=$(<"$_path")
    case $_text in [\{\[]*) _rc=0 MCP_CONFIG_JSON=$_text _sources=$((_sources + 1)) ;; esac
  done
  case $_value in [\{\[]*) _rc=0 MCP_CONFIG_JSON=$_value _sources=$((_sources + 1)) ;; esac
  export MCP_CONFIG_JSON
  if ((_sources > 1)) && [[ ${MCPBASH_MODE-} != minimal ]]; then
    mcp_log_warn config "mcp_config_load: $_sources sources cannot be merged: $__mcp_no_program"
    _rc=1
  fi
  return "$_rc"
}

__mcp_config_get() { # PATH [--default V]
  local _json=${MCP_CONFIG_JSON-} _path=${1-} _table=''
  if [[ -z $_path ]]; then
    mcp_log_warn config 'mcp_config_get: path required'
    return 1
  fi
  [[ -n $_json ]] || _json=$__mcp_none
  if ! __mcp_full; then
    __mcp_config_find "$_json" "$_path"
    if [[ $__mcp_kind == '?' && ${MCPBASH_MODE-} != minimal ]]; then
      mcp_log_warn config "mcp_config_get: $_path cannot be read: $__mcp_no_program"
      __mcp_reply=''
      return 1
    fi
  else
    [[ $_json == "${__mcp_config_text-}" ]] && _json=$__mcp_config_json _table=$__mcp_config_table
    __mcp_lookup "$_table" "$_json" "$_path" || { (($? != 3)) || __mcp_hint mcp_config_get "$_path" && __mcp_kind=-; }
  fi
  [[ $__mcp_kind == [ze?-] ]] || return 0
  __mcp_reply=''
  while (($# > 1)); do
    if [[ $2 == --default ]]; then
      __mcp_reply=${3-}
      return 0
    fi
    shift
  done
  __mcp_full || mcp_log_debug config "mcp_config_get: path not found (minimal mode): $_path"
  return 1
}

__mcp_config_find() { # JSON PATH: the first scalar after the key; kind ? if it needs a program
  local _pattern="\"${2#.}\"[[:space:]]*:[[:space:]]*(\"([^\"\\]*)\"|-?[0-9][0-9.eE+-]*|true|false)"
  __mcp_kind='?'
  case $2 in .[!A-Za-z_]* | .*[!A-Za-z0-9_]* | . | [!.]*) return 0 ;; esac
  [[ $1 == *"\"${2#.}\""* ]] || __mcp_kind=-
  [[ $1 =~ $_pattern ]] || return 0
  __mcp_kind=s
  case ${BASH_REMATCH[1]} in \"*) __mcp_reply=${BASH_REMATCH[2]} ;; *) __mcp_reply=${BASH_REMATCH[1]} ;; esac
}
