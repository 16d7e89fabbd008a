# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Requests to the client: the SDK writes the request to one file, and reads the response from another.
#
# After the response, the server writes a byte into the FIFO $MCP_INPUT_DIR/wake. Waiting for it
# needs no process. The SDK also checks for the response every second, because another request of
# this tool may have read the byte.

__mcp_load common

__mcp_exchange() { # REQUEST_FILE TEXT RESPONSE_FILE TENTHS: rc 1 cannot write, 2 timed out, 3 cancelled
  local _request=$1 _response=$3 _left=$4 _wake=${MCP_INPUT_DIR-}/wake _rc=1 # TENTHS of a second; -1: no limit
  __mcp_reply=''
  [[ ! -e $_response ]] || rm -f "$_response"
  __mcp_fifo || _wake=''
  { printf '%s\n' "$2" >|"$_request.tmp.$$" && mv -f "$_request.tmp.$$" "$_request"; } 2>/dev/null || return 1
  if [[ -n $_wake ]]; then
    __mcp_await <>"$_wake" && _rc=0 || _rc=$?
  fi
  if ((_rc == 1)); then
    _wake=''
    __mcp_await && _rc=0 || _rc=$?
  fi
  if ((_rc)); then
    rm -f "$_request"
    return "$_rc"
  fi
  IFS= read -r -d '' __mcp_reply <"$_response" || :
  __mcp_reply=${__mcp_reply%"$__mcp_nl"}
  rm -f "$_response"
}

__mcp_fifo() { # makes the FIFO $_wake; FIFOs of Cygwin and MSYS are not Windows files
  case ${MCP_INPUT_DIR:+${OSTYPE-}} in '' | msys* | cygwin*) return 1 ;; esac
  [[ -p $_wake ]] || (umask 077 && mkfifo "$_wake") 2>/dev/null
}

__mcp_await() { # <>FIFO, unless $_wake is empty: rc 1 not a FIFO, 2 timed out, 3 cancelled
  local _pause=0 _seconds
  [[ -z $_wake || -p /dev/fd/0 ]] || return 1 # <> has created a file
  while [[ ! -e $_response ]]; do
    ((_left)) || return 2
    ((_pause == 10 || ++_pause))
    [[ -z $_wake ]] || _pause=10
    ((_left < 0 || _left > _pause)) || _pause=$_left
    printf -v _seconds %d.%d "$((_pause / 10))" "$((_pause % 10))"
    if [[ -z $_wake ]]; then
      sleep "$_seconds"
    else
      ((BASH_VERSINFO[0] > 3)) || _seconds=1 # no fractions before Bash 4
      ! IFS= read -r -t "$_seconds" _ || _pause=1
    fi
    ((_left < 0 || (_left -= _pause, 1)))
    ! mcp_is_cancelled || return 3
  done
}
