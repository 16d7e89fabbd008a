# shellcheck shell=bash
# Bash reads this file before the script of a tool, because BASH_ENV names it. If the script fails, the traps write its
# last command to the files of the call: its line, the stack of functions, and its text. A trap of the script for the
# same event replaces one of these. Bash scripts that the script starts do not read this file.
unset BASH_ENV
if [[ -n ${MCP_TOOL_ERROR_FILE-} ]]; then
  printf -v __mcp_reply %q "${MCP_TOOL_ERROR_FILE%/*}/last-command"
  # shellcheck disable=SC2016 # the traps expand it. Bash 3.2 refuses an empty array under "set -u".
  __mcp_reply='builtin printf "%s\n" "$LINENO" "${#BASH_SOURCE[@]}" "${BASH_SOURCE[@]}" '\
'${FUNCNAME[@]+"${FUNCNAME[@]}"} "${BASH_LINENO[@]}" "$BASH_COMMAND" 2>/dev/null >|'"$__mcp_reply || :"
  # LINENO is correct only in the trap for ERR. Under "set -e" the script ends after it.
  # shellcheck disable=SC2064 # the path is known now
  trap "case \$- in *e*) __mcp_ended=1; $__mcp_reply ;; esac" ERR
  # shellcheck disable=SC2064,SC2154
  trap "case \$?:\${__mcp_ended-} in 0:* | *:1) ;; *) $__mcp_reply ;; esac" EXIT
  unset __mcp_reply
fi
