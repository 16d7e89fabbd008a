# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# MCP Apps: results that a page shows, and generated pages.

__mcp_load common

__mcp_supports_ui() {
  local _held=${MCPBASH_CLIENT_SUPPORTS_UI-}
  if [[ $_held != 1 && -n ${MCPBASH_STATE_DIR-} && -f $MCPBASH_STATE_DIR/extensions.ui.support ]]; then
    { IFS= read -r _held <"$MCPBASH_STATE_DIR/extensions.ui.support"; } 2>/dev/null || :
  fi
  [[ $_held == 1 ]]
}

__mcp_result_with_ui() { # URI TEXT [DATA]: the tool's metadata names the page, not the result
  local _data=''
  __mcp_load results
  if ! mcp_client_supports_ui; then
    if __mcp_compact "${2-}"; then
      __mcp_result_success "$2"
      return
    fi
  elif [[ -n ${3-} ]]; then
    if ! __mcp_full; then
      _data=$3
    elif __mcp_compact "$3"; then
      _data=$__mcp_reply
    else
      __mcp_internal_error 'Invalid JSON passed to mcp_result_with_ui'
      return
    fi
    [[ $_data == null ]] || _data=",\"structuredContent\":$_data"
  fi
  __mcp_alone mcp_result_with_ui
  __mcp_quote "${2-}"
  __mcp_reply="{\"content\":[{\"type\":\"text\",\"text\":$__mcp_reply}]${_data#null},\"isError\":false}$__mcp_nl"
}

__mcp_tool_meta_with_ui() { # URI [VISIBILITY]
  local _uri
  __mcp_quote "${1-}"
  _uri=$__mcp_reply
  __mcp_list "${2:-model,app}"
  __mcp_reply="{\"ui\":{\"resourceUri\":$_uri,\"visibility\":$__mcp_reply}}$__mcp_nl"
}

__mcp_list() { # WORDS: separated by commas, as a JSON array
  local _word _all='' IFS=,
  for _word in $1; do
    __mcp_trim "$_word"
    [[ -n $__mcp_reply ]] || continue
    __mcp_quote "$__mcp_reply"
    _all=$_all,$__mcp_reply
  done
  __mcp_reply="[${_all#,}]"
}

__mcp_trim() { # TEXT
  __mcp_reply=${1#"${1%%[!$__mcp_space]*}"}
  __mcp_reply=${__mcp_reply%"${__mcp_reply##*[!$__mcp_space]}"}
}

__mcp_ui_page() { # KIND TEMPLATE [FLAG VALUE]...: the HTML of a template
  local __mcp_config='' __mcp_to=__mcp_config
  local __mcp_function=mcp_ui_template_$1 __mcp_make=__mcp_ui_$1_config __mcp_template=$2
  shift 2
  __mcp_run "$__mcp_make" "$@"
  if declare -F "$__mcp_function" >/dev/null; then
    "$__mcp_function" "$__mcp_config"
  elif __mcp_program; then
    "$__mcp_bin" --helper ui-template "$__mcp_template" <<<"$__mcp_config"
  else
    printf 'Error: %s not available\n' "$__mcp_function" >&2
    return 1
  fi
}

__mcp_ui_form_config() { # [--title T] [--field NAME[:TYPE[:OPTIONS]]]... [--submit-tool TOOL]
  local _title='"Form"' _fields='' _tool='""'
  while (($#)); do
    case $1 in
      --title) __mcp_quote "${2-}" && _title=$__mcp_reply ;;
      --field) __mcp_ui_field "${2-}" && _fields=$_fields,$__mcp_reply ;;
      --submit-tool) __mcp_quote "${2-}" && _tool=$__mcp_reply ;;
      *) set -- "" "$@" ;; # no effect
    esac
    shift "$(($# > 1 ? 2 : 1))"
  done
  __mcp_reply="{\"title\":$_title,\"fields\":[${_fields#,}],\"submitTool\":$_tool}"
}

__mcp_ui_field() { # NAME[:TYPE[:OPTIONS]]
  local _name=${1%%:*} _type=text _options=null _label='' _word IFS=$' \t\n'
  __mcp_load strings
  if [[ $1 == *:* ]]; then
    _type=${1#*:}
    if [[ $_type == *:* ]]; then
      __mcp_list "${_type#*:}"
      _options=$__mcp_reply _type=${_type%%:*}
    fi
  fi
  for _word in ${_name//[-_]/ }; do
    __mcp_upper "${_word:0:1}"
    _label="$_label $__mcp_reply${_word:1}"
  done
  __mcp_quote "$_name" && _name=$__mcp_reply
  __mcp_quote "${_type:-text}" && _type=$__mcp_reply
  __mcp_quote "${_label# }"
  __mcp_reply="{\"name\":$_name,\"type\":$_type,\"label\":$__mcp_reply,\"options\":$_options}"
}

__mcp_ui_data_table_config() { # [--columns A,B] [--title T]
  local _title='"Data"' _columns='' _word IFS=$' \t\n'
  while (($#)); do
    case $1 in
      --title) __mcp_quote "${2-}" && _title=$__mcp_reply ;;
      --columns)
        IFS=,
        for _word in ${2-}; do
          __mcp_trim "$_word"
          [[ -n $__mcp_reply ]] || continue
          __mcp_quote "$__mcp_reply"
          _columns="$_columns,{\"key\":$__mcp_reply,\"label\":$__mcp_reply,\"sortable\":true}"
        done
        IFS=$' \t\n'
        ;;
      *) set -- "" "$@" ;; # no effect
    esac
    shift "$(($# > 1 ? 2 : 1))"
  done
  __mcp_reply="{\"title\":$_title,\"columns\":[${_columns#,}]}"
}
