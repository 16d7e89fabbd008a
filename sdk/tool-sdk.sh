#!/usr/bin/env bash
# shellcheck shell=bash
# shellcheck disable=SC2053,SC2254,SC2295 # patterns are kept in variables
# shellcheck disable=SC2050 # a == A asks for nocasematch
#
# The SDK of tool scripts. A tool loads all of it with one line:
#
#   source "${MCP_SDK}/tool-sdk.sh"
#
# Reading it is what sourcing costs, so it has pages, and the first ends in `return`; how it works is told there.

# == 1 Loading, arguments, JSON builders

if [[ -z ${__mcp_whole-} ]]; then
  case $- in *x*) set +x && __mcp_traced=1 ;; *) __mcp_traced='' ;; esac # payload comes by
  [[ -n ${__mcp_keep_options-} ]] || set -euo pipefail
fi

__mcp_call() { # PAGE FUNCTION ARG...: calls a private function from the outside
  [[ $__mcp_pages == *" $1 "* ]] || __mcp_need 2 "$1"
  shift
  __mcp_run "$@"
}

__mcp_need() { # PAGE...
  local __mcp_page
  for __mcp_page; do
    [[ $__mcp_pages == *" $__mcp_page "* ]] || __mcp_read "$__mcp_page"
  done
}

__mcp_read() { # PAGE
  local __mcp_x='' __mcp_posix=''
  case $- in *x*) set +x && __mcp_x=1 ;; esac
  case $SHELLOPTS in *posix*) set +o posix && __mcp_posix=1 ;; esac
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] > 403)) && [[ -z ${__mcp_old_bash-} ]]; then
    local -a __mcp_text_of
    __mcp_pages="$__mcp_pages$1 "
    mapfile -d $'\f' -t -s "$(($1 - 1))" -n 1 __mcp_text_of <"$__mcp_file" # not known to Bash 3.2, which does not come here
    eval "${__mcp_text_of[0]}"
  else
    local __mcp_whole=1
    __mcp_pages=$__mcp_all_pages
    # shellcheck source=/dev/null
    . "$__mcp_file"
  fi
  [[ -z $__mcp_posix ]] || set -o posix
  [[ -z $__mcp_x ]] || set -x
}

__mcp_put() { # ANSWER: prints it or, for mcp_into, assigns it
  if [[ -z ${__mcp_to-} ]]; then
    printf %s "$1"
  else
    eval "$__mcp_to=\$1 __mcp_to=''"
  fi
}

__mcp_table() { # TABLE: into __mcp_rows, and the document itself into __mcp_text
  local IFS=$__mcp_nl
  # shellcheck disable=SC2206 # a word for each row
  case $- in *f*) __mcp_rows=($1) ;; *) set -f && __mcp_rows=($1) && set +f ;; esac
  __mcp_text=${__mcp_rows[0]:3}
  case $__mcp_text in *\\*) printf -v __mcp_text %b "$__mcp_text" ;; esac
}

__mcp_find() { # PATH: takes it from __mcp_rows
  local _row
  for _row in "${__mcp_rows[@]}"; do
    case $_row in
      "$1$__mcp_tab"*)
        __mcp_kind=${_row:${#1}+1:1} __mcp_reply=${_row:${#1}+2}
        case $__mcp_reply in *\\*) printf -v __mcp_reply %b "$__mcp_reply" ;; esac
        return 0
        ;;
    esac
  done
  return 1
}

__mcp_short() { # FILTER: rc 1 take the long way
  local _path=${1%% //*}
  [[ $- != *x* && a != A && -n $__mcp_text && ${MCP_TOOL_ARGS_JSON-} == "$__mcp_text" && ! -f ${MCP_TOOL_ARGS_FILE-} &&
    ${MCPBASH_MODE-} != minimal && $1 != *"$__mcp_tab"* ]] || return 1
  __mcp_find "$_path" || __mcp_short_missing "$_path" || return 1
  [[ $_path == "$1" ]] || __mcp_short_default "${1:${#_path}+4}"
}

__mcp_short_missing() { # PATH
  [[ $__mcp_text == \{* ]] || return 1
  case $1 in .*[!$__mcp_word]* | .[0123456789]* | . | [!.]* | '') return 1 ;; esac
  __mcp_kind=z __mcp_reply=null
}

__mcp_short_default() { # LITERAL
  case $1 in
    \"*[\"\\]*\") return 1 ;;
    empty | true | false | \"*\") ;;
    '' | *[!0123456789]* | 0?* | ????????????????*) return 1 ;;
  esac
  [[ $__mcp_kind == [zx] ]] || return 0
  case $1 in
    empty) __mcp_kind=e __mcp_reply='' ;;
    *) __mcp_kind=s __mcp_reply=${1#\"} && __mcp_reply=${__mcp_reply%\"} ;;
  esac
}

__mcp_within() { # POINTER [--min N | --max N]...: rc 1 too when that is hard to tell
  while shift && (($#)); do
    case $__mcp_reply${2-} in *-* | ????????????????*) return 1 ;; esac
    case ${2-} in '' | *[!0123456789]* | 0?*) return 1 ;; esac
    case $1 in
      --min) [[ $__mcp_reply -ge $2 ]] || return ;;
      --max) [[ $__mcp_reply -le $2 ]] || return ;;
      *) return 1 ;;
    esac
    shift
  done
}

__mcp_getter() { # AS FILTER [ARG...]: AS is what makes an answer of the value
  if __mcp_short "${2-}"; then
    __mcp_need 4
    __mcp_failure=''
    "$@"
    [[ -z $__mcp_failure ]] || __mcp_refuse || return
    __mcp_put "$__mcp_reply"
  else
    __mcp_call 7 __mcp_long "$@"
  fi
}

__mcp_refuse() {
  __mcp_reply='' __mcp_to=''
  "$__mcp_refusal" "$__mcp_failure"
}

__mcp_quote() { # TEXT: as a JSON string
  __mcp_reply=$1
  case $1 in $__mcp_unsafe) __mcp_quote_unsafe ;; esac
  __mcp_reply=\"$__mcp_reply\"
}

__mcp_quote_unsafe() {
  if [[ ${#__mcp_reply} -gt 1000 || $__mcp_reply == $__mcp_hard ]]; then
    __mcp_need 2 9
    __mcp_quote_hard
  else
    __mcp_reply=${__mcp_reply//"$__mcp_bs"/"$__mcp_bsbs"}
    __mcp_reply=${__mcp_reply//"$__mcp_quot"/"$__mcp_bquot"}
    __mcp_reply=${__mcp_reply//"$__mcp_nl"/"$__mcp_bn"}
  fi
}

# -- The public functions

if [[ -z ${__mcp_whole-} ]]; then
  mcp_args_get() { # FILTER [--default V]
    if __mcp_short "${1-}" && [[ $# -eq 1 || $__mcp_kind != [ze] ]]; then
      __mcp_put "$__mcp_reply"
    else
      __mcp_getter __mcp_as_get "$@"
    fi
  }

  mcp_args_require() { # POINTER [MESSAGE]
    if __mcp_short "${1-}" && [[ $__mcp_kind != [ze] && -n $__mcp_reply ]]; then
      __mcp_put "$__mcp_reply"
    else
      __mcp_getter __mcp_as_require "$@"
    fi
  }

  mcp_args_bool() { __mcp_getter __mcp_as_bool "$@"; } # POINTER [--default V]

  mcp_args_int() { # POINTER [--default N] [--min N] [--max N]
    if __mcp_short "${1-}" && [[ $__mcp_kind == i ]] && { [[ $# -eq 1 ]] || __mcp_within "$@"; }; then
      __mcp_put "$__mcp_reply"
    else
      __mcp_getter __mcp_as_int "$@"
    fi
  }

  mcp_json_escape() { __mcp_quote "${1-}"; __mcp_put "$__mcp_reply"; }

  mcp_json_obj() { # [KEY VALUE]...
    local __mcp_all='' __mcp_key
    (($# % 2 == 0)) || { __mcp_call 13 __mcp_obj_odd "$#" && exit 1; }
    while (($#)); do
      __mcp_quote "$1"
      __mcp_key=$__mcp_reply
      __mcp_quote "$2"
      __mcp_all=$__mcp_all,$__mcp_key:$__mcp_reply
      shift 2
    done
    __mcp_put "{${__mcp_all#,}}"
  }

  mcp_json_arr() { # [VALUE]...
    local __mcp_all='' __mcp_value
    for __mcp_value; do
      __mcp_quote "$__mcp_value"
      __mcp_all=$__mcp_all,$__mcp_reply
    done
    __mcp_put "[${__mcp_all#,}]"
  }

  mcp_emit_json() { # JSON
    # White space between tokens stands next to a bracket, a comma, a colon or an end.
    case ${1-} in
      [$__mcp_blank]* | *[$__mcp_blank] | *[]{}:,[][$__mcp_blank]* | *[$__mcp_blank][]{}:,[]*) ;;
      \{*\} | \[*\] | \"*\")
        if [[ ${#1} -gt 999 || $1 != $__mcp_stray && $1 != $__mcp_hole ]]; then
          __mcp_said=mcp_emit_json
          printf %s "$1"
          return
        fi
        ;;
    esac
    __mcp_call 6 __mcp_emit_json "${1-}"
  }

  mcp_into() { # VARIABLE FUNCTION ARG...: the answer goes into the variable, without a subshell
    case ${1-} in '' | *[!$__mcp_word]* | [0123456789]* | __mcp_*) __mcp_call 13 __mcp_into_name || return ;; esac
    local __mcp_to=$1
    shift
    "$@" || return
    [[ -z $__mcp_to ]] || __mcp_call 13 __mcp_into_function "$@"
  }

  mcp_args_raw() { __mcp_call 7 __mcp_args_raw "$@"; }
  mcp_meta_raw() { __mcp_call 7 __mcp_meta_raw "$@"; }
  mcp_meta_get() { __mcp_call 7 __mcp_meta_get "$@"; }
  mcp_emit_text() { __mcp_said=mcp_emit_text && printf %s "${1-}"; }
  mcp_fail() { __mcp_call 5 __mcp_fail "$@" || :; exit 1; }
  mcp_fail_invalid_args() { mcp_fail -32602 "${1:-Invalid params}" "${2-}"; }
  mcp_result_success() { __mcp_call 6 __mcp_result_success "$@"; }
  mcp_result_error() { __mcp_call 8 __mcp_result_error "$@"; }
  mcp_error() { __mcp_call 8 __mcp_error "$@"; }
  mcp_is_valid_json() { __mcp_call 6 __mcp_is_valid_json "$@"; }
  mcp_byte_length() { __mcp_call 5 __mcp_byte_length "$@"; }
  mcp_progress() { __mcp_call 5 __mcp_progress "$@"; }
  mcp_is_cancelled() { [[ -n ${MCP_TOOL_CANCELLATION_FILE-} && -f $MCP_TOOL_CANCELLATION_FILE ]]; }
  mcp_log() { __mcp_call 5 __mcp_log "$@"; }
  mcp_log_debug() { __mcp_call 5 __mcp_log_text debug "$@"; }
  mcp_log_info() { __mcp_call 5 __mcp_log_text info "$@"; }
  mcp_log_warn() { __mcp_call 5 __mcp_log_text warning "$@"; }
  mcp_log_error() { __mcp_call 5 __mcp_log_text error "$@"; }
  mcp_debug() { __mcp_call 5 __mcp_debug "$@"; }
  mcp_json_typed_obj() { __mcp_call 13 __mcp_json_typed_obj "$@"; }
  mcp_json_typed_arr() { __mcp_call 13 __mcp_json_typed_arr "$@"; }
  mcp_result_image() { __mcp_call 13 __mcp_result_media image "$@"; }
  mcp_result_audio() { __mcp_call 13 __mcp_result_media audio "$@"; }
  mcp_result_text_with_resource() { __mcp_call 13 __mcp_result_text_with_resource "$@"; }
  mcp_json_truncate() { __mcp_call 13 __mcp_json_truncate "$@"; }
  mcp_extract_cli_error() { __mcp_call 13 __mcp_extract_cli_error "$@"; }
  mcp_roots_list() { printf %s "${MCP_ROOTS_PATHS-}"; }
  mcp_roots_count() { printf %s "${MCP_ROOTS_COUNT:-0}"; }
  mcp_roots_contains() { __mcp_call 10 __mcp_roots_contains "$@"; }
  mcp_require_path() { __mcp_call 10 __mcp_require_path "$@"; }
  mcp_config_load() { __mcp_call 11 __mcp_config_load "$@"; }
  mcp_config_get() { __mcp_call 11 __mcp_config_get "$@"; }
  mcp_elicit() { __mcp_call 12 __mcp_elicit "$@"; }
  mcp_elicit_url() { __mcp_call 12 __mcp_elicit_url "$@"; }
  mcp_elicit_string() { __mcp_call 12 __mcp_elicit_field string "$@"; }
  mcp_elicit_confirm() { __mcp_call 12 __mcp_elicit_field confirm "$@"; }
  mcp_elicit_choice() { __mcp_call 12 __mcp_elicit_field choice "$@"; }
  mcp_elicit_titled_choice() { __mcp_call 12 __mcp_elicit_field titled_choice "$@"; }
  mcp_elicit_multi_choice() { __mcp_call 12 __mcp_elicit_field multi_choice "$@"; }
  mcp_elicit_titled_multi_choice() { __mcp_call 12 __mcp_elicit_field titled_multi_choice "$@"; }

  mcp_input_request() { __mcp_call 17 __mcp_input_request "$@"; }
  mcp_input_wait() { __mcp_call 17 __mcp_input_wait "$@"; }
  mcp_sample() { __mcp_call 17 __mcp_sample "$@"; }
  mcp_roots_request() { __mcp_call 17 __mcp_roots_request "$@"; }

  mcp_with_retry() { __mcp_need 14 && __mcp_with_retry "$@" || return; }
  mcp_download_safe() { __mcp_need 15 && __mcp_download_safe "$@" || return; }
  mcp_download_safe_or_fail() { __mcp_need 15 && __mcp_download_safe_or_fail "$@" || return; }

  # Private names that projects call all the same.
  __mcp_sdk_json_escape() { mcp_json_escape "$@"; }
  __mcp_sdk_warn() { printf '%s\n' "${1-}" >&2; }
  __mcp_sdk_uint_or_default() { __mcp_call 2 __mcp_uint "$@"; }
  __mcp_sdk_payload_from_env_vars() { __mcp_call 7 __mcp_raw "$@"; }

  # -- The environment

  case ${BASH_SOURCE[0]} in
    /* | [A-Za-z]:[\\/]*) __mcp_file=${BASH_SOURCE[0]} ;;
    *) __mcp_file=$PWD/${BASH_SOURCE[0]} ;; # to be found when the tool has changed directory
  esac
  __mcp_pages=' 1 ' __mcp_all_pages=' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 ' __mcp_dir=${__mcp_file%/*} __mcp_text='' \
    __mcp_said='' __mcp_refusal=mcp_fail_invalid_args \
    __mcp_nl=$'\n' __mcp_tab=$'\t' __mcp_blank=$' \t\n\r' \
    __mcp_bs=\\ __mcp_bsbs=\\\\ __mcp_bn=\\n __mcp_quot=\" __mcp_bquot=\\\" \
    __mcp_word=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz # ranges depend on the locale
  # What a JSON string does not take as it is, and what takes page 2 to write.
  __mcp_hard="!#\$%&'()*+,./:;<=>?@[^\`{|}~$__mcp_word-]*"
  __mcp_unsafe="*[!] $__mcp_hard" __mcp_hard="*[!] $__mcp_nl\"$__mcp_bsbs$__mcp_hard"
  __mcp_stray='*[!\\{:,[]"[!]}:,]*' __mcp_hole='*[,:][],}]*' # a quote within a string, a place without a value
  MCP_TOOL_CANCELLATION_FILE=${MCP_CANCEL_FILE-} MCP_ELICIT_DEFAULT_TIMEOUT=${MCPBASH_ELICITATION_TIMEOUT:-30} \
    MCP_PROGRESS_STREAM=${MCP_PROGRESS_STREAM-} MCP_LOG_STREAM=${MCP_LOG_STREAM-} \
    MCP_PROGRESS_TOKEN=${MCP_PROGRESS_TOKEN-}
  case ${OSTYPE-} in
    msys* | cygwin*) # where programs end lines with CR LF
      MCP_PROGRESS_STREAM=${MCP_PROGRESS_STREAM%$'\r'} MCP_PROGRESS_TOKEN=${MCP_PROGRESS_TOKEN%$'\r'}
      ;;
  esac
  __mcp_token=$MCP_PROGRESS_TOKEN # that MCPBASH_PROGRESS_TOKEN_JSON belongs to
  [[ -z ${MCPBASH_ARGS_FLAT-} ]] || __mcp_table "$MCPBASH_ARGS_FLAT"
  export -n MCPBASH_ARGS_FLAT MCPBASH_META_FLAT

  # What projects may have brought along themselves.
  {
    declare -F mcp_path_normalize || {
      mcp_path_normalize() { __mcp_call 10 __mcp_path_normalize "$@"; }
      mcp_path_collapse() { __mcp_call 10 __mcp_path_collapse "$@"; }
    }
    declare -F mcp_run_with_progress || mcp_run_with_progress() { __mcp_need 14 && __mcp_run_with_progress "$@" || return; }
    declare -F mcp_detect_cli || mcp_detect_cli() { __mcp_need 16 && __mcp_detect_cli "$@" || return; }
    declare -F mcp_client_supports_ui || [[ ! -r $__mcp_dir/ui-sdk.sh ]] || {
      # shellcheck source=/dev/null
      __mcp_ui() { declare -F __mcp_ui_page >/dev/null || . "$__mcp_dir/ui-sdk.sh"; }
      mcp_client_supports_ui() { __mcp_ui && __mcp_supports_ui; }
      mcp_client_supports_extension() { [[ ${1-} == io.modelcontextprotocol/ui ]] && mcp_client_supports_ui; }
      mcp_result_with_ui() { __mcp_ui && __mcp_call 6 __mcp_result_with_ui "$@"; }
      mcp_result_with_ui_data() { __mcp_ui && __mcp_call 6 __mcp_result_with_ui "$@"; }
      mcp_tool_meta_with_ui() { __mcp_ui && __mcp_call 6 __mcp_tool_meta_with_ui "$@"; }
      mcp_ui_form() { __mcp_ui && __mcp_ui_page form form "$@" || return; } # may call functions of the tool
      mcp_ui_table() { __mcp_ui && __mcp_ui_page data_table data-table "$@" || return; }
    }
  } >/dev/null

  if [[ -f $__mcp_file ]]; then
    [[ -n ${MCPBASH_JSON_TOOL_BIN-} || ${MCPBASH_JSON_TOOL-} == none || ${MCPBASH_MODE-} == minimal ]] || {
      __mcp_need 3
      __mcp_find_json_tool
    }
    [[ -z $__mcp_traced ]] || set -x
    return 0
  fi
  __mcp_pages=$__mcp_all_pages # came through a pipe and cannot be read again: take all of it now
fi

# -- How this works ---------------------------------------------------------------------------------------------------
#
# Form feeds divide this file into pages. A public function whose work stands on another page is a line here that has
# __mcp_read fetch the page; Bash before 4.4 has no way to fetch only one and reads the whole file again. Reading
# defines private functions anew, never public ones, which the tool may have replaced.
#
# mcp_NAME calls the private __mcp_NAME, from page 2 on by way of __mcp_run, which makes the shell's settings plain,
# keeps payload out of a trace, and prints the answer that __mcp_NAME left in __mcp_reply. `set -e` is not in force
# there: a private function looks after its own failures. What fails the tool or may be replaced by it (mcp_fail,
# mcp_log and so on) is called by its public name.
#
# The functions that run code which is not ours (mcp_with_retry and so on) do so with the shell's settings as they are,
# and in a condition, so that `set -e` does not end them half-way.
#
# __mcp_short finds a path that is there, or a key of the root that is not, perhaps with a literal default. It leaves
# alone what a trace would show, and what nocasematch would find too much of.
#
# What is found goes to __mcp_reply, the sort of it to __mcp_kind: s string, i integer, f other number, t true, x false,
# z null, o object, a array; e nothing at all, m several values, d a default, - an error, ? there is no JSON tool.
#
# The flat table of a document has a row PATH TAB KIND VALUE for each of its nodes; within VALUE a backslash is doubled
# and a newline is \n.
#
# Page 1 runs with the tool's own locale, IFS and options, and depends on none of them. Bash copies the body of a
# function at every call, so what is seldom needed stands in a function of its own. It is read at every start, where a
# comment costs too: that is why it has so few.
#
# Locals begin with an underscore, because `local name` fails where the tool has a readonly `name`; with __mcp_ where
# mcp_into assigns or code of the tool runs. Everything works on Bash 3.2; replacing is done with both the old and the
# new text in quoted variables, which is the one way that all versions agree on. Before 5.1 <(...) is a mistake in POSIX
# mode, so pages are read with that off.
#
# == 2 Calling, our program ===========================================================================================

__mcp_run() { # FUNCTION ARG...
  local __mcp_rc=0 __mcp_x='' __mcp_f='' __mcp_n='' __mcp_out=${__mcp_to-}
  case $- in *x*) set +x && __mcp_x=1 ;; esac
  case $- in *f*) ;; *) set -f && __mcp_f=1 ;; esac
  if [[ a == A ]]; then shopt -u nocasematch && __mcp_n=1; fi
  __mcp_to=''
  __mcp_plainly "$@" || __mcp_rc=$?
  [[ -z $__mcp_failure ]] || __mcp_reply=''
  if [[ -n $__mcp_out ]]; then
    while [[ $__mcp_reply == *"$__mcp_nl" ]]; do __mcp_reply=${__mcp_reply%?}; done
    eval "$__mcp_out=\$__mcp_reply"
  elif [[ -n $__mcp_reply ]]; then
    printf %s "$__mcp_reply" || __mcp_rc=$?
  fi
  [[ -z $__mcp_n ]] || shopt -s nocasematch
  [[ -z $__mcp_f ]] || set +f
  [[ -z $__mcp_x ]] || set -x
  [[ -z $__mcp_failure ]] || __mcp_refuse || return
  return "$__mcp_rc"
}

__mcp_plainly() { # FUNCTION ARG...
  local IFS=$' \t\n'
  # In the C locale characters are bytes, ranges mean what they say, and long strings are a hundred times faster. An
  # LC_ALL that names no locale is left alone: Bash has fallen back to C, and would complain at every return.
  if [[ -z ${LC_ALL-} || ${#__mcp_e_acute} -eq 1 ]]; then local LC_ALL=C; fi
  __mcp_reply='' __mcp_failure=''
  "$@"
}

__mcp_e_acute=$'\303\251' # one character in UTF-8 locales, two elsewhere
__mcp_none='{}'
__mcp_large=32768 # beyond so many bytes a program is faster than Bash
((BASH_VERSINFO[0] > 3)) || __mcp_large=512

__mcp_full() { [[ ${MCPBASH_MODE-} != minimal && -n ${MCPBASH_JSON_TOOL_BIN-} ]]; }

__mcp_called() { [[ -n ${MCP_TOOL_ARGS_JSON+set}${MCP_TOOL_ARGS_FILE+set} ]]; } # by a server or mcp-runtool

__mcp_program() { # our own program, into __mcp_bin: the server's, that of this tree, or the one that is installed
  for __mcp_bin in "${MCPBASH_HELPER_BIN-}" "$__mcp_dir/../bin/mcp-jq" "$__mcp_dir/../bin/mcp-bash"; do
    [[ ! -x $__mcp_bin || ! -f $__mcp_bin ]] || return 0
  done
  __mcp_need 3
  __mcp_on_path mcp-bash
}

__mcp_ask() { # HELPER ARG... <INPUT: what our program, or a JSON tool in its place, makes of it
  if __mcp_program; then
    __mcp_reply=$(exec "$__mcp_bin" --helper "$@")
  else
    __mcp_need 18
    __mcp_stand_in "$@"
  fi
}

__mcp_uint() { # VALUE DEFAULT
  local _value
  for _value in "${1-}" "${2-}" 0; do
    _value=${_value#"${_value%%[!$__mcp_space]*}"}
    _value=${_value%"${_value##*[!$__mcp_space]}"}
    case $_value in '' | *[!0-9]*) ;; *) break ;; esac
  done
  _value=${_value#"${_value%%[!0]*}"}
  __mcp_reply=${_value:-0}
}

__mcp_space=$' \t\n\v\f\r'

__mcp_limit() { # VALUE VARIABLE DEFAULT: as __mcp_uint, in the range of Bash's arithmetic
  __mcp_uint "${!2-}" "$3"
  __mcp_uint "$1" "$__mcp_reply"
  ((${#__mcp_reply} < 16)) || __mcp_reply=999999999999999
}

__mcp_utf8=( # the well-formed sequences of several bytes
  $'[\302-\337][\200-\277]'
  $'\340[\240-\277][\200-\277]'
  $'[\341-\354\356\357][\200-\277][\200-\277]'
  $'\355[\200-\237][\200-\277]'
  $'\360[\220-\277][\200-\277][\200-\277]'
  $'[\361-\363][\200-\277][\200-\277][\200-\277]'
  $'\364[\200-\217][\200-\277][\200-\277]'
)

__mcp_is_utf8() { # TEXT
  local _text=$1 _sequence
  [[ $_text == *[$'\200'-$'\377']* ]] || return 0
  for _sequence in "${__mcp_utf8[@]}"; do _text=${_text//$_sequence/x}; done
  [[ $_text != *[$'\200'-$'\377']* ]]
}

#
# == 3 Finding programs outside of a server ===========================================================================

__mcp_on_path() { # NAME: the program of that name, into __mcp_bin
  local IFS=: _in _f=''
  case $- in *f*) ;; *) set -f && _f=1 ;; esac
  __mcp_bin=''
  for _in in ${PATH-}; do
    if [[ $_in == /* && -x $_in/$1 && -f $_in/$1 ]]; then
      __mcp_bin=$_in/$1
      break
    fi
  done
  [[ -z $_f ]] || set +f
  [[ -n $__mcp_bin ]]
}

__mcp_find_json_tool() { # jq, gojq or our own program, for the tool to call
  if __mcp_on_path jq || __mcp_on_path gojq; then
    MCPBASH_JSON_TOOL=${__mcp_bin##*/} MCPBASH_JSON_TOOL_BIN=$__mcp_bin
    return 0
  fi
  __mcp_need 2
  __mcp_program || return 0
  case $__mcp_bin in
    */mcp-jq) ;;
    *) __mcp_bin=__mcp_own_jq ;; # a program of ours of another name is told by its first words
  esac
  MCPBASH_JSON_TOOL=jq MCPBASH_JSON_TOOL_BIN=$__mcp_bin
}

__mcp_own_jq() { __mcp_program && "$__mcp_bin" --helper jq "$@"; }

#
# == 4 What typed getters make of a value =============================================================================

__mcp_as_get() { # FILTER [--default V]
  while [[ $# -gt 1 && $__mcp_kind == [ze] ]]; do
    [[ $2 != --default ]] || __mcp_kind=d __mcp_reply=${3-}
    shift
  done
}

__mcp_as_require() { # POINTER [MESSAGE]
  __mcp_absent || return 0
  __mcp_failure=${2-}
  [[ -n $__mcp_failure ]] || __mcp_required "${1-}"
}

__mcp_as_bool() { # POINTER [--default V]
  [[ ${2-} != --default ]] || ! __mcp_absent || __mcp_kind=d __mcp_reply=${3-}
  ! __mcp_absent || __mcp_missing "${1-}"
  case $__mcp_reply in true | 1) __mcp_reply=true ;; *) __mcp_reply=false ;; esac
}

__mcp_as_int() { # POINTER [--default N] [--min N] [--max N]
  local _pointer=${1-} _min='' _max=''
  while (($# > 1)); do
    case $2 in
      --default) ! __mcp_absent || __mcp_kind=d __mcp_reply=${3-} ;;
      --min) _min=${3-} ;;
      --max) _max=${3-} ;;
      *) break ;;
    esac
    shift "$(($# > 2 ? 2 : 1))"
  done
  if [[ -n $_min && -n $_max ]] && ! __mcp_le "$_min" "$_max"; then
    __mcp_failure='mcp_args_int: --min cannot exceed --max'
  elif __mcp_absent; then
    __mcp_missing "$_pointer"
  elif [[ $__mcp_reply == +* ]] || ! __mcp_le "$__mcp_reply" "$__mcp_reply"; then
    __mcp_failure="$_pointer must be an integer"
  elif [[ -n $_min ]] && ! __mcp_le "$_min" "$__mcp_reply"; then
    __mcp_failure="$_pointer must be >= $_min"
  elif [[ -n $_max ]] && ! __mcp_le "$__mcp_reply" "$_max"; then
    __mcp_failure="$_pointer must be <= $_max"
  fi
}

__mcp_absent() { [[ $__mcp_kind == [ze?-] || -z $__mcp_reply && $__mcp_kind != d ]]; }

__mcp_missing() { # POINTER
  __mcp_required "$1"
  [[ $__mcp_kind != '?' ]] || __mcp_failure="$1 requires JSON tooling or a default"
}

__mcp_required() { # POINTER
  __mcp_failure="$1 is required"
  if __mcp_meant "$1"; then
    __mcp_failure="$__mcp_failure: the filter $__mcp_remedy"
  elif __mcp_need 2 && ! __mcp_called; then
    __mcp_need 13
    __mcp_failure="$__mcp_failure: no arguments were given; $__mcp_by_hand"
  fi
}

__mcp_meant() { # FILTER: what it lacks, when that is easy to see, into __mcp_remedy
  case $1 in
    '' | [0123456789]* | *[!$__mcp_word.-]* | .*[!$__mcp_word-]* | *-[0123456789]*) return 1 ;;
    *-*) __mcp_remedy="needs quotes: .\"${1#.}\"" ;;
    .*) return 1 ;;
    *) __mcp_remedy="needs a dot: .$1" ;;
  esac
}

__mcp_hint() { # WHO FILTER: for a filter that does not compile
  ! __mcp_meant "$2" || printf '%s: the filter %s %s\n' "$1" "$2" "$__mcp_remedy" >&2
}

__mcp_le() { # A B: are both integers, of any size, and A <= B?
  local _a=${1#[-+]} _b=${2#[-+]}
  [[ -n $_a && -n $_b && $_a$_b != *[!0123456789]* ]] || return 1
  _a=${_a#"${_a%%[!0]*}"}
  _b=${_b#"${_b%%[!0]*}"}
  case ${1:0:1}${_a:+.}/${2:0:1}${_b:+.} in # -. is below zero
    -./-.) set -- "$_b" "$_a" ;;
    -./*) return 0 ;;
    */-.) return 1 ;;
    *) set -- "$_a" "$_b" ;;
  esac
  ((${#1} < ${#2})) || [[ ${#1} -eq ${#2} && ! $1 > $2 ]]
}

#
# == 5 Failing, progress, logs ========================================================================================

__mcp_fail() { # [CODE [MESSAGE [DATA]]]
  local _code=${1-} _message=${2:-Tool failed} _data=null
  case ${_code#[-+]} in
    '' | *[!0-9]*) _code=-32603 ;;
    *)
      __mcp_uint "${_code#[-+]}"
      case $_code in -*[1-9]*) _code=-$__mcp_reply ;; *) _code=$__mcp_reply ;; esac
      ;;
  esac
  if [[ -n ${3-} ]]; then
    if ! __mcp_full; then
      _data=$3
    else
      __mcp_need 6
      ! __mcp_compact "$3" || _data=$__mcp_reply
    fi
  fi
  __mcp_quote "$_message"
  __mcp_reply="{\"code\":$_code,\"message\":$__mcp_reply,\"data\":$_data}$__mcp_nl"
  if [[ -w ${MCP_TOOL_ERROR_FILE-} ]]; then
    { printf %s "$__mcp_reply" >|"$MCP_TOOL_ERROR_FILE"; } 2>/dev/null
  fi
  if [[ -n $__mcp_said ]]; then
    printf 'mcp_fail: %s has printed a result before; the client gets this error instead:\n' "$__mcp_said" >&2
  fi
  printf '%s\n' "$_message" >&2
}

__mcp_append() { # FILE LINE: with a single write
  { printf '%s\n' "$2" >>"$1"; } 2>/dev/null || :
}

__mcp_decimal() { # WORD: without needless zeros; rc 1 when it is not digits, perhaps with a fraction
  local _integer=${1%%.*} _fraction
  _fraction=${1#"$_integer"}
  case $_integer${_fraction#.}:$_fraction in *[!0-9]*:* | :* | *:.) return 1 ;; esac
  _integer=${_integer#"${_integer%%[!0]*}"}
  __mcp_reply=${_integer:-0}$_fraction
}

__mcp_progress() { # PERCENT [MESSAGE [TOTAL]]
  local _params
  [[ -n ${MCP_PROGRESS_TOKEN-} && -n ${MCP_PROGRESS_STREAM-} ]] || return 0
  if [[ $MCP_PROGRESS_TOKEN == "$__mcp_token" && -n ${MCPBASH_PROGRESS_TOKEN_JSON-} ]]; then
    __mcp_reply=$MCPBASH_PROGRESS_TOKEN_JSON
  elif __mcp_decimal "${MCP_PROGRESS_TOKEN#-}" && [[ $__mcp_reply == "${MCP_PROGRESS_TOKEN#-}" ]]; then
    __mcp_reply=$MCP_PROGRESS_TOKEN
  else
    __mcp_quote "$MCP_PROGRESS_TOKEN"
  fi
  _params="\"progressToken\":$__mcp_reply"
  __mcp_decimal "${1-}" || __mcp_reply=0
  case ${__mcp_reply%%.*} in ???*) __mcp_reply=100 ;; esac
  _params="$_params,\"progress\":$__mcp_reply"
  ! __mcp_decimal "${3-}" || _params="$_params,\"total\":$__mcp_reply"
  if (($# > 1)); then
    __mcp_quote "$2"
    _params="$_params,\"message\":$__mcp_reply"
  fi
  __mcp_reply=''
  __mcp_append "$MCP_PROGRESS_STREAM" "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{$_params}}"
}

__mcp_log() { # LEVEL LOGGER JSON
  local _level _data=${3-}
  shopt -s nocasematch
  case ${1-} in
    debug) _level=debug ;;
    info) _level=info ;;
    notice) _level=notice ;;
    warn | warning) _level=warning ;;
    error) _level=error ;;
    critical) _level=critical ;;
    alert) _level=alert ;;
    emergency) _level=emergency ;;
    *)
      printf "mcp_log: invalid level '%s', defaulting to 'info'\n" "${1-}" >&2
      _level=info
      ;;
  esac
  shopt -u nocasematch
  [[ -n ${MCP_LOG_STREAM-} ]] || return 0
  __mcp_need 6
  if __mcp_compact "$_data"; then
    _data=${_data//$'\r'/ }
    _data=${_data//"$__mcp_nl"/ }
  else
    __mcp_quote "$_data"
    _data=$__mcp_reply
  fi
  __mcp_log_line "$_level" "${2-}" "$_data"
}

__mcp_log_text() { # LEVEL LOGGER TEXT
  [[ -n ${MCP_LOG_STREAM-} ]] || return 0
  __mcp_quote "${3-}"
  __mcp_log_line "$1" "${2-}" "$__mcp_reply"
}

__mcp_log_line() { # LEVEL LOGGER JSON
  local _line="{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"$1\",\"logger\":"
  __mcp_quote "$2"
  __mcp_append "$MCP_LOG_STREAM" "$_line$__mcp_reply,\"data\":$3}}"
  __mcp_reply=''
}

__mcp_debug() { # WORD...
  local _time
  [[ -n ${MCPBASH_DEBUG_LOG-} ]] || return 0
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] > 401)); then
    printf -v _time '%(%H:%M:%S)T' -1 # not known to Bash 3.2, which does not come here
  else
    _time=$(date +%H:%M:%S 2>/dev/null) || _time='??:??:??'
  fi
  __mcp_append "$MCPBASH_DEBUG_LOG" "[$_time] $*"
}

__mcp_byte_length() { # TEXT
  __mcp_reply=${1-}
  __mcp_reply=${#__mcp_reply}$__mcp_nl
}

#
# == 6 JSON values and results ========================================================================================

__mcp_stx=$'\002' __mcp_etx=$'\003'
__mcp_odd=$'[\001-\010\013\014\016-\037\177]'

# Is TEXT one JSON value? rc 0 yes, and __mcp_reply is its compact form; 1 no; 2 too large or too odd to tell here.
#
# The text is cut at its quotes, so that pieces are outside and inside of strings in turn. What is outside, with a quote
# for each string, is then rewritten: a scalar or string becomes v, a key with its colon k, a member m, an innermost
# container v again. One value is left as v.
__mcp_plain() { # TEXT
  local _text=$1 _compact='' _shape='' _piece _inside='' _before='' _passes=0 IFS=\"
  ((${#_text} <= __mcp_large)) || return 2
  [[ $_text != *$__mcp_odd* ]] && __mcp_is_utf8 "$_text" || return 2
  _text=${_text//"$__mcp_bsbs"/"$__mcp_stx"}
  _text=${_text//"$__mcp_bquot"/"$__mcp_etx"}
  # shellcheck disable=SC2086 # the blank keeps an empty last piece
  set -- $_text' '
  (($# % 2)) || return 1
  (($# < 400)) || return 2
  for _piece; do
    if [[ -z $_inside ]]; then
      _shape=$_shape$_piece _compact=$_compact${_piece//[$__mcp_blank]/} _inside=1
    else
      case $_piece in
        *[$'\t\n\r']*) return 1 ;;
        *\\*) __mcp_escapes "$_piece" || return ;;
      esac
      _shape=$_shape\" _compact=$_compact\"$_piece\" _inside=''
    fi
  done

  _shape=${_shape//true/v}
  _shape=${_shape//false/v}
  _shape=${_shape//null/v}
  IFS="$__mcp_blank,:[]{}v\""
  # shellcheck disable=SC2086 # what is left in between must be numbers
  set -- $_shape
  (($# < 400)) || return 2
  for _piece; do
    [[ -z $_piece ]] || __mcp_is_number "$_piece" || return 1
  done
  _shape=${_shape//[-+.0-9Ee]/n}
  while [[ $_shape == *nn* ]]; do _shape=${_shape//nn/n}; done
  _shape=${_shape//[$__mcp_blank]/}
  _shape=${_shape//n/v}
  _shape=${_shape//\":/k}
  _shape=${_shape//\"/v}
  _shape=${_shape//\{\}/v}
  _shape=${_shape//\[\]/v}
  _shape="{k$_shape}" # as a member, so that v,v is not one value
  while [[ $_shape != "$_before" ]]; do
    ((++_passes < 50)) || return 2
    _before=$_shape
    _shape=${_shape//\{m\}/v}
    _shape=${_shape//\[v\]/v}
    _shape=${_shape//kv/m} # leaves only elements of arrays as v after a comma
    _shape=${_shape//m,m/m}
    _shape=${_shape//v,v/v}
  done
  [[ $_shape == v ]] || return 1
  __mcp_reply=${_compact//"$__mcp_etx"/"$__mcp_bquot"}
  __mcp_reply=${__mcp_reply//"$__mcp_stx"/"$__mcp_bsbs"}
}

__mcp_escapes() { # PIECE of a string: rc 1 one is wrong, 2 a surrogate
  local _text=${1//\\[bfnrt\/]/} _hex='[0-9A-Fa-f]'
  [[ $_text != *\\u[Dd][89A-Fa-f]* ]] || return 2
  _text=${_text//\\u$_hex$_hex$_hex$_hex/}
  [[ $_text != *\\* ]]
}

__mcp_is_number() { # WORD
  local _exponent=${1#"${1%%[Ee]*}"} _fraction _integer=${1%%[Ee]*}
  _fraction=${_integer#"${_integer%%.*}"}
  _integer=${_integer%%.*}
  case ${_integer#-} in '' | *[!0-9]* | 0?*) return 1 ;; esac
  case ${_fraction#.}:$_fraction in *[!0-9]*:* | :.) return 1 ;; esac
  _exponent=${_exponent#?}:$_exponent
  case ${_exponent#[-+]} in :?* | *[!0-9]*:*) return 1 ;; esac
}

__mcp_compact() { # TEXT: as __mcp_plain, with a program's help where need be; rc 1 not one JSON value, 2 there is none
  local _rc=0
  __mcp_plain "$1" || _rc=$?
  case $_rc in
    0) ;;
    1) return 1 ;;
    *)
      __mcp_full || return 2
      __mcp_ask json <<<"$1" || return 1
      ;;
  esac
}

__mcp_is_valid_json() { # TEXT
  local _rc=0
  __mcp_full || return 0
  __mcp_compact "${1-}" || _rc=1
  __mcp_reply=''
  return "$_rc"
}

__mcp_emit_json() { # JSON
  __mcp_said=mcp_emit_json
  if ! __mcp_full; then
    __mcp_reply=$1
  elif ! __mcp_compact "$1"; then
    __mcp_need 13
    __mcp_no_json "$1"
    __mcp_reply=$1
  fi
}

__mcp_result() { # TEXT STRUCTURED IS_ERROR: the text as a JSON string
  __mcp_reply="{\"content\":[{\"type\":\"text\",\"text\":$1}],\"structuredContent\":$2,\"isError\":$3}$__mcp_nl"
}

__mcp_alone() { # WHO: its envelope has to be all that is printed
  [[ -z $__mcp_said ]] || { __mcp_need 13 && __mcp_not_alone "$1"; }
  __mcp_said=$1
}

__mcp_result_success() { # DATA [MAX_TEXT_BYTES]
  local _data=${1-} _max _structured
  __mcp_alone mcp_result_success
  __mcp_limit "${2-}" MCPBASH_MAX_TEXT_BYTES 102400
  _max=$__mcp_reply
  if [[ -z $_data ]]; then
    __mcp_internal_error 'Empty data passed to mcp_result_success'
  elif ! __mcp_full; then
    _structured="{\"success\":true,\"result\":$_data}"
    __mcp_quote "$_structured"
    ((${#_structured} <= _max)) || __mcp_reply='"Success: response too large for text content"'
    __mcp_result "$__mcp_reply" "$_structured" false
  elif __mcp_plain "$_data" && ((${#__mcp_reply} + 26 <= _max)); then # 26 for what stands around it
    _structured="{\"success\":true,\"result\":$__mcp_reply}"
    __mcp_quote "$_structured"
    __mcp_result "$__mcp_reply" "$_structured" false
  elif __mcp_ask success "$_max" <<<"$_data"; then
    __mcp_reply=$__mcp_reply$__mcp_nl
  else
    __mcp_internal_error 'Invalid JSON passed to mcp_result_success'
  fi
}

__mcp_internal_error() { # MESSAGE
  __mcp_quote "$1"
  __mcp_error_result "$__mcp_reply" "{\"type\":\"internal_error\",\"message\":$__mcp_reply}"
}

__mcp_error_result() { # TEXT ERROR, both JSON
  __mcp_result "$1" "{\"success\":false,\"error\":$2}" true
}

#
# == 7 Arguments the long way =========================================================================================

__mcp_need 4

__mcp_long() { # AS FILTER [ARG...]
  local _as=$1 _rc=0
  shift
  __mcp_query ARGS "${1-}" || _rc=$?
  case $_rc in 0) ;; 1) __mcp_kind='?' __mcp_reply='' ;; *) __mcp_kind=- __mcp_reply='' ;; esac
  if [[ $_as == __mcp_as_get && $_rc -eq 1 ]]; then
    printf 'mcp_args_get: JSON tooling unavailable; use mcp_args_raw instead\n' >&2
  elif [[ $_as == __mcp_as_get && $_rc -ne 0 ]]; then
    __mcp_payload MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$__mcp_none"
    __mcp_characters "$__mcp_reply"
    printf 'mcp_args_get: jq error (rc=%s) filter=%s payload_len=%s\n' "$_rc" "${1-}" "$__mcp_reply" >&2
    ((_rc != 3)) || __mcp_hint mcp_args_get "${1-}"
    __mcp_reply=''
  else
    "$_as" "$@"
    [[ $_rc -ne 3 || -n $__mcp_failure ]] || __mcp_hint "mcp_args${_as#__mcp_as}" "${1-}" # a default stands in
    [[ $_as != __mcp_as_get || $__mcp_kind != [ze] ]] || __mcp_no_args mcp_args_get
    _rc=0
  fi
  return "$_rc"
}

__mcp_meta_get() { # FILTER [--default V]
  local _rc=0
  __mcp_query META "${1-}" || _rc=$?
  case $_rc in
    0) __mcp_as_get "$@" ;;
    1) printf 'mcp_meta_get: JSON tooling unavailable; use mcp_meta_raw instead\n' >&2 ;;
    3) __mcp_hint mcp_meta_get "${1-}" && __mcp_kind=e ;;
    *) [[ -n $__mcp_reply ]] || __mcp_kind=e ;; # what came before the error stays
  esac
  [[ $_rc -eq 1 || $__mcp_kind == e ]] || __mcp_reply=$__mcp_reply$__mcp_nl
  return "$_rc"
}

__mcp_query() { # ARGS|META FILTER: rc 1 there is no JSON tool, 3 the filter does not compile, 5 it fails
  local _file=MCP_TOOL_$1_FILE _json=MCP_TOOL_$1_JSON _flat=MCPBASH_$1_FLAT
  _file=${!_file-} _json=${!_json-} _flat=${!_flat-}
  [[ ${MCPBASH_MODE-} != minimal ]] || return 1
  if [[ ! -f $_file ]]; then
    __mcp_lookup "$_flat" "${_json:-$__mcp_none}" "$2"
  elif [[ -r $_file ]]; then
    __mcp_ask_get "$2" <"$_file"
  else
    return 5
  fi
}

__mcp_lookup() { # TABLE JSON FILTER: in the table, if it is that of the JSON, or else with a program
  local -a __mcp_rows
  local __mcp_text='' _rc=1
  [[ -z $1 ]] || __mcp_table "$1"
  if [[ -n $__mcp_text && $__mcp_text == "$2" ]]; then
    __mcp_simple "$3" && return 0 || _rc=$?
  fi
  ((_rc != 1)) || { __mcp_ask_get "$3" <<<"$2" && return 0 || _rc=$?; }
  return "$_rc"
}

__mcp_ask_get() { # FILTER <JSON
  local _rc=0
  [[ -n ${MCPBASH_JSON_TOOL_BIN-} ]] || return 1
  __mcp_ask get "$1" 2>/dev/null || _rc=$?
  __mcp_kind=${__mcp_reply:0:1} __mcp_reply=${__mcp_reply:1}
  case $_rc in 0 | 3) return "$_rc" ;; *) return 5 ;; esac
}

# A simple filter is PATH or PATH // LITERAL. Of no other do rows tell the answer.
__mcp_grammar="^[ $__mcp_tab]*(\\.|(\\.([A-Za-z_][A-Za-z0-9_]*|\"[^\"\\]*\")(\\[(0|[1-9][0-9]*)])*)+)[ $__mcp_tab]*"
__mcp_grammar="$__mcp_grammar(//[ $__mcp_tab]*(\"[^\"\\]*\"|0|-?[1-9][0-9]{0,14}|true|false|null|empty)[ $__mcp_tab]*)?\$"
__mcp_needless='^(.*)\."([A-Za-z_][A-Za-z0-9_]*)"(.*)$' # a key in quotes that needs none

__mcp_simple() { # FILTER: rc 0 answered, 5 the path leads nowhere, 1 not a simple filter
  local _path _step _literal
  [[ -n $1 ]] || set -- .
  [[ $1 != *"$__mcp_nl"* && $1 =~ $__mcp_grammar ]] || return 1
  _path=${BASH_REMATCH[1]} _literal=${BASH_REMATCH[7]}
  while [[ $_path =~ $__mcp_needless ]]; do _path=${BASH_REMATCH[1]}.${BASH_REMATCH[2]}${BASH_REMATCH[3]}; done
  if ! __mcp_find "$_path"; then # so it is what its nearest ancestor makes of the next step
    while :; do
      case $_path in
        *\]) _step=\[ _path=${_path%\[*} ;;
        *\") _step=. _path=${_path%.\"*} ;;
        *) _step=. _path=${_path%.*} ;;
      esac
      ! __mcp_find "${_path:-.}" || break
    done
    case $__mcp_kind$_step in
      z? | o. | a\[) __mcp_kind=z __mcp_reply=null ;;
      *) __mcp_kind='' __mcp_reply='' && return 5 ;;
    esac
  fi
  case $__mcp_kind$_literal in
    [zx]empty) __mcp_kind=e __mcp_reply='' ;;
    [zx]null) __mcp_kind=z __mcp_reply=null ;;
    [zx]\"*) __mcp_kind=s __mcp_reply=${_literal#\"} && __mcp_reply=${__mcp_reply%\"} ;;
    [zx]?*) __mcp_kind=s __mcp_reply=$_literal ;;
  esac
}

__mcp_characters() { # TEXT: how many
  local _at _n=0 _stretch
  for ((_at = 0; _at < ${#1}; _at += 256)); do # as a whole it would take Bash 3.2 seconds
    _stretch=${1:_at:256}
    _stretch=${_stretch//[$'\200'-$'\277']/} # what remains of a character is its first byte
    _n=$((_n + ${#_stretch}))
  done
  __mcp_reply=$_n
}

__mcp_no_args() { # WHO
  __mcp_called || { __mcp_need 13 && __mcp_sdk_warn "$1: no arguments were given; $__mcp_by_hand"; }
}

__mcp_args_raw() { __mcp_no_args mcp_args_raw && __mcp_raw MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$__mcp_none"; }
__mcp_meta_raw() { __mcp_raw MCP_TOOL_META_JSON MCP_TOOL_META_FILE "$__mcp_none"; }

__mcp_raw() { # INLINE FILE DEFAULT: the content of the variables of these names
  if [[ -f ${!2-} ]]; then
    cat <"${!2}"
  else
    __mcp_payload "$@"
  fi
}

__mcp_payload() { # INLINE FILE DEFAULT
  __mcp_reply=${!1-}
  if [[ -f ${!2-} ]]; then
    __mcp_reply=$(<"${!2}")
  elif [[ -z $__mcp_reply ]]; then
    __mcp_reply=$3
  fi
}

#
# == 8 Errors =========================================================================================================

__mcp_need 6

__mcp_result_error() { # ERROR
  local _error=${1-} _message='' _pattern='"message"[[:space:]]*:[[:space:]]*("([^"\]|\\.)*")'
  __mcp_alone mcp_result_error
  if ! __mcp_full; then
    [[ ! $_error =~ $_pattern ]] || _message=${BASH_REMATCH[1]}
    __mcp_plain "$_message" || __mcp_reply='"Unknown error"'
    __mcp_minimal_error "$__mcp_reply" "$_error"
  elif [[ -z $_error ]]; then
    __mcp_internal_error 'Unknown error (empty error object)'
  elif __mcp_plain "$_error" && __mcp_plain_message "$__mcp_reply"; then
    _message=$__mcp_reply
    __mcp_plain "$_error"
    __mcp_error_result "$_message" "$__mcp_reply"
  elif __mcp_ask error <<<"$_error"; then
    __mcp_reply=$__mcp_reply$__mcp_nl
  else
    __mcp_quote "$_error"
    _message='"Invalid error JSON passed to mcp_result_error"'
    __mcp_error_result "$_message" "{\"type\":\"internal_error\",\"message\":$_message,\"raw\":$__mcp_reply}"
  fi
}

__mcp_minimal_error() { # MESSAGE ERROR: the message as a JSON string, the error as text
  local _message=$1
  __mcp_quote "$2"
  __mcp_error_result "$_message" "{\"type\":\"internal_error\",\"message\":$_message,\"raw\":$__mcp_reply}"
}

# The message, as a JSON string, of a compact object of scalars that has a type and a message. rc 1 for any other.
__mcp_plain_message() { # OBJECT
  local _text=${1//"$__mcp_bsbs"/"$__mcp_stx"} _key _value _type='' IFS=\"
  _text=${_text//"$__mcp_bquot"/"$__mcp_etx"}
  __mcp_reply=''
  # shellcheck disable=SC2086
  set -- $_text
  [[ $1 == \{ ]] || return 1
  while (($# > 2)); do
    _key=$2
    case $3 in
      :) _value=\"$4\" && shift 2 ;;
      *[\[\{]*) return 1 ;;
      *) _value=${3#:} && _value=\"${_value%[,\}]}\" ;;
    esac
    shift 2
    case $_key=$_value in
      type=\"false\" | type=\"null\" | message=\"false\" | message=\"null\") return 1 ;; # or the strings, for once
      type=*) _type=$_value ;;
      message=*) __mcp_reply=$_value ;;
    esac
  done
  [[ -n $_type && -n $__mcp_reply ]] || return 1
  __mcp_reply=${__mcp_reply//"$__mcp_etx"/"$__mcp_bquot"}
  __mcp_reply=${__mcp_reply//"$__mcp_stx"/"$__mcp_bsbs"}
}

__mcp_error() { # [TYPE] [MESSAGE] [--hint TEXT] [--data JSON]
  local _type=${1:-internal_error} _message=${2:-Unknown error} _hint='' _data='' _object _text
  __mcp_alone mcp_error
  shift "$(($# > 2 ? 2 : $#))"
  while (($#)); do
    case $1 in
      --hint) _hint=${2-} && shift "$(($# > 1))" ;;
      --data) _data=${2-} && shift "$(($# > 1))" ;;
    esac
    shift
  done
  mcp_log_debug mcp_error "type=$_type: $_message"
  [[ -z $_hint ]] || mcp_log_warn mcp_error "type=$_type hint: $_message"

  __mcp_quote "$_type"
  _object="{\"type\":$__mcp_reply"
  __mcp_quote "$_message"
  _text=$__mcp_reply _object="$_object,\"message\":$__mcp_reply"
  if [[ -n $_hint ]]; then
    __mcp_quote "$_hint"
    _object="$_object,\"hint\":$__mcp_reply"
  fi
  if [[ -n $_data ]]; then
    if ! __mcp_full; then
      __mcp_reply=$_data
    elif ! __mcp_compact "$_data"; then
      __mcp_quote "$_data"
      __mcp_reply="{\"_invalid_json\":$__mcp_reply}"
    fi
    [[ $__mcp_reply == null ]] || _object="$_object,\"data\":$__mcp_reply"
  fi
  if __mcp_full; then
    __mcp_error_result "$_text" "$_object}"
  else
    __mcp_minimal_error "$_text" "$_object}"
  fi
}

#
# == 9 Strings that are hard to write =================================================================================

__mcp_control=$'[\001-\037\177]'
__mcp_stretch=4096 # the time that replacing takes grows with the square of the length, in Bash 3.2 with its cube
((BASH_VERSINFO[0] > 3)) || __mcp_stretch=256

__mcp_quote_hard() { # __mcp_reply, for the inside of a JSON string
  [[ -n ${LC_ALL-} && ${#__mcp_e_acute} -ne 1 ]] || local LC_ALL=C
  local _text=$__mcp_reply _at=0 _end _all=''
  if ((${#_text} > __mcp_large)) || ! __mcp_is_utf8 "$_text"; then
    if __mcp_full && __mcp_ask quote <<<"$_text"; then
      __mcp_reply=${__mcp_reply#\"}
      __mcp_reply=${__mcp_reply%\"}
      return 0
    fi
  fi
  while ((_at < ${#_text})); do
    _end=$((_at + __mcp_stretch))
    while ((_end < _at + __mcp_stretch + 4)) && [[ ${_text:_end:1} == [$'\200'-$'\277'] ]]; do
      _end=$((_end + 1)) # not within a character
    done
    __mcp_reply=${_text:_at:_end - _at}
    __mcp_is_utf8 "$__mcp_reply" || __mcp_mend_utf8 "$__mcp_reply"
    __mcp_quote_stretch
    _all=$_all$__mcp_reply _at=$_end
  done
  __mcp_reply=$_all
}

__mcp_quote_stretch() { # __mcp_reply, which is UTF-8
  local _text=$__mcp_reply _c _escape
  _text=${_text//"$__mcp_bs"/"$__mcp_bsbs"}
  _text=${_text//"$__mcp_quot"/"$__mcp_bquot"}
  _text=${_text//"$__mcp_nl"/"$__mcp_bn"}
  while [[ $_text == *$__mcp_control* ]]; do
    _c=${_text#"${_text%%$__mcp_control*}"}
    _c=${_c:0:1}
    case $_c in
      "$__mcp_tab") _escape=\\t ;;
      $'\r') _escape=\\r ;;
      $'\b') _escape=\\b ;;
      $'\f') _escape=\\f ;;
      *) printf -v _escape '\\u%04x' "'$_c" ;;
    esac
    _text=${_text//"$_c"/"$_escape"}
  done
  __mcp_reply=$_text
}

__mcp_mend_utf8() { # TEXT: with U+FFFD in place of each byte that is not UTF-8
  local _rest=$1 _sequence _n
  __mcp_reply=''
  while [[ -n $_rest ]]; do
    _n=${_rest%%[$'\200'-$'\377']*}
    _n=${#_n}
    if ((_n == 0)); then
      for _sequence in "${__mcp_utf8[@]}"; do
        for _n in 4 3 2 0; do [[ ${_rest:0:_n} != $_sequence ]] || break 2; done
      done
    fi
    if ((_n)); then
      __mcp_reply=$__mcp_reply${_rest:0:_n} _rest=${_rest:_n}
    else
      __mcp_reply=$__mcp_reply$'\357\277\275' _rest=${_rest:1}
    fi
  done
}

#
# == 10 Paths and roots ===============================================================================================

__mcp_on_windows() { case ${OSTYPE-} in msys* | cygwin* | win*) ;; *) return 1 ;; esac; }

# PATH made absolute, without . and .. and needless slashes. With PHYSICAL, rc 1 at the first link on the way, which is
# left in __mcp_link, and what follows it in __mcp_after.
__mcp_walk() { # PHYSICAL PATH
  local _physical=$1 _path=$2 IFS=/
  __mcp_reply=''
  if __mcp_on_windows && [[ $_path == [A-Za-z]:* ]]; then
    __mcp_upper "${_path:0:1}"
    __mcp_reply=$__mcp_reply${_path:1}
    return 0
  fi
  [[ $_path == /* ]] || _path=$PWD/$_path
  # shellcheck disable=SC2086 # a word for each component
  set -- $_path
  while (($#)); do
    case $1 in
      '' | .) ;;
      ..) __mcp_reply=${__mcp_reply%/*} ;;
      *)
        __mcp_reply=$__mcp_reply/$1
        if [[ -n $_physical && -L $__mcp_reply ]]; then
          shift
          __mcp_link=$__mcp_reply __mcp_after=$*
          return 1
        fi
        ;;
    esac
    shift
  done
  if __mcp_on_windows && [[ $__mcp_reply/ == /[a-z]/* ]]; then # a drive
    _path=${__mcp_reply:2}
    __mcp_upper "${__mcp_reply:1:1}"
    __mcp_reply=/$__mcp_reply$_path
  fi
  [[ -n $__mcp_reply ]] || __mcp_reply=/
}

__mcp_upper() { # WORD
  local _lower=abcdefghijklmnopqrstuvwxyz _upper=ABCDEFGHIJKLMNOPQRSTUVWXYZ _word=$1 _at
  __mcp_reply=''
  while [[ -n $_word ]]; do
    _at=${_lower%%"${_word:0:1}"*}
    if ((${#_at} < 26)); then
      __mcp_reply=$__mcp_reply${_upper:${#_at}:1}
    else
      __mcp_reply=$__mcp_reply${_word:0:1}
    fi
    _word=${_word:1}
  done
}

__mcp_path_normalize() { # [--physical|--logical] [--] [PATH]
  local _physical=1 _how=builtin
  while :; do
    case ${1-} in
      --physical) _physical=1 ;;
      --logical) _physical='' ;;
      --) shift && break ;;
      *) break ;;
    esac
    shift
  done
  if ! __mcp_walk "$_physical" "${1-}"; then
    _how=program
    __mcp_ask path "${1-}" || __mcp_walk '' "${1-}"
  fi
  [[ ${MCP_PATH_DEBUG-} != 1 ]] || printf 'mcp_path_normalize: %s: %s -> %s\n' "$_how" "${1-}" "$__mcp_reply" >&2
}

__mcp_path_collapse() { __mcp_walk '' "${1-}"; } # PATH

# PATH, physical, into __mcp_reply. rc 1 when it is in none of the roots.
__mcp_in_roots() { # PATH
  local _path=$1 _root _link='' _physical IFS=$__mcp_nl
  # shellcheck disable=SC2086
  set -- ${MCP_ROOTS_PATHS-}
  (($#)) || return 1
  if __mcp_walk physical "$_path"; then
    _physical=$__mcp_reply
    for _root; do
      __mcp_walk physical "$_root" || { _link=1 && continue; }
      if [[ $__mcp_reply == / || $_physical == "$__mcp_reply" || $_physical == "$__mcp_reply"/* ]]; then
        __mcp_reply=$_physical
        return 0
      fi
    done
    [[ -n $_link ]] || return 1
  fi
  __mcp_ask path "$_path" "$@"
}

__mcp_roots_contains() { # PATH
  local _rc=0
  __mcp_in_roots "${1-}" || _rc=1
  __mcp_reply=''
  return "$_rc"
}

__mcp_require_path() { # POINTER [--default-to-single-root] [--allow-empty]
  local _pointer=${1-} _single='' _empty=''
  if [[ -z $_pointer ]]; then
    __mcp_reject 'mcp_require_path: argument pointer is required'
    return
  fi
  while (($# > 1)); do
    case $2 in
      --default-to-single-root) _single=1 ;;
      --allow-empty) _empty=1 ;;
      *) break ;;
    esac
    shift
  done
  __mcp_need 7
  __mcp_query ARGS "$_pointer" || __mcp_kind=-
  if __mcp_absent; then
    if [[ -n $_single && ${MCP_ROOTS_COUNT:-0} == 1 ]]; then
      __mcp_reply=${MCP_ROOTS_PATHS-}
    elif [[ -n $_single ]]; then
      __mcp_reject "$_pointer is required when zero or multiple roots are configured"
    elif [[ -n $_empty ]]; then
      __mcp_reply=''
    else
      __mcp_reply='' && __mcp_required "$_pointer"
    fi
    [[ -n $__mcp_reply ]] || return 0
  fi
  if [[ -z ${MCP_ROOTS_PATHS-} && ${MCP_ROOTS_COUNT:-0} == 0 ]]; then
    __mcp_path_normalize -- "$__mcp_reply"
  else
    __mcp_in_roots "$__mcp_reply" || __mcp_reject "$_pointer is outside configured MCP roots"
  fi
}

__mcp_reject() { # MESSAGE
  __mcp_reply='' __mcp_failure=$1
}

#
# == 11 Configuration =================================================================================================

__mcp_need 7

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
  __mcp_ask config "${#_defaults}" "$_example" "$_file" "$_env" <<<"$_defaults$_value"
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

# Without a JSON tool the last source that looks like JSON stands alone.
__mcp_config_minimal() {
  local _path _text
  [[ $_defaults == "$__mcp_none" ]] || _rc=0
  MCP_CONFIG_JSON=$_defaults
  [[ ! -r $_value || ! -f $_value ]] || _value=$(<"$_value")
  for _path in "$_example" "$_file"; do
    _text=''
    [[ ! -r $_path || ! -f $_path ]] || _text=$(<"$_path")
    case $_text in [\{\[]*) _rc=0 MCP_CONFIG_JSON=$_text ;; esac
  done
  case $_value in [\{\[]*) _rc=0 MCP_CONFIG_JSON=$_value ;; esac
  export MCP_CONFIG_JSON
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
  else
    [[ $_json == "${__mcp_config_text-}" ]] && _json=$__mcp_config_json _table=$__mcp_config_table
    __mcp_lookup "$_table" "$_json" "$_path" || { (($? != 3)) || __mcp_hint mcp_config_get "$_path" && __mcp_kind=-; }
  fi
  [[ $__mcp_kind == [ze-] ]] || return 0
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

__mcp_config_find() { # JSON PATH: a scalar after the key, wherever that stands
  local _pattern="\"${2#.}\"[[:space:]]*:[[:space:]]*(\"([^\"\\]*)\"|-?[0-9][0-9.eE+-]*|true|false)"
  __mcp_kind=-
  case $2 in .[!A-Za-z_]* | .*[!A-Za-z0-9_]* | . | [!.]*) return 0 ;; esac
  [[ $1 =~ $_pattern ]] || return 0
  __mcp_kind=s
  case ${BASH_REMATCH[1]} in \"*) __mcp_reply=${BASH_REMATCH[2]} ;; *) __mcp_reply=${BASH_REMATCH[1]} ;; esac
}

#
# == 12 Elicitation ===================================================================================================

__mcp_need 5

__mcp_elicit() { # [--key NAME] MESSAGE SCHEMA [TIMEOUT] [MODE]
  __mcp_ask_user mcp_elicit "$@"
}

__mcp_elicit_url() { # [--key NAME] MESSAGE URL [TIMEOUT]
  __mcp_ask_user mcp_elicit_url "$@"
}

__mcp_ask_user() { # WHO [--key NAME] MESSAGE SCHEMA|URL [TIMEOUT] [MODE]
  local _who=$1 _key='' _request
  shift
  if [[ ${1-} == --key ]]; then
    case ${2-} in
      '' | *[!A-Za-z0-9_.-]*)
        __mcp_no_answer error "$_who: --key must be made of A-Z a-z 0-9 _ . -"
        return
        ;;
    esac
    _key=",\"key\":\"$2\""
    shift 2
  fi
  if [[ ${MCP_ELICIT_SUPPORTED-} != 1 ]]; then
    __mcp_called || { __mcp_need 13 && __mcp_sdk_warn "$_who: there is no client to ask; $__mcp_by_hand"; }
    __mcp_no_answer decline "$_who: Client does not support elicitation"
    return
  elif [[ -z ${MCP_ELICIT_REQUEST_FILE-} || -z ${MCP_ELICIT_RESPONSE_FILE-} ]]; then
    __mcp_no_answer error "$_who: Elicitation environment not configured"
    return
  elif [[ $_who == mcp_elicit && ${4-} == url ]]; then
    __mcp_no_answer error 'mcp_elicit: mode url is what mcp_elicit_url is for'
    return
  fi
  __mcp_quote "${1-}"
  _request="{\"message\":$__mcp_reply"
  if [[ $_who == mcp_elicit_url ]]; then
    __mcp_quote "${2-}"
    _request="$_request,\"url\":$__mcp_reply,\"mode\":\"url\"$_key}"
  else
    _request="$_request,\"schema\":${2:-$__mcp_none},\"mode\":\"form\"$_key}"
  fi
  __mcp_decimal "${3-}" || __mcp_decimal "${MCP_ELICIT_DEFAULT_TIMEOUT-}" || __mcp_reply=30
  __mcp_await_user "$_who" "$_request" "$__mcp_reply"
}

__mcp_no_answer() { # ACTION [MESSAGE]
  [[ -z ${2-} ]] || printf '%s\n' "$2" >&2
  __mcp_reply="{\"action\":\"$1\",\"content\":null}"
  return 1
}

__mcp_await_user() { # WHO REQUEST SECONDS
  local _request=$MCP_ELICIT_REQUEST_FILE _response=$MCP_ELICIT_RESPONSE_FILE _ticks=${3%%.*} _fraction=${3#*.}
  [[ $3 == *.* ]] || _fraction=0
  case $_ticks in ??????????*) _ticks=999999999 ;; esac
  _ticks=$((10#$_ticks * 10 + ${_fraction:0:1}))
  [[ ! -e $_response ]] || rm -f "$_response"
  if ! { printf '%s\n' "$2" >|"$_request.tmp.$$" && mv -f "$_request.tmp.$$" "$_request"; } 2>/dev/null; then
    __mcp_no_answer error "$1: Cannot write the request"
    return
  fi
  while [[ ! -e $_response ]]; do
    if ((_ticks-- <= 0)); then
      rm -f "$_request"
      __mcp_no_answer error "$1: Timeout waiting for user response"
      return
    fi
    sleep 0.1
    if mcp_is_cancelled; then
      rm -f "$_request"
      __mcp_no_answer cancel
      return
    fi
  done
  __mcp_reply=''
  IFS= read -r -d '' __mcp_reply <"$_response"
  __mcp_reply=${__mcp_reply%"$__mcp_nl"}
  rm -f "$_response"
}

__mcp_elicit_field() { # KIND [--key NAME] MESSAGE [WORD...]
  local _kind=$1 _message _field='"choice"' _list='' _schema _option
  local -a _asking
  _asking=(mcp_elicit)
  shift
  if [[ ${1-} == --key ]]; then
    _asking=(mcp_elicit --key "${2-}")
    shift "$(($# > 1 ? 2 : 1))"
  fi
  _message=${1-}
  shift "$(($# > 0))"
  case $_kind in
    string)
      __mcp_quote "${1:-value}"
      _field=$__mcp_reply _schema='{"type":"string"}'
      ;;
    confirm) _field='"confirmed"' _schema='{"type":"boolean"}' ;;
    *)
      if (($# == 0)); then
        __mcp_no_answer error "mcp_elicit_$_kind: at least one option is required"
        return
      fi
      for _option; do
        if [[ $_kind == titled_* ]]; then
          __mcp_quote "${_option%%:*}"
          _list="$_list,{\"const\":$__mcp_reply,\"title\":"
          __mcp_quote "${_option#*:}"
          _list="$_list$__mcp_reply}"
        else
          __mcp_quote "$_option"
          _list="$_list,$__mcp_reply"
        fi
      done
      case $_kind in
        choice) _schema="{\"type\":\"string\",\"enum\":[${_list#,}]}" ;;
        titled_choice) _schema="{\"type\":\"string\",\"oneOf\":[${_list#,}]}" ;;
        multi_choice) _field='"choices"' _schema="{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[${_list#,}]}}" ;;
        *) _field='"choices"' _schema="{\"type\":\"array\",\"items\":{\"oneOf\":[${_list#,}]}}" ;;
      esac
      ;;
  esac
  __mcp_ask_user "${_asking[@]}" "$_message" \
    "{\"type\":\"object\",\"properties\":{$_field:$_schema},\"required\":[$_field]}"
}

#
# == 13 More about JSON and results; wrong use ========================================================================

__mcp_need 6

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

__mcp_resources() { # for mcp_result_text_with_resource: its lists, as members of a JSON array, into _list
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
  if ((_m)) && __mcp_program; then __mcp_ask mime "${_unknown[@]}"; fi
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

# -- Members and elements that are more than strings ------------------------------------------------------------------

__mcp_json_typed_obj() { # [KEY TYPE VALUE]...
  local _all='' _value
  if (($# % 3)); then
    __mcp_misuse "mcp_json_typed_obj: expected KEY TYPE VALUE ..., got $# words"
    return
  fi
  while (($#)); do
    __mcp_typed "mcp_json_typed_obj: $1" "$2" "$3" || return
    _value=$__mcp_reply
    __mcp_quote "$1"
    _all=$_all,$__mcp_reply:$_value
    shift 3
  done
  __mcp_reply="{${_all#,}}"
}

__mcp_json_typed_arr() { # [TYPE VALUE]...
  local _all='' _n=0
  if (($# % 2)); then
    __mcp_misuse "mcp_json_typed_arr: expected TYPE VALUE ..., got $# words"
    return
  fi
  while (($#)); do
    __mcp_typed "mcp_json_typed_arr: value $((++_n))" "$1" "$2" || return
    _all=$_all,$__mcp_reply
    shift 2
  done
  __mcp_reply="[${_all#,}]"
}

__mcp_typed() { # WHERE TYPE VALUE
  local _value=$3 _is="'${3:0:60}' is" _rc=0
  if [[ $2 == string ]]; then
    __mcp_quote "$3"
    return
  fi
  if [[ $2 != json ]]; then # wc, for one, puts blanks around numbers
    _value=${_value#"${_value%%[!$__mcp_blank]*}"}
    _value=${_value%"${_value##*[!$__mcp_blank]}"}
  fi
  __mcp_reply=$_value
  case $2 in
    number) __mcp_is_number "$_value" || __mcp_misuse "$1: $_is not a number" ;;
    integer) [[ $_value != *[.Ee]* ]] && __mcp_is_number "$_value" || __mcp_misuse "$1: $_is not an integer" ;;
    boolean) [[ $_value == true || $_value == false ]] || __mcp_misuse "$1: $_is neither true nor false" ;;
    json)
      __mcp_compact "$_value" || _rc=$?
      ((_rc != 1)) || __mcp_misuse "$1: $_is not one JSON value"
      ;;
    *) __mcp_misuse "$1: '$2' is not a type; there are string, number, integer, boolean, json" ;;
  esac
}

__mcp_misuse() { # MESSAGE: what the tool, not its caller, did wrong
  __mcp_reply='' __mcp_failure=$1 __mcp_refusal=__mcp_refuse_misuse
  return 1
}

__mcp_refuse_misuse() { # MESSAGE
  __mcp_refusal=mcp_fail_invalid_args
  mcp_fail -32603 "$1"
}

# -- Images and sounds ------------------------------------------------------------------------------------------------

# The data never come into Bash, which would take a long time over them and knows no NUL.
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
    __mcp_need 18
    __mcp_stand_in media "$_kind" "$_limit" "$_file" ${_type:+"$_type"}
  fi
}

__mcp_json_truncate() { # JSON [MAX_BYTES] [--array-path PATH]
  local _json='' _max='' _path='' _with_path='' _n=0
  while (($#)); do
    if [[ $1 == --array-path ]]; then
      _with_path=1
      case ${2-} in '' | --*) ;; *) _path=$2 && shift ;; esac
    else
      case $((_n++)) in 0) _json=$1 ;; 1) _max=$1 ;; esac
    fi
    shift
  done
  __mcp_limit "$_max" MCPBASH_MAX_TOOL_OUTPUT_SIZE 10485760
  _max=$__mcp_reply
  if ! __mcp_full; then
    __mcp_reply="{\"result\":$_json,\"truncated\":false,\"_warning\":\"truncation unavailable in minimal mode\"}"
  elif [[ -n $_with_path && -z $_path ]]; then
    __mcp_path_error '--array-path requires a value'
  elif [[ -n $_with_path && ! $_path =~ $__mcp_path_syntax ]]; then
    __mcp_path_error "Invalid path syntax: $_path (must be .key or .key.nested format)"
  elif [[ -n $_with_path ]]; then
    __mcp_ask truncate "$_max" "$_path" <<<"$_json"
  elif __mcp_plain "$_json" && ((${#__mcp_reply} <= _max)); then
    __mcp_reply="{\"result\":$__mcp_reply,\"truncated\":false}"
  else
    __mcp_ask truncate "$_max" <<<"$_json"
  fi
  __mcp_reply=$__mcp_reply$__mcp_nl
}

__mcp_path_syntax='^(\.[A-Za-z_][A-Za-z0-9_]*)+$'

__mcp_path_error() { # MESSAGE
  __mcp_quote "$1"
  __mcp_reply="{\"result\":null,\"truncated\":false,\"error\":{\"type\":\"invalid_path_syntax\",\"message\":$__mcp_reply}}"
}

__mcp_extract_cli_error() { # STDOUT STDERR EXIT_CODE
  if [[ ${1-} == *\{* ]] && __mcp_full && __mcp_ask cli-error <<<"$1" && [[ -n $__mcp_reply ]]; then
    return 0
  fi
  __mcp_reply=${2-}
  [[ -n $__mcp_reply ]] || __mcp_reply="CLI exited with code ${3-}"
}

__mcp_by_hand='start the script with mcp-runtool NAME --args JSON'

__mcp_no_json() { # TEXT
  local _shown=${1:0:100}
  printf 'mcp_emit_json: not one JSON value, so the client gets text; mcp_json_typed_obj writes JSON whatever the values hold: %s\n' \
    "${_shown//[$__mcp_blank]/ }" >&2
}

__mcp_not_alone() { # WHO
  printf '%s: %s has printed a result before; the client gets both as one text, and no error\n' "$1" "$__mcp_said" >&2
}

__mcp_obj_odd() { # NUMBER
  printf 'mcp_json_obj: expected even number of arguments (key value ...), got %s\n' "$1" >&2
}

__mcp_into_name() {
  printf 'mcp_into: invalid variable name\n' >&2
  return 2
}

__mcp_into_function() { # FUNCTION
  printf 'mcp_into: %s gives no answer\n' "${1:-nothing}" >&2
  return 2
}

#
# == 14 Retrying, running with progress ===============================================================================

__mcp_need 2 5

__mcp_with_retry() { # MAX BASE_DELAY [--] COMMAND...
  local __mcp_max=${1-} __mcp_attempt=1 __mcp_delay __mcp_rc
  case $#:$__mcp_max in
    [01]:* | *: | *:*[!0-9]*)
      printf 'mcp_with_retry: max_attempts must be a positive integer\n' >&2
      return 1
      ;;
  esac
  if ! __mcp_microseconds "$2"; then
    printf 'mcp_with_retry: base_delay must be a number\n' >&2
    return 1
  fi
  __mcp_delay=$__mcp_reply
  __mcp_uint "$__mcp_max"
  __mcp_max=$__mcp_reply
  ((${#__mcp_max} < 10)) || __mcp_max=999999999
  shift 2
  [[ ${1-} != -- ]] || shift
  (($#)) || return 0
  while :; do
    __mcp_rc=0
    "$@" || __mcp_rc=$?
    if ((__mcp_rc < 3 || __mcp_attempt >= __mcp_max)); then return "$__mcp_rc"; fi
    __mcp_jitter "$__mcp_delay"
    mcp_log_debug retry "Attempt $__mcp_attempt/$__mcp_max failed (exit $__mcp_rc), retrying in ${__mcp_seconds}s"
    __mcp_pause || return "$__mcp_rc"
    __mcp_delay=$((__mcp_delay * 2)) __mcp_attempt=$((__mcp_attempt + 1))
  done
}

__mcp_microseconds() { # SECONDS: rc 1 when that is no number
  __mcp_decimal "${1%.}" || return 1
  local _integer=${__mcp_reply%%.*} _fraction=${__mcp_reply#*.}
  [[ $__mcp_reply == *.* ]] || _fraction=''
  _fraction=${_fraction}000000
  ((${#_integer} < 8)) || _integer=9999999
  __mcp_reply=$((_integer * 1000000 + 10#${_fraction:0:6}))
}

__mcp_jitter() { # MICROSECONDS: that, or up to half as much again, into __mcp_wait, and as seconds into __mcp_seconds
  # shellcheck disable=SC2017 # the other order could overflow
  __mcp_wait=$(($1 + $1 / 2 * RANDOM / 32768))
  __mcp_as_seconds "$__mcp_wait"
}

__mcp_as_seconds() { # MICROSECONDS
  printf -v __mcp_seconds '%d.%06d' "$(($1 / 1000000))" "$(($1 % 1000000))"
}

__mcp_pause() { # for __mcp_wait, which jitter set; rc 1 when the request was cancelled meanwhile
  local _left=$__mcp_wait _slice=$__mcp_wait
  [[ -z ${MCP_TOOL_CANCELLATION_FILE-} ]] || _slice=200000
  while ((_left > 0)); do
    ! mcp_is_cancelled || return 1
    __mcp_as_seconds "$((_left < _slice ? _left : _slice))"
    sleep "$__mcp_seconds"
    _left=$((_left - _slice))
  done
  ! mcp_is_cancelled
}

__mcp_new_file() { # a private, empty temporary file, into __mcp_reply
  local _n
  for _n in 1 2 3 4 5 6 7 8 9; do
    __mcp_reply=${TMPDIR:-/tmp}/mcp-sdk.$$.$RANDOM$RANDOM
    ! (umask 077 && set -C && : >"$__mcp_reply") 2>/dev/null || return 0
  done
  __mcp_reply=''
  return 1
}

__mcp_run_with_progress() { # --pattern ERE [OPTION...] [--] COMMAND...
  local __mcp_pattern='' __mcp_extract=json __mcp_total='' __mcp_interval=0.2 __mcp_quiet='' __mcp_dry='' __mcp_code=143
  local __mcp_stdout_to='' __mcp_others_to='' __mcp_follow='' __mcp_stdout='' __mcp_stderr='' __mcp_line __mcp_mark
  local __mcp_partial='' __mcp_stderr_partial='' __mcp_posix=''
  while :; do
    case ${1-} in
      --pattern) __mcp_pattern=${2-} ;;
      --extract) __mcp_extract=${2-} ;;
      --total) __mcp_total=${2-} ;;
      --interval) __mcp_interval=${2-} ;;
      --stdout) __mcp_stdout_to=${2-} ;;
      --stderr-file) __mcp_others_to=${2-} ;;
      --progress-file) __mcp_follow=${2-} ;;
      --quiet | --dry-run)
        if [[ $1 == --quiet ]]; then __mcp_quiet=1; else __mcp_dry=1; fi
        shift
        continue
        ;;
      --) shift && break ;;
      *) break ;;
    esac
    shift "$(($# > 1 ? 2 : 1))"
  done
  __mcp_check_options || return 1
  (($#)) || return 0

  if [[ -n $__mcp_others_to ]] && ! { true >|"$__mcp_others_to"; } 2>/dev/null; then
    mcp_log_warn mcp_run_with_progress "cannot write to stderr-file: $__mcp_others_to"
    __mcp_others_to=''
  fi
  if [[ -n $__mcp_follow ]]; then
    [[ ! -s $__mcp_follow ]] || mcp_log_warn mcp_run_with_progress "truncating non-empty progress file: $__mcp_follow"
    { true >|"$__mcp_follow"; } 2>/dev/null
  fi
  if ! { __mcp_new_file && __mcp_stdout=$__mcp_reply && __mcp_new_file && __mcp_stderr=$__mcp_reply; }; then
    rm -f "$__mcp_stdout"
    printf 'mcp_run_with_progress: cannot create a temporary file in %s\n' "${TMPDIR:-/tmp}" >&2
    return 1
  fi

  # The last line that comes through the pipe is the mark with the exit code, so nothing waits for processes that the
  # command left behind with the pipe open. When a file is followed, the lines before are empty: time to look at it.
  __mcp_mark="mcp-end-$$-$RANDOM$RANDOM="
  case $SHELLOPTS in *posix*) set +o posix && __mcp_posix=1 ;; esac
  while IFS= read -r __mcp_line; do
    if [[ -n $__mcp_follow ]]; then
      __mcp_follow_files
      case $__mcp_line in "$__mcp_mark"*) __mcp_code=${__mcp_line#"$__mcp_mark"} && break ;; esac
    else
      case $__mcp_line in
        *"$__mcp_mark"[0-9]*)
          __mcp_code=${__mcp_line##*"$__mcp_mark"}
          __mcp_line=${__mcp_line%"$__mcp_mark"*}
          [[ -z $__mcp_line ]] || __mcp_progress_line "$__mcp_line"
          break
          ;;
        *) __mcp_progress_line "$__mcp_line" ;;
      esac
    fi
  done < <(__mcp_supervise "$@") 8<"${__mcp_follow:-/dev/null}" 9<"$__mcp_stderr"
  [[ -z $__mcp_posix ]] || set -o posix
  if [[ -n $__mcp_follow ]]; then
    [[ -z $__mcp_partial ]] || __mcp_progress_line "$__mcp_partial"
    [[ -z $__mcp_stderr_partial ]] || __mcp_stderr_line "$__mcp_stderr_partial"
  fi

  if mcp_is_cancelled; then
    __mcp_code=130
  elif [[ -n $__mcp_stdout_to ]]; then
    cat "$__mcp_stdout" >|"$__mcp_stdout_to"
  else
    cat "$__mcp_stdout"
  fi
  rm -f "$__mcp_stdout" "$__mcp_stderr"
  return "$__mcp_code"
}

__mcp_check_options() {
  local _message=''
  if [[ -z $__mcp_pattern ]]; then
    _message='--pattern is required'
  else
    case $__mcp_extract in
      json | match1 | ratio) ;;
      *) _message="unknown extract mode '$__mcp_extract'" ;;
    esac
  fi
  if [[ -z $_message && -n $__mcp_total ]]; then
    case $__mcp_total in *[!0-9]*) _message='--total must be positive integer' ;; *[1-9]*) ;; *) _message='--total must be positive integer' ;; esac
  fi
  if [[ -z $_message ]]; then
    if ! __mcp_decimal "$__mcp_interval" || [[ $__mcp_reply != *[1-9]* ]]; then
      _message='--interval must be a positive number'
    elif [[ $__mcp_extract == json ]] && ! __mcp_full; then
      _message='MCPBASH_JSON_TOOL_BIN required for json extraction mode'
    fi
  fi
  [[ -n $_message ]] || return 0
  printf 'mcp_run_with_progress: %s\n' "$_message" >&2
  return 1
}

__mcp_supervise() { # COMMAND...: runs it, and ends with the mark
  local __mcp_pid __mcp_watcher='' __mcp_rc=0
  [[ -z $__mcp_posix ]] || set -o posix
  if [[ -n $__mcp_follow ]]; then
    "$@" >|"$__mcp_stdout" 2>|"$__mcp_stderr" &
    __mcp_pid=$!
    __mcp_watch "$__mcp_pid" </dev/null 2>/dev/null &
    __mcp_watcher=$!
  else
    # shellcheck disable=SC2069 # stderr into the pipe, stdout into the file
    "$@" 2>&1 >|"$__mcp_stdout" &
    __mcp_pid=$!
    if [[ -n ${MCP_TOOL_CANCELLATION_FILE-} ]]; then
      __mcp_watch "$__mcp_pid" </dev/null >/dev/null 2>&1 &
      __mcp_watcher=$!
    fi
  fi
  # Not before there are children: a child that has just been made could take its signal for its parent's.
  trap 'rm -f "$__mcp_stdout" "$__mcp_stderr"; exit 143' TERM INT HUP
  { wait "$__mcp_pid"; } 2>/dev/null || __mcp_rc=$?
  [[ -z $__mcp_watcher ]] || { kill -KILL "$__mcp_watcher" && wait "$__mcp_watcher"; } 2>/dev/null || :
  printf '%s%s\n' "$__mcp_mark" "$__mcp_rc"
}

__mcp_watch() { # PID
  while sleep "$__mcp_interval"; do
    [[ -z $__mcp_follow ]] || printf '\n'
    if mcp_is_cancelled; then
      kill -TERM "$1"
      sleep 2
      kill -KILL "$1"
      return 0
    fi
  done
}

__mcp_follow_files() { # takes the whole lines that have come
  local _line
  while IFS= read -r _line <&8; do
    __mcp_progress_line "$__mcp_partial$_line"
    __mcp_partial=''
  done
  __mcp_partial=$__mcp_partial$_line
  while IFS= read -r _line <&9; do
    __mcp_stderr_line "$__mcp_stderr_partial$_line"
    __mcp_stderr_partial=''
  done
  __mcp_stderr_partial=$__mcp_stderr_partial$_line
}

__mcp_stderr_line() { # LINE
  [[ -n $__mcp_quiet ]] || mcp_log_debug mcp_run_with_progress "subprocess stderr: $1"
}

__mcp_progress_line() { # LINE
  local _percent='' _message=$1
  if ! [[ $1 =~ $__mcp_pattern ]]; then
    [[ -z $__mcp_others_to ]] || printf '%s\n' "$1" >>"$__mcp_others_to"
    [[ -n $__mcp_quiet ]] || mcp_log_debug mcp_run_with_progress "subprocess output: $1"
    return 0
  fi
  case $__mcp_extract in
    json) __mcp_progress_json "$1" ;;
    match1) __mcp_percentage "${BASH_REMATCH[1]-}" "${__mcp_total:-100}" ;;
    ratio) __mcp_percentage "${BASH_REMATCH[1]-}" "${BASH_REMATCH[2]-}" ;;
  esac
  if [[ -n $_percent && -n $__mcp_dry ]]; then
    __mcp_quote "$_message"
    printf '{"progress":%s,"message":%s}\n' "$_percent" "$__mcp_reply" >&2
  elif [[ -n $_percent ]]; then
    mcp_progress "$_percent" "$_message"
  fi
  # Even without a notification it is a sign of life.
  if [[ -z $__mcp_dry && -n ${MCP_PROGRESS_STREAM-} && (-z $_percent || -z ${MCP_PROGRESS_TOKEN-}) ]]; then
    touch -c "$MCP_PROGRESS_STREAM" 2>/dev/null
  fi
  return 0
}

__mcp_percentage() { # PART WHOLE: into the caller's _percent, if both are numbers
  __mcp_microseconds "$1" || return 0
  local _part=$__mcp_reply
  __mcp_microseconds "$2" || return 0
  ((__mcp_reply > 0)) || return 0
  _percent=$((_part * 100 / __mcp_reply))
  ((_percent <= 100)) || _percent=100
}

__mcp_progress_json() { # LINE: into the caller's _percent and _message
  local _rc=0
  __mcp_ask progress <<<"$1" || _rc=$?
  case $_rc in
    0) # PERCENT NEWLINE MESSAGE, and a dot so that the message keeps its newlines
      _percent=${__mcp_reply%%"$__mcp_nl"*}
      _message=${__mcp_reply#*"$__mcp_nl"}
      _message=${_message%.}
      ;;
    1) ;;
    *) mcp_log_debug mcp_run_with_progress "jq parse error on line: ${1:0:100}" ;;
  esac
}

#
# == 15 Downloads =====================================================================================================

__mcp_need 4 9 14

__mcp_download_safe() { # --url URL --out PATH [OPTION...]
  local __mcp_error='' __mcp_message='' __mcp_location='' __mcp_out='' __mcp_bytes=0
  __mcp_download "$@"
  if [[ -z $__mcp_error ]]; then
    __mcp_quote "$__mcp_out"
    printf '{"success":true,"bytes":%s,"path":%s}' "$__mcp_bytes" "$__mcp_reply"
    return 0
  fi
  printf '{"success":false,"error":{"type":"%s"' "$__mcp_error"
  if [[ -n $__mcp_location ]]; then
    __mcp_quote "$__mcp_location"
    printf ',"location":%s' "$__mcp_reply"
  fi
  __mcp_quote "$__mcp_message"
  printf ',"message":%s}}' "$__mcp_reply"
}

__mcp_download_safe_or_fail() { # --url URL --out PATH [OPTION...]
  local __mcp_error='' __mcp_message='' __mcp_location='' __mcp_out='' __mcp_bytes=0
  __mcp_download "$@"
  if [[ -z $__mcp_error ]]; then
    __mcp_out=${__mcp_out//"$__mcp_nl"/ }
    __mcp_out=${__mcp_out//"$__mcp_tab"/ }
    printf %s "$__mcp_out"
  elif [[ ${MCPBASH_MODE-} == minimal ]]; then
    mcp_fail_invalid_args 'Download failed (minimal mode - cannot parse error details)'
  else
    mcp_fail_invalid_args "Download failed ($__mcp_error): $__mcp_message"
  fi
}

__mcp_download_failed() { # TYPE MESSAGE
  __mcp_error=$1 __mcp_message=$2
  return 1
}

__mcp_download() { # --url URL --out PATH [OPTION...]: what became of it is left in the caller's variables
  local _url='' _allow='' _deny='' _max='' _timeout='' _agent='' _retry=1 _delay=1.0 _new=''
  local -a _provider
  while (($#)); do
    case $1 in
      --url | --out | --allow | --deny | --max-bytes | --timeout | --user-agent | --retry | --retries | --retry-delay)
        (($# > 1)) || { __mcp_download_failed invalid_params "$1 requires a value" || return; }
        ;;
      -*) __mcp_download_failed invalid_params "Unknown option: $1" || return ;;
      *) __mcp_download_failed invalid_params "Unexpected argument: $1" || return ;;
    esac
    case $1 in
      --url) _url=$2 ;;
      --out) __mcp_out=$2 ;;
      --allow) _allow=$_allow,$2 ;;
      --deny) _deny=$_deny,$2 ;;
      --max-bytes) _max=$2 ;;
      --timeout) _timeout=$2 ;;
      --user-agent) _agent=$2 ;;
      --retry-delay) _delay=$2 ;;
      *) _retry=$2 ;;
    esac
    shift 2
  done
  __mcp_download_check && __mcp_find_provider || return
  if [[ -z $_agent ]]; then
    IFS= read -r _agent 2>/dev/null <"${MCPBASH_HOME:-$__mcp_dir/..}/VERSION" || [[ -n $_agent ]] || _agent=unknown
    _agent="mcpbash/$_agent (tool-sdk)"
  fi
  __mcp_new_file || { __mcp_download_failed write_error 'Could not create temp file' || return; }
  local _body=$__mcp_reply
  __mcp_download_attempts
  if [[ -z $__mcp_error ]]; then
    [[ -e $__mcp_out ]] || _new=1
    if { cat "$_body" >|"$__mcp_out"; } 2>/dev/null; then
      __mcp_bytes=$(($(wc -c <"$_body")))
    else
      [[ -z $_new ]] || rm -f "$__mcp_out" 2>/dev/null
      __mcp_download_failed write_error 'Could not write to output path'
    fi
  fi
  rm -f "$_body"
}

__mcp_positive() { case $1 in *[!0123456789]*) return 1 ;; *[123456789]*) ;; *) return 1 ;; esac; }

__mcp_download_check() {
  if [[ -z $_url ]]; then
    __mcp_download_failed invalid_url '--url is required'
  elif [[ -z $__mcp_out ]]; then
    __mcp_download_failed invalid_params '--out is required'
  elif [[ $_url != https://* ]]; then
    __mcp_download_failed invalid_url 'URL must use https://'
  elif [[ -n $_max ]] && ! __mcp_positive "$_max"; then
    __mcp_download_failed invalid_params '--max-bytes must be a positive integer'
  elif [[ -n $_timeout ]] && ! __mcp_positive "$_timeout"; then
    __mcp_download_failed invalid_params '--timeout must be a positive integer'
  elif [[ -n $_timeout ]] && ! __mcp_le "$_timeout" 60; then
    __mcp_download_failed invalid_params '--timeout cannot exceed 60 seconds'
  elif ! __mcp_positive "$_retry"; then
    __mcp_download_failed invalid_params '--retry must be a positive integer'
  elif ! __mcp_microseconds "$_delay"; then
    __mcp_download_failed invalid_params '--retry-delay must be a number (e.g., 0.5, 1, 2.0)'
  else
    _delay=$__mcp_reply
  fi
}

__mcp_find_provider() { # into _provider: the project's script, or our program
  local _script
  for _script in "${MCPBASH_HOME:+$MCPBASH_HOME/providers/https.sh}" "$__mcp_dir/../providers/https.sh"; do
    if [[ -f $_script ]]; then
      _provider=("${BASH:-bash}" "$_script")
      return
    fi
  done
  __mcp_program || { __mcp_download_failed provider_unavailable 'HTTPS provider not found' || return; }
  _provider=("$__mcp_bin" --helper provider https)
}

__mcp_download_attempts() {
  local _attempt=1 _stderr _rc _line
  while :; do
    _rc=0
    _stderr=$(
      exec 2>&1 >|"$_body" </dev/null
      export MCPBASH_HTTPS_USER_AGENT=$_agent
      [[ -z $_allow ]] || export MCPBASH_HTTPS_ALLOW_HOSTS=${_allow#,}
      [[ -z $_deny ]] || export MCPBASH_HTTPS_DENY_HOSTS=${_deny#,}
      [[ -z $_max ]] || export MCPBASH_HTTPS_MAX_BYTES=$_max
      [[ -z $_timeout ]] || export MCPBASH_HTTPS_TIMEOUT=$_timeout
      exec "${_provider[@]}" "$_url"
    ) || _rc=$?
    case $_rc in 0 | 4 | 6 | 7) break ;; esac
    __mcp_le "$_retry" "$_attempt" && break
    __mcp_jitter "$_delay"
    __mcp_pause || break
    _delay=$((_delay * 2)) _attempt=$((_attempt + 1))
  done
  if ((_rc == 7)); then
    while IFS= read -r _line; do
      case $_line in
        redirect:*)
          _line=${_line#redirect:}
          __mcp_location=${_line//$'\r'/}
          break
          ;;
      esac
    done <<<"$_stderr"
  fi
  __mcp_clean "$_stderr"
  _stderr=${__mcp_reply:+: $__mcp_reply}
  case $_rc in
    0) ;;
    4) __mcp_download_failed host_blocked 'Host blocked by policy' ;;
    5) __mcp_download_failed network_error "Network request failed$_stderr" ;;
    6) __mcp_download_failed size_exceeded 'Response exceeds max-bytes limit' ;;
    7)
      __mcp_message='URL redirects but location unavailable'
      [[ -z $__mcp_location ]] || __mcp_message='URL redirects - use canonical URL or add target to allowlist'
      __mcp_error=redirect
      ;;
    1 | 2 | 126 | 127)
      __mcp_message="Provider failed (exit $_rc)$_stderr"
      [[ -n $_stderr ]] || __mcp_message="Provider failed with exit code $_rc"
      __mcp_error=provider_error
      ;;
    *)
      __mcp_message="Unexpected error (exit $_rc)$_stderr"
      [[ -n $_stderr ]] || __mcp_message="Unexpected error with exit code $_rc"
      __mcp_error=provider_error
      ;;
  esac
}

__mcp_clean() { # TEXT: its first 200 bytes, on one line
  [[ -n ${LC_ALL-} && ${#__mcp_e_acute} -ne 1 ]] || local LC_ALL=C
  __mcp_reply=${1:0:200}
  __mcp_reply=${__mcp_reply//[$'\t\n\r']/ }
  __mcp_reply=${__mcp_reply//$__mcp_control/}
}

#
# == 16 Finding programs ==============================================================================================

__mcp_need 10

__mcp_detect_cli() { # NAME [HINT]
  local _name=${1-} _variable _in
  __mcp_upper "${_name//-/_}"
  _variable=${__mcp_reply}_CLI
  case $_variable in
    [0123456789]* | *[!$__mcp_word]*) ;;
    *)
      if [[ -n ${!_variable-} ]]; then
        printf '%s\n' "${!_variable}"
        return 0
      fi
      ;;
  esac
  for _in in .pyenv/shims .asdf/shims .local/share/mise/shims .rbenv/shims .goenv/shims .local/bin .cargo/bin \
    .volta/bin .local/share/fnm/aliases/default/bin /opt/homebrew/bin /usr/local/bin /usr/bin /bin; do
    if [[ $_in != /* ]]; then
      [[ -n ${HOME-} ]] || continue
      _in=$HOME/$_in
    fi
    if [[ -n $_name && -f $_in/$_name && -x $_in/$_name ]]; then
      printf '%s\n' "$_in/$_name"
      return 0
    fi
  done
  while IFS= read -r _in; do
    if [[ -n $_in && -n $_name && -f $_in/$_name && -x $_in/$_name ]]; then
      printf '%s\n' "$_in/$_name"
      return 0
    fi
  done <<<"$(compgen -G "${HOME-}/.nvm/versions/node/*/bin")"
  if [[ -n $_name ]] && command -v -- "$_name" 2>/dev/null; then return 0; fi
  printf 'ERROR: %s not found.%s Or set %s=/path/to/%s\n' "$_name" "${2:+ Install: $2}" "$_variable" "$_name" >&2
  return 1
}

#
# == 17 Asking the client for anything ================================================================================

__mcp_need 5 6

# The queue: a line KEY TAB METHOD TAB PARAMS for each request. It is a file, because mcp_input_wait runs in $(...) and
# has to empty it; where there is no server, a variable.

__mcp_input_dir() { [[ -n ${MCP_INPUT_DIR-} && -d $MCP_INPUT_DIR ]]; }

__mcp_queued() {
  __mcp_reply=${__mcp_queue-}
  if __mcp_input_dir; then
    __mcp_reply=''
    [[ ! -f $MCP_INPUT_DIR/queue ]] || IFS= read -r -d '' __mcp_reply <"$MCP_INPUT_DIR/queue" || :
  fi
}

__mcp_input_request() { # KEY METHOD [PARAMS]
  local _key=${1-} _method=${2-} _line _all='' _new=1
  __mcp_input_key mcp_input_request "$_key" || return
  case $_method in
    elicitation/create | sampling/createMessage | roots/list) ;;
    *)
      __mcp_input_wrong 'mcp_input_request: METHOD must be elicitation/create, sampling/createMessage or roots/list'
      return
      ;;
  esac
  __mcp_input_object mcp_input_request PARAMS "${3:-$__mcp_none}" || return
  _new="$_key$__mcp_tab$_method$__mcp_tab$__mcp_reply$__mcp_nl"
  __mcp_queued
  while IFS= read -r _line; do
    case $_line in
      '') continue ;;
      "$_key$__mcp_tab"*) _all=$_all$_new _new='' ;; # in the place of the one before
      *) _all=$_all$_line$__mcp_nl ;;
    esac
  done <<<"$__mcp_reply"
  __mcp_reply=''
  if __mcp_input_dir; then
    printf %s "$_all$_new" >|"$MCP_INPUT_DIR/queue"
  else
    __mcp_queue=$_all$_new
  fi
}

__mcp_input_wrong() { # MESSAGE
  printf '%s\n' "$1" >&2
  __mcp_reply=''
  return 2
}

__mcp_input_key() { # WHO KEY
  if [[ -z $2 || $2 == *[!A-Za-z0-9_.-]* || ${#2} -gt 64 ]]; then
    __mcp_input_wrong "$1: KEY must be 1 to 64 of A-Z a-z 0-9 _ . -"
  fi
}

__mcp_input_object() { # WHO WHAT JSON
  if ! __mcp_compact "$3" || [[ $__mcp_reply != \{* ]]; then
    __mcp_input_wrong "$1: $2 must be a JSON object"
  fi
}

__mcp_input_wait() {
  local _keys='' _key _method _params _batch=''
  __mcp_queued
  if [[ -z $__mcp_reply ]]; then
    __mcp_input_wrong 'mcp_input_wait: nothing is queued (mcp_input_request does that)'
    return
  fi
  while IFS=$__mcp_tab read -r _key _method _params; do
    [[ -n $_key ]] || continue
    _keys="$_keys $_key" _batch="$_batch,\"$_key\":{\"method\":\"$_method\",\"params\":$_params}"
  done <<<"$__mcp_reply"
  __mcp_queue=''
  ! __mcp_input_dir || rm -f "$MCP_INPUT_DIR/queue"
  __mcp_ask_client "{${_batch#,}}" "$_keys" '' ''
}

__mcp_ask_client() { # BATCH KEYS SECONDS KEY: no SECONDS, no limit; no KEY, the answers to all
  local _batch=$1 _keys=$2 _one=$4 _ticks=-1 _rc=0
  if ! __mcp_input_dir; then
    __mcp_called || { __mcp_need 13 && __mcp_sdk_warn "tool-sdk: there is no client to ask; $__mcp_by_hand"; }
    __mcp_no_answers -32601 'Not supported by the client'
    return
  fi
  if [[ -n $3 ]]; then
    _ticks=${3%%.*}
    case $_ticks in ????????*) _ticks=9999999 ;; esac
    _ticks=$((10#$_ticks * 10))
  fi
  [[ ! -e $MCP_INPUT_DIR/batch.response ]] || rm -f "$MCP_INPUT_DIR/batch.response"
  if ! { printf '%s\n' "$_batch" >|"$MCP_INPUT_DIR/batch.tmp.$$" &&
    mv -f "$MCP_INPUT_DIR/batch.tmp.$$" "$MCP_INPUT_DIR/batch.request"; } 2>/dev/null; then
    __mcp_no_answers -32603 'Cannot write the request'
    return
  fi
  while [[ ! -e $MCP_INPUT_DIR/batch.response ]]; do
    if ((_ticks-- == 0)); then
      rm -f "$MCP_INPUT_DIR/batch.request"
      __mcp_no_answers -32001 'Timed out'
      return
    fi
    sleep 0.1
    if mcp_is_cancelled; then
      rm -f "$MCP_INPUT_DIR/batch.request"
      __mcp_no_answers -32001 Cancelled
      return
    fi
  done
  __mcp_reply=''
  IFS= read -r -d '' __mcp_reply <"$MCP_INPUT_DIR/batch.response"
  rm -f "$MCP_INPUT_DIR/batch.response"
  __mcp_ask answers ${_one:+"$_one"} <<<"$__mcp_reply" || _rc=1
  [[ -n $__mcp_reply ]] || __mcp_no_answers -32603 'The answer cannot be read' || _rc=1
  return "$_rc"
}

__mcp_no_answers() { # CODE MESSAGE
  local _key _error="{\"error\":{\"code\":$1,\"message\":\"$2\"}}"
  __mcp_reply=''
  for _key in $_keys; do __mcp_reply="$__mcp_reply,\"$_key\":$_error"; done
  __mcp_reply="{${__mcp_reply#,}}"
  [[ -z $_one ]] || __mcp_reply=$_error
  return 1
}

__mcp_sample() { # [--key NAME] [--system TEXT] [--max-tokens N] [--timeout S] TEXT | --params JSON
  local _key=sample _system='' _tokens=1024 _timeout='' _params='' _text='' _options=1
  while (($#)); do
    case $_options$1 in
      1--key | 1--system | 1--max-tokens | 1--timeout | 1--params)
        if (($# < 2)); then
          __mcp_input_wrong "mcp_sample: $1 requires a value"
          return
        fi
        case $1 in
          --key) _key=$2 ;;
          --system) _system=$2 ;;
          --max-tokens) _tokens=$2 ;;
          --timeout) _timeout=$2 ;;
          *) _params=$2 ;;
        esac
        shift
        ;;
      1--) _options='' ;;
      1--*)
        __mcp_input_wrong "mcp_sample: Unknown option: $1 (a TEXT that begins with -- goes after --)"
        return
        ;;
      *)
        if [[ -n $_text ]]; then
          __mcp_input_wrong 'mcp_sample: one TEXT, in quotes'
          return
        fi
        _text=$1
        ;;
    esac
    shift
  done
  __mcp_input_key mcp_sample "$_key" || return
  __mcp_input_timeout mcp_sample || return
  if [[ -n $_params && -n $_text || -z $_params$_text ]]; then
    __mcp_input_wrong 'mcp_sample: give either a TEXT or --params JSON'
    return
  elif [[ -n $_params ]]; then
    __mcp_input_object mcp_sample --params "$_params" || return
  else
    case $_tokens in
      '' | *[!0-9]* | 0* | ??????????????*)
        __mcp_input_wrong 'mcp_sample: --max-tokens must be a positive integer'
        return
        ;;
    esac
    __mcp_quote "$_text"
    _text="{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":$__mcp_reply}}],\"maxTokens\":$_tokens"
    if [[ -n $_system ]]; then
      __mcp_quote "$_system"
      _text="$_text,\"systemPrompt\":$__mcp_reply"
    fi
    __mcp_reply="$_text}"
  fi
  __mcp_ask_client "{\"$_key\":{\"method\":\"sampling/createMessage\",\"params\":$__mcp_reply}}" "$_key" "$_timeout" "$_key"
}

__mcp_roots_request() { # [--key NAME] [--timeout S]
  local _key=roots _timeout=''
  while (($#)); do
    case $1:$# in
      --key:[!1]* | --key:1?*) _key=$2 ;;
      --timeout:[!1]* | --timeout:1?*) _timeout=$2 ;;
      *)
        __mcp_input_wrong "mcp_roots_request: Unexpected argument, or one without its value: $1"
        return
        ;;
    esac
    shift 2
  done
  __mcp_input_key mcp_roots_request "$_key" || return
  __mcp_input_timeout mcp_roots_request || return
  __mcp_ask_client "{\"$_key\":{\"method\":\"roots/list\",\"params\":{}}}" "$_key" "$_timeout" "$_key"
}

# Into _timeout: what is asked for, else 120 s, or as long as the server waits for people where that is longer.
__mcp_input_timeout() { # WHO
  if [[ -n $_timeout ]]; then
    __mcp_decimal "$_timeout" || { __mcp_input_wrong "$1: --timeout must be a number of seconds" || return; }
    _timeout=$__mcp_reply
    return
  fi
  _timeout=120
  __mcp_decimal "${MCP_ELICIT_DEFAULT_TIMEOUT-}" && __mcp_reply=${__mcp_reply%%.*} || return 0
  if ((${#__mcp_reply} > 3)) || ((${#__mcp_reply} == 3 && __mcp_reply > 120)); then _timeout=$__mcp_reply; fi
}

#
# == 18 Where our program is missing ==================================================================================

# The same answers as the helpers of pkg/helper give, made with readlink, and with jq or gojq.

__mcp_need 10

__mcp_stand_in() { # HELPER ARG... <INPUT
  local _helper=${1//-/_}
  __mcp_reply=''
  [[ $_helper == path || $_helper == media || -n ${MCPBASH_JSON_TOOL_BIN-} ]] || return 1
  shift
  "__mcp_jq_$_helper" "$@"
}

__mcp_jq() { # ARG... <INPUT
  __mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" "$@" 2>/dev/null)
}

__mcp_jq_text='def text: if type == "string" then . else tojson end;'

__mcp_jq_get() { # FILTER
  local _input _rc=0 _kind
  _input=$(cat)
  __mcp_jq -c " ${1:-.}" <<<"$_input" || _rc=$?
  case $__mcp_reply in
    '') _kind=e ;;
    *"$__mcp_nl"*) _kind=m ;;
    \"*) _kind=s ;;
    null) _kind=z ;;
    true) _kind=t ;;
    false) _kind=x ;;
    \{*) _kind=o ;;
    \[*) _kind=a ;;
    *) _kind=i ;;
  esac
  [[ $_kind != [ms] ]] || __mcp_jq -rc " ${1:-.}" <<<"$_input"
  [[ $_kind == e && $_rc -ne 0 ]] || __mcp_reply=$_kind$__mcp_reply
  return "$_rc"
}

__mcp_jq_json() { __mcp_jq -cs 'if length == 1 then .[0] else error end'; }

__mcp_jq_quote() { __mcp_jq -Rs '.[:-1]'; }

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_success() { # MAX_TEXT_BYTES
  __mcp_jq -cs --argjson max "$1" "$__mcp_jq_text"'
    if length != 1 then
      {content: [{type: "text", text: "Error: input must be single JSON value"}],
        structuredContent: {success: false, error: {type: "internal_error",
          message: "Input contained multiple JSON values", count: length}}, isError: true}
    else
      .[0] as $data | {success: true, result: $data} as $all | ($all | tojson) as $text |
      {content: [{type: "text", text: (
        if ($text | utf8bytelength) <= $max then $text
        else "Success: " + ($data |
          if type == "array" then "array with \(length) items"
          elif type == "object" then "object with \(length) keys"
          else text | .[0:100] end)
        end)}], structuredContent: $all, isError: false}
    end'
}

__mcp_jq_error() {
  __mcp_jq -cs "$__mcp_jq_text"'
    if length != 1 then {message: "Error payload must be single JSON value", raw: "multiple values: \(length)"}
    elif .[0] | type != "object" then {message: "Error payload must be an object", raw: (.[0] | text)}
    else .[0] end |
    (if has("raw") and (has("type") | not) then {type: "internal_error"} + . else . end) |
    .type = (.type // "internal_error") | .message = (.message // "Unknown error") |
    {content: [{type: "text", text: (.message | text)}], structuredContent: {success: false, error: .}, isError: true}'
}

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_truncate() { # MAX_BYTES [PATH]
  local _text _message _path=${2-}
  _text=$(cat)
  if __mcp_jq -cs --argjson max "$1" --argjson keys "$(__mcp_path_keys "$_path")" --arg path "$_path" --arg raw "$_text" '
    def size: tojson | utf8bytelength;
    def failed($type; $message): {result: null, truncated: false, error: {type: $type, message: $message}};
    def at($keys): reduce $keys[] as $key ([.]; if length == 0 or .[0] == null then [null]
      elif .[0] | type == "object" then [.[0][$key]] else [] end);
    def cut($keys; $path):
      ($path != "") as $counts |
      . as $all | getpath($keys) as $list | (setpath($keys; []) | size) as $empty |
      if $counts and ($list | length) == 0 then {result: $all, truncated: false, kept: 0, total: 0}
      elif $empty > $max then
        if $counts then failed("output_too_large"; "Response too large (\($empty) bytes) even with empty array at \($path)")
        else {result: [], truncated: true, kept: 0, total: ($list | length),
          _warning: "individual items exceed max_bytes"} end
      else
        (reduce $list[] as $item ({size: $empty, kept: 0, full: false};
          (.size + ($item | size) + (if .kept > 0 then 1 else 0 end)) as $size |
          if .full or $size > $max then .full = true else .size = $size | .kept += 1 end) | .kept) as $kept |
        {result: setpath($keys; $list[:$kept]), truncated: ($kept < ($list | length)), kept: $kept, total: ($list | length)} |
        if .kept == 0 and ($counts | not) then ._warning = "individual items exceed max_bytes" else . end
      end;
    if length == 0 then failed("invalid_json"; "Empty input: expected exactly one JSON value") | .error.raw = $raw
    elif length > 1 then
      failed("invalid_json"; "Multiple JSON values found (\(length)): expected exactly one") | .error.raw = $raw
    else .[0] |
      if $keys != null then
        at($keys) as $found |
        if $found == [] then failed("invalid_path"; "Invalid path or malformed JSON: \($path)")
        elif $found[0] == null then failed("path_not_found"; "Path not found: \($path)")
        elif $found[0] | type != "array" then failed("invalid_array_path"; "Path is not an array: \($path)")
        else cut($keys; $path) end
      elif size <= $max then {result: ., truncated: false}
      elif type == "array" then cut([]; "")
      elif type == "object" and (.results | type) == "array" then cut(["results"]; ".results")
      else failed("output_too_large";
        "Response too large (\(size) bytes) and cannot be safely truncated (not an array)") end
    end' <<<"$_text"; then
    return 0
  fi
  __mcp_quote "$_text"
  _message=$__mcp_reply
  __mcp_reply="{\"result\":null,\"truncated\":false,\"error\":{\"type\":\"invalid_json\",\"message\":\"Invalid JSON: parse error\",\"raw\":$_message}}"
}

__mcp_path_keys() { # PATH: .a.b as ["a","b"], nothing as null
  local _path=${1#.} _between='","'
  if [[ -z $_path ]]; then
    printf null
  else
    _path=${_path//./"$_between"}
    printf '["%s"]' "$_path"
  fi
}

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_cli_error() {
  __mcp_jq -rs "$__mcp_jq_text"'
    if length != 1 or (.[0] | type != "object") then empty else .[0] |
      [(.error | if type == "object" then .message elif type == "string" then . else null end),
        (if .success == false or .ok == false or .status == "error" then .message else null end),
        (.errors | if type == "array" then .[0] else null end | if type == "object" then .message else null end)] |
      map(select(. != null)) | if length > 0 then .[0] | text else empty end
    end'
}

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_progress() {
  __mcp_jq -rs "$__mcp_jq_text"'
    if length == 1 and (.[0] | type == "object") then .[0] |
      (.progress | if type == "string" then tonumber? // null else . end) as $progress |
      if ($progress | type) == "number" and $progress >= 0 then
        "\([$progress, 100] | min | floor)\n\(.message // "Working..." | text)."
      else "" end
    elif length == 1 then "" else error end' || return 5
  [[ -n $__mcp_reply ]]
}

__mcp_jq_config() { # LENGTH EXAMPLE FILE VARIABLE, with defaults of that length and the variable's value as input
  local _length=$1 _example=$2 _file=$3 _variable=$4 _text _value _merged=$__mcp_none _lines='' _loaded='' _kept=''
  _text=$(cat)
  _value=${_text:_length}
  __mcp_jq_merge "${_text:0:_length}" --defaults 'Invalid JSON in --defaults, using {}' ''
  __mcp_jq_merge_file "$_example" "Loaded example config: $_example"
  __mcp_jq_merge_file "$_file" "Loaded config file: $_file"
  if [[ -n $_value ]]; then
    if __mcp_jq_json <<<"$_value" && [[ $__mcp_reply != null && $__mcp_reply != false ]]; then
      __mcp_jq_merge "$_value" "$_variable" '' "Loaded config from env var: $_variable (JSON)"
    elif [[ -f $_value ]]; then
      __mcp_jq_merge_file "$_value" "Loaded config from env var: $_variable (file: $_value)"
    else
      __mcp_jq_config_log warning "Env var $_variable is neither valid JSON nor a file path"
    fi
  fi
  [[ -n $_loaded ]] || __mcp_jq_config_log warning 'No configuration sources loaded'
  __mcp_reply=$_lines${_loaded:+loaded$__mcp_nl}${_kept:+keep$__mcp_nl}"json $_merged"
}

__mcp_jq_config_log() { # LEVEL TEXT
  __mcp_quote "$2"
  _lines="$_lines$1 $__mcp_reply$__mcp_nl"
}

__mcp_jq_merge_file() { # PATH MESSAGE
  [[ -z $1 || ! -f $1 || ! -r $1 ]] || __mcp_jq_merge "$(<"$1")" "$1" "Invalid JSON in file: $1" "$2"
}

__mcp_jq_merge() { # TEXT NAME MESSAGE_IF_INVALID MESSAGE: the last is empty for the defaults
  if ! __mcp_jq_json <<<"$1" || [[ $__mcp_reply == null || $__mcp_reply == false ]]; then
    __mcp_jq_config_log warning "$3"
  elif [[ $__mcp_reply != \{* ]]; then
    __mcp_jq_config_log warning "Config source is not a JSON object: $2"
  else
    [[ -z $4 && $__mcp_reply == "$__mcp_none" ]] || _loaded=1
    [[ -n $4 ]] && _kept='' || _kept=1
    [[ -z $4 ]] || __mcp_jq_config_log debug "$4"
    __mcp_jq_json <<<"$1"
    __mcp_jq -cs '.[0] + .[1]' <<<"$_merged$__mcp_reply"
    _merged=$__mcp_reply
  fi
}

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_answers() { # [KEY]
  local _text _answered=0
  _text=$(cat)
  __mcp_jq -ne --argjson all "$_text" --arg key "${1-}" '$all |
    all(.[]; type == "object" and has("result")) and ($key == "" or has($key))' || _answered=1
  __mcp_jq -nc --argjson all "$_text" --arg key "${1-}" 'def none: {error: {code: -32603, message: "No answer"}};
    $all | map_values(if type != "object" then none elif has("result") then .result
      elif .error | type == "object" then {error: .error} else none end) |
    if $key == "" then . elif has($key) then .[$key] else none end'
  return "$_answered"
}

__mcp_jq_media() { # KIND LIMIT FILE [MIME]
  local _kind=$1 _file=$3 _type=${4-}
  [[ -n $_type ]] || __mcp_jq_media_type "$_file"
  if [[ $_type != "$_kind"/* ]]; then
    __mcp_internal_error "mcp_result_$_kind: neither name nor content tell its type, give it as well ($_kind/...): $_file"
  elif (($(wc -c <"$_file") > ($2 - 1024) / 4 * 3)); then
    __mcp_internal_error "mcp_result_$_kind: too large for a result of $2 bytes (MCPBASH_MAX_TOOL_OUTPUT_SIZE): $_file"
  elif ! command -v base64 >/dev/null; then
    __mcp_internal_error "mcp_result_$_kind: mcp-bash is not on PATH, nor is base64"
  else
    printf '{"content":[{"type":"%s","data":"' "$_kind"
    base64 <"$_file" | tr -d '\n'
    printf '","mimeType":"%s"}],"isError":false}\n' "$_type"
  fi
}

__mcp_jq_media_type() { # FILE: by its content, into _type
  local _hex
  _hex=$(od -An -v -tx1 -N16 <"$1")
  case ${_hex//[^0-9a-f]/} in
    89504e470d0a1a0a*) _type=image/png ;;
    ffd8ff*) _type=image/jpeg ;;
    474946383761* | 474946383961*) _type=image/gif ;;
    52494646????????57454250*) _type=image/webp ;;
    ????????6674797061766966*) _type=image/avif ;;
    52494646????????57415645*) _type=audio/wav ;;
    494433* | fffb* | fff3* | fff2*) _type=audio/mpeg ;;
    4f676753*) _type=audio/ogg ;;
    664c6143*) _type=audio/flac ;;
    ????????667479704d344120*) _type=audio/mp4 ;;
    *) case $1 in *.[Ss][Vv][Gg]) _type=image/svg+xml ;; esac ;;
  esac
}

__mcp_jq_path() { # PATH [ROOT...]: rc 1 when there are roots and none of them holds the path
  local _path _root
  __mcp_resolve "$1"
  _path=$__mcp_reply
  shift
  for _root; do
    __mcp_resolve "$_root"
    if [[ $__mcp_reply == / || $_path == "$__mcp_reply" || $_path == "$__mcp_reply"/* ]]; then
      __mcp_reply=$_path
      return 0
    fi
  done
  __mcp_reply=$_path
  (($# == 0))
}

__mcp_resolve() { # PATH
  local _path=$1 _target _n=0
  while ! __mcp_walk physical "$_path"; do
    if ((++_n > 40)) || ! _target=$(readlink "$__mcp_link" && printf .); then
      __mcp_walk '' "$_path" # a ring, or a link that cannot be read
      return
    fi
    _target=${_target%"$__mcp_nl".}
    [[ $_target == /* ]] || _target=${__mcp_link%/*}/$_target
    _path=$_target/$__mcp_after
  done
}

if [[ ! -f $__mcp_file ]]; then # see the end of page 1
  [[ -n ${MCPBASH_JSON_TOOL_BIN-} || ${MCPBASH_JSON_TOOL-} == none || ${MCPBASH_MODE-} == minimal ]] || __mcp_find_json_tool
  [[ -z $__mcp_traced ]] || set -x
fi
