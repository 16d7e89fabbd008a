# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# mcp_with_retry, and the pauses between attempts.

__mcp_load numbers

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

__mcp_jitter() { # MICROSECONDS: stores a value up to 50 % larger in __mcp_wait, and as seconds in __mcp_seconds
  # shellcheck disable=SC2017 # the other order could overflow
  __mcp_wait=$(($1 + $1 / 2 * RANDOM / 32768))
  __mcp_as_seconds "$__mcp_wait"
}

__mcp_pause() { # waits for __mcp_wait; rc 1 if the request was cancelled
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
