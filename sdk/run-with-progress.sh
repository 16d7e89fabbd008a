# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# mcp_run_with_progress: runs a command and sends progress notifications for its output.

__mcp_load common numbers tempfile

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

  # The last line of the pipe is the mark with the exit code. So the loop does not wait for other
  # processes that keep the pipe open. If a file is followed, earlier lines are empty and only
  # trigger a read of the file.
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
    [[ $__mcp_total != *[!0-9]* && $__mcp_total == *[1-9]* ]] || _message='--total must be positive integer'
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

__mcp_supervise() { # COMMAND...: runs it, and prints the mark at the end
  local __mcp_pid __mcp_watcher='' __mcp_rc=0
  [[ -z $__mcp_posix ]] || set -o posix
  if [[ -n $__mcp_follow ]]; then
    "$@" >|"$__mcp_stdout" 2>|"$__mcp_stderr" &
    __mcp_pid=$!
    trap - TERM # the tool may ignore it
    __mcp_watch "$__mcp_pid" </dev/null 2>/dev/null &
    __mcp_watcher=$!
  else
    # shellcheck disable=SC2069 # stderr into the pipe, stdout into the file
    "$@" 2>&1 >|"$__mcp_stdout" &
    __mcp_pid=$!
    if [[ -n ${MCP_TOOL_CANCELLATION_FILE-} ]]; then
      trap - TERM
      __mcp_watch "$__mcp_pid" </dev/null >/dev/null 2>&1 &
      __mcp_watcher=$!
    fi
  fi
  # Not before there are children, because a new child could receive a signal of its parent.
  trap 'rm -f "$__mcp_stdout" "$__mcp_stderr"; exit 143' TERM INT HUP
  { wait "$__mcp_pid"; } 2>/dev/null || __mcp_rc=$?
  [[ -z $__mcp_watcher ]] || { kill -TERM "$__mcp_watcher" && wait "$__mcp_watcher"; } 2>/dev/null || :
  printf '%s%s\n' "$__mcp_mark" "$__mcp_rc"
}

__mcp_watch() { # PID; SIGTERM ends the loop and its sleep (T-48a)
  local _watched=$1
  trap '[[ $! == "$_watched" ]] || kill -KILL "$!" 2>/dev/null; exit 0' TERM
  while
    sleep "$__mcp_interval" &
    wait "$!"
  do
    [[ -z $__mcp_follow ]] || printf '\n'
    if mcp_is_cancelled; then
      kill -TERM "$1"
      sleep 2
      kill -KILL "$1"
      return 0
    fi
  done
}

__mcp_follow_files() { # reads the complete lines
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
  # The line shows that the command is alive, even without a notification.
  if [[ -z $__mcp_dry && -n ${MCP_PROGRESS_STREAM-} && (-z $_percent || -z ${MCP_PROGRESS_TOKEN-}) ]]; then
    touch -c "$MCP_PROGRESS_STREAM" 2>/dev/null
  fi
  return 0
}

__mcp_percentage() { # PART WHOLE: sets the caller's _percent if both are numbers
  __mcp_microseconds "$1" || return 0
  local _part=$__mcp_reply
  __mcp_microseconds "$2" || return 0
  ((__mcp_reply > 0)) || return 0
  _percent=$((_part * 100 / __mcp_reply))
  ((_percent <= 100)) || _percent=100
}

__mcp_progress_json() { # LINE: sets the caller's _percent and _message
  local _rc=0
  __mcp_helper progress <<<"$1" || _rc=$?
  case $_rc in
    0) # PERCENT NEWLINE MESSAGE, and a dot that keeps final newlines
      _percent=${__mcp_reply%%"$__mcp_nl"*}
      _message=${__mcp_reply#*"$__mcp_nl"}
      _message=${_message%.}
      ;;
    1) ;;
    *) mcp_log_debug mcp_run_with_progress "jq parse error on line: ${1:0:100}" ;;
  esac
}
