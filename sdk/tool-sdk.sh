#!/usr/bin/env bash
# shellcheck shell=bash
# shellcheck disable=SC2053,SC2254,SC2295 # patterns are kept in variables
# shellcheck disable=SC2050 # a == A asks for nocasematch
#
# The SDK of tool scripts. A tool loads all of it with one line:
#
#   source "${MCP_SDK}/tool-sdk.sh"
#
# This file defines every public function. Most of them are one line that names the file with the
# code, which is read at its first use. Only functions that nearly every tool calls are complete
# here, because the size of this file is the cost of sourcing. docs/ARCHITECTURE.md has the rules
# for these files.

case $- in *x*) set +x && __mcp_traced=1 ;; *) __mcp_traced='' ;; esac # a trace would show arguments
[[ -n ${__mcp_keep_options-} ]] || set -euo pipefail

# -- Loading the other files

__mcp_call() { # TOPIC FUNCTION ARG...: runs a function of TOPIC.sh in plain settings, and prints its result
  [[ $__mcp_loaded == *" $1 "* ]] || __mcp_load common "$1"
  shift
  __mcp_run "$@"
}

__mcp_load() { # TOPIC...
  local __mcp_topic
  for __mcp_topic; do
    [[ $__mcp_loaded == *" $__mcp_topic "* ]] || __mcp_source "$__mcp_topic"
  done
}

__mcp_source() { # TOPIC: reads its file without a trace. Before Bash 5.1, <(...) is an error in POSIX mode.
  local __mcp_x='' __mcp_posix=''
  case $- in *x*) set +x && __mcp_x=1 ;; esac
  case $SHELLOPTS in *posix*) set +o posix && __mcp_posix=1 ;; esac
  if [[ ! -f $__mcp_dir/$1.sh || ! -r $__mcp_dir/$1.sh ]]; then
    printf 'tool-sdk: cannot read %s, a part of the SDK: copy the whole directory sdk, not tool-sdk.sh alone\n' \
      "$__mcp_dir/$1.sh" >&2
    exit 1
  fi
  __mcp_loaded="$__mcp_loaded$1 "
  # shellcheck source=/dev/null
  . "$__mcp_dir/$1.sh"
  [[ -z $__mcp_posix ]] || set -o posix
  [[ -z $__mcp_x ]] || set -x
}

# -- Answers

__mcp_output() { # ANSWER: prints it, or assigns it to the variable of mcp_into
  if [[ -z ${__mcp_to-} ]]; then
    printf %s "$1"
  else
    eval "$__mcp_to=\$1 __mcp_to=''"
  fi
}

__mcp_refuse() { # ends the tool with the message in __mcp_failure
  __mcp_reply='' __mcp_to=''
  "$__mcp_refusal" "$__mcp_failure"
}

# -- Arguments: the fast path, by the flat table of them

__mcp_table() { # TABLE: sets __mcp_rows, and __mcp_text to the document
  local IFS=$__mcp_nl
  # shellcheck disable=SC2206 # a word for each row
  case $- in *f*) __mcp_rows=($1) ;; *) set -f && __mcp_rows=($1) && set +f ;; esac
  __mcp_text=${__mcp_rows[0]:3}
  case $__mcp_text in *\\*) printf -v __mcp_text %b "$__mcp_text" ;; esac
}

__mcp_find() { # PATH: finds it in __mcp_rows
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

__mcp_fast_get() { # FILTER, which is PATH or PATH // LITERAL: rc 1 use the slow path
  # A trace would show the values, and nocasematch would find too much.
  local _path=${1%% //*}
  [[ $- != *x* && a != A && -n $__mcp_text && ${MCP_TOOL_ARGS_JSON-} == "$__mcp_text" && ! -f ${MCP_TOOL_ARGS_FILE-} &&
    ${MCPBASH_MODE-} != minimal && $1 != *"$__mcp_tab"* ]] || return 1
  __mcp_find "$_path" || __mcp_fast_missing "$_path" || return 1
  [[ $_path == "$1" ]] || __mcp_fast_default "${1:${#_path}+4}"
}

__mcp_fast_missing() { # PATH
  [[ $__mcp_text == \{* ]] || return 1
  case $1 in .*[!$__mcp_word]* | .[0123456789]* | . | [!.]* | '') return 1 ;; esac
  __mcp_kind=z __mcp_reply=null
}

__mcp_fast_default() { # LITERAL
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

__mcp_within() { # POINTER [--min N | --max N]...: rc 1 also if it is unclear
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

__mcp_getter() { # AS FILTER [ARG...]: AS converts the value
  if __mcp_fast_get "${2-}"; then
    __mcp_load getters
    __mcp_failure=''
    "$@"
    [[ -z $__mcp_failure ]] || __mcp_refuse || return
    __mcp_output "$__mcp_reply"
  else
    __mcp_call arguments __mcp_slow_get "$@"
  fi
}

mcp_args_get() { # FILTER [--default V]
  if __mcp_fast_get "${1-}" && [[ $# -eq 1 || $__mcp_kind != [ze] && -n $__mcp_reply ]]; then
    __mcp_output "$__mcp_reply"
  else
    __mcp_getter __mcp_as_get "$@"
  fi
}

mcp_args_require() { # POINTER [MESSAGE]
  if __mcp_fast_get "${1-}" && [[ $__mcp_kind != [ze] && -n $__mcp_reply ]]; then
    __mcp_output "$__mcp_reply"
  else
    __mcp_getter __mcp_as_require "$@"
  fi
}

mcp_args_bool() { __mcp_getter __mcp_as_bool "$@"; } # POINTER [--default V]

mcp_args_int() { # POINTER [--default N] [--min N] [--max N]
  if __mcp_fast_get "${1-}" && [[ $__mcp_kind == i ]] && { [[ $# -eq 1 ]] || __mcp_within "$@"; }; then
    __mcp_output "$__mcp_reply"
  else
    __mcp_getter __mcp_as_int "$@"
  fi
}

# -- JSON of strings

__mcp_quote() { # TEXT: as a JSON string
  __mcp_reply=$1
  case $1 in $__mcp_unsafe) __mcp_quote_unsafe ;; esac
  __mcp_reply=\"$__mcp_reply\"
}

__mcp_quote_unsafe() {
  if [[ ${#__mcp_reply} -gt 1000 || $__mcp_reply == $__mcp_hard ]]; then
    __mcp_load strings
    __mcp_quote_hard
  else
    __mcp_reply=${__mcp_reply//"$__mcp_bs"/"$__mcp_bsbs"}
    __mcp_reply=${__mcp_reply//"$__mcp_quot"/"$__mcp_bquot"}
    __mcp_reply=${__mcp_reply//"$__mcp_nl"/"$__mcp_bn"}
  fi
}

mcp_json_escape() { __mcp_quote "${1-}"; __mcp_output "$__mcp_reply"; }

mcp_json_obj() { # [KEY VALUE]...
  local __mcp_all='' __mcp_key
  (($# % 2 == 0)) || { __mcp_call misuse __mcp_obj_odd "$#" && exit 1; }
  while (($#)); do
    __mcp_quote "$1"
    __mcp_key=$__mcp_reply
    __mcp_quote "$2"
    __mcp_all=$__mcp_all,$__mcp_key:$__mcp_reply
    shift 2
  done
  __mcp_output "{${__mcp_all#,}}"
}

mcp_json_arr() { # [VALUE]...
  local __mcp_all='' __mcp_value
  for __mcp_value; do
    __mcp_quote "$__mcp_value"
    __mcp_all=$__mcp_all,$__mcp_reply
  done
  __mcp_output "[${__mcp_all#,}]"
}

mcp_emit_json() { # JSON
  # White space between tokens is next to a bracket, a comma, a colon or an end.
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
  __mcp_call results __mcp_emit_json "${1-}"
}

mcp_emit_text() { __mcp_said=mcp_emit_text && printf %s "${1-}"; }

mcp_into() { # VARIABLE FUNCTION ARG...: assigns the result to the variable, without a subshell
  case ${1-} in '' | *[!$__mcp_word]* | [0123456789]* | __mcp_*) __mcp_call misuse __mcp_into_name || return ;; esac
  local __mcp_to=$1
  shift
  "$@" || return
  [[ -z $__mcp_to ]] || __mcp_call misuse __mcp_into_function "$@"
}

# -- More functions that need no other file

mcp_is_cancelled() { [[ -n ${MCP_TOOL_CANCELLATION_FILE-} && -f $MCP_TOOL_CANCELLATION_FILE ]]; }
mcp_roots_list() { printf %s "${MCP_ROOTS_PATHS-}"; }
mcp_roots_count() { printf %s "${MCP_ROOTS_COUNT:-0}"; }

# -- The functions of other files: the first word after __mcp_call is the name of the file

mcp_args_raw() { __mcp_call arguments __mcp_args_raw "$@"; }
mcp_meta_raw() { __mcp_call arguments __mcp_meta_raw "$@"; }
mcp_meta_get() { __mcp_call arguments __mcp_meta_get "$@"; }
mcp_fail() { __mcp_call errors __mcp_fail "$@" || :; exit 1; }
mcp_fail_invalid_args() { mcp_fail -32602 "${1:-Invalid params}" "${2-}"; }
mcp_result_error() { __mcp_call errors __mcp_result_error "$@"; }
mcp_error() { __mcp_call errors __mcp_error "$@"; }
mcp_result_success() { __mcp_call results __mcp_result_success "$@"; }
mcp_result_text_with_resource() { __mcp_call resources __mcp_result_text_with_resource "$@"; }
mcp_result_image() { __mcp_call media __mcp_result_media image "$@"; }
mcp_result_audio() { __mcp_call media __mcp_result_media audio "$@"; }
mcp_json_truncate() { __mcp_call truncate __mcp_json_truncate "$@"; }
mcp_is_valid_json() { __mcp_call json __mcp_is_valid_json "$@"; }
mcp_json_typed_obj() { __mcp_call builders __mcp_json_typed_obj "$@"; }
mcp_json_typed_arr() { __mcp_call builders __mcp_json_typed_arr "$@"; }
mcp_byte_length() { __mcp_call strings __mcp_byte_length "$@"; }
mcp_progress() { __mcp_call progress __mcp_progress "$@"; }
mcp_log() { __mcp_call log __mcp_log "$@"; }
mcp_log_debug() { __mcp_call log __mcp_log_text debug "$@"; }
mcp_log_info() { __mcp_call log __mcp_log_text info "$@"; }
mcp_log_warn() { __mcp_call log __mcp_log_text warning "$@"; }
mcp_log_error() { __mcp_call log __mcp_log_text error "$@"; }
mcp_debug() { __mcp_call log __mcp_debug "$@"; }
mcp_roots_contains() { __mcp_call roots __mcp_roots_contains "$@"; }
mcp_require_path() { __mcp_call roots __mcp_require_path "$@"; }
mcp_config_load() { __mcp_call config __mcp_config_load "$@"; }
mcp_config_get() { __mcp_call config __mcp_config_get "$@"; }
mcp_elicit() { __mcp_call elicitation __mcp_elicit "$@"; }
mcp_elicit_url() { __mcp_call elicitation __mcp_elicit_url "$@"; }
mcp_elicit_string() { __mcp_call elicitation __mcp_elicit_field string "$@"; }
mcp_elicit_confirm() { __mcp_call elicitation __mcp_elicit_field confirm "$@"; }
mcp_elicit_choice() { __mcp_call elicitation __mcp_elicit_field choice "$@"; }
mcp_elicit_titled_choice() { __mcp_call elicitation __mcp_elicit_field titled_choice "$@"; }
mcp_elicit_multi_choice() { __mcp_call elicitation __mcp_elicit_field multi_choice "$@"; }
mcp_elicit_titled_multi_choice() { __mcp_call elicitation __mcp_elicit_field titled_multi_choice "$@"; }
mcp_input_request() { __mcp_call input __mcp_input_request "$@"; }
mcp_input_wait() { __mcp_call input __mcp_input_wait "$@"; }
mcp_sample() { __mcp_call input __mcp_sample "$@"; }
mcp_roots_request() { __mcp_call input __mcp_roots_request "$@"; }
mcp_argv_switch() { __mcp_call argv __mcp_argv_switch "$@"; }
mcp_argv_option() { __mcp_call argv __mcp_argv_option "$@"; }
mcp_argv_operand() { __mcp_call argv __mcp_argv_operand "$@"; }
mcp_argv_need() { __mcp_call argv __mcp_argv_need "$@"; }
mcp_extract_cli_error() { __mcp_call cli __mcp_extract_cli_error "$@"; }

# These run code of the tool in its own settings, and in a condition, so that `set -e` does not end them.
mcp_with_retry() { __mcp_load retry; __mcp_with_retry "$@" || return; }
mcp_argv_json() { __mcp_load argv; __mcp_argv_json "$@" || return; }
mcp_argv_progress() { __mcp_load argv-progress; __mcp_argv_progress "$@" || return; }
mcp_download_safe() { __mcp_load download; __mcp_download_safe "$@" || return; }
mcp_download_safe_or_fail() { __mcp_load download; __mcp_download_safe_or_fail "$@" || return; }

# Functions of the Bash edition that a project defines itself are kept.
{
  declare -F mcp_path_normalize || {
    mcp_path_normalize() { __mcp_call paths __mcp_path_normalize "$@"; }
    mcp_path_collapse() { __mcp_call paths __mcp_path_collapse "$@"; }
  }
  declare -F mcp_sdk_load_path_helpers || mcp_sdk_load_path_helpers() { :; } # they exist already
  declare -F mcp_run_with_progress || {
    mcp_run_with_progress() { __mcp_load run-with-progress; __mcp_run_with_progress "$@" || return; }
  }
  declare -F mcp_detect_cli || mcp_detect_cli() { __mcp_load cli; __mcp_detect_cli "$@" || return; }
  declare -F mcp_client_supports_ui || {
    mcp_client_supports_ui() { __mcp_load ui; __mcp_supports_ui; }
    mcp_client_supports_extension() { [[ ${1-} == io.modelcontextprotocol/ui ]] && mcp_client_supports_ui; }
    mcp_result_with_ui() { __mcp_call ui __mcp_result_with_ui "$@"; }
    mcp_result_with_ui_data() { __mcp_call ui __mcp_result_with_ui "$@"; }
    mcp_tool_meta_with_ui() { __mcp_call ui __mcp_tool_meta_with_ui "$@"; }
    mcp_ui_form() { __mcp_load ui; __mcp_ui_page form form "$@" || return; }
    mcp_ui_table() { __mcp_load ui; __mcp_ui_page data_table data-table "$@" || return; }
  }
} >/dev/null

# Private names that projects use.
__mcp_sdk_json_escape() { mcp_json_escape "$@"; }
__mcp_sdk_warn() { printf '%s\n' "${1-}" >&2; }
__mcp_sdk_uint_or_default() { __mcp_call numbers __mcp_uint "$@"; }
__mcp_sdk_payload_from_env_vars() { __mcp_call arguments __mcp_raw "$@"; }

# -- The environment

# The other files are in the directory of this one, even if the tool has changed directory. A pipe has no directory.
case ${BASH_SOURCE[0]} in
  /* | [A-Za-z]:[\\/]*) __mcp_dir=${BASH_SOURCE[0]%/*} ;;
  */*) __mcp_dir=$PWD/${BASH_SOURCE[0]%/*} ;;
  *) __mcp_dir=$PWD ;;
esac
[[ -f $__mcp_dir/common.sh || -z ${MCP_SDK-} ]] || __mcp_dir=$MCP_SDK
__mcp_loaded=' ' __mcp_text='' __mcp_said='' __mcp_refusal=mcp_fail_invalid_args \
  __mcp_nl=$'\n' __mcp_tab=$'\t' __mcp_blank=$' \t\n\r' \
  __mcp_bs=\\ __mcp_bsbs=\\\\ __mcp_bn=\\n __mcp_quot=\" __mcp_bquot=\\\" \
  __mcp_word=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz # ranges depend on the locale
# Characters that a JSON string must escape, and those that strings.sh escapes.
__mcp_hard="!#\$%&'()*+,./:;<=>?@[^\`{|}~$__mcp_word-]*"
__mcp_unsafe="*[!] $__mcp_hard" __mcp_hard="*[!] $__mcp_nl\"$__mcp_bsbs$__mcp_hard"
__mcp_stray='*[!\\{:,[]"[!]}:,]*' __mcp_hole='*[,:][],}]*' # a quote within a string, a place without a value
# shellcheck disable=SC2034 # the other files use them
MCP_TOOL_CANCELLATION_FILE=${MCP_CANCEL_FILE-} MCP_ELICIT_DEFAULT_TIMEOUT=${MCPBASH_ELICITATION_TIMEOUT:-30} \
  MCP_PROGRESS_STREAM=${MCP_PROGRESS_STREAM-} MCP_LOG_STREAM=${MCP_LOG_STREAM-} \
  MCP_PROGRESS_TOKEN=${MCP_PROGRESS_TOKEN-}
case ${OSTYPE-} in
  msys* | cygwin*) # programs there end lines with CR LF
    MCP_PROGRESS_STREAM=${MCP_PROGRESS_STREAM%$'\r'} MCP_PROGRESS_TOKEN=${MCP_PROGRESS_TOKEN%$'\r'}
    ;;
esac
__mcp_token=$MCP_PROGRESS_TOKEN # the token of MCPBASH_PROGRESS_TOKEN_JSON
[[ -z ${MCPBASH_ARGS_FLAT-} ]] || __mcp_table "$MCPBASH_ARGS_FLAT"
export -n MCPBASH_ARGS_FLAT MCPBASH_META_FLAT

if [[ -z ${MCPBASH_JSON_TOOL_BIN-} && ${MCPBASH_JSON_TOOL-} != none && ${MCPBASH_MODE-} != minimal ]]; then
  __mcp_load program
  __mcp_find_json_tool
fi
[[ -z $__mcp_traced ]] || set -x
