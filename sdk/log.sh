# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Logs: mcp_log and its variants, mcp_debug.

__mcp_load common

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
  __mcp_load json
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
  local _time _text="$*"
  [[ -n ${MCPBASH_DEBUG_LOG-} ]] || return 0
  ! __mcp_may_be_secret "$_text" || __mcp_redact
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] > 401)); then
    printf -v _time '%(%H:%M:%S)T' -1 # Bash 3.2 does not run this line
  else
    _time=$(date +%H:%M:%S 2>/dev/null) || _time='??:??:??'
  fi
  __mcp_append "$MCPBASH_DEBUG_LOG" "[$_time] $_text"
}

# rc 0 if TEXT may contain a secret: a word from names of secrets, a long run of characters, or a
# URL with a user. Only then our program, which knows all forms of secrets, is started.
__mcp_may_be_secret() { # TEXT
  local _c='[0-9A-Za-z_-]'
  case $1 in
    *[Tt][Oo][Kk][Ee][Nn]* | *[Ss][Ee][Cc][Rr][Ee][Tt]* | *[Pp][Aa][Ss][Ss]* | *[Pp][Ww][Dd]* | *[Kk][Ee][Yy]*) ;;
    *[Aa][Uu][Tt][Hh]* | *[Cc][Oo][Oo][Kk][Ii][Ee]* | *[Cc][Rr][Ee][Dd]* | *[Jj][Ww][Tt]* | *[Oo][Tt][Pp]*) ;;
    *[Pp][Aa][Tt] | *[Pp][Aa][Tt][!a-z]* | *[Ss][Ii][Gg] | *[Ss][Ii][Gg][!a-z]* | *[Ss][Ii][Gg][Nn]*) ;;
    *[Ss][Ee][Ss][Ss][Ii][Oo][Nn]* | *[Bb][Ee][Aa][Rr][Ee][Rr]* | *[Bb][Aa][Ss][Ii][Cc]* | *[Ee][Nn][Vv]*) ;;
    *://*@* | -u* | *[!0-9A-Za-z]-u* | *-user*) ;;
    *$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c$_c*) ;;
    *) return 1 ;;
  esac
}

__mcp_redact() { # redacts _text
  if __mcp_program && __mcp_reply=$(exec "$__mcp_bin" --helper redact <<<"$_text"); then
    _text=$__mcp_reply
  else
    _text='**redacted** (the program that finds secrets is missing)'
  fi
  __mcp_reply=''
}
