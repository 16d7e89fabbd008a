#!/usr/bin/env bash
# Counts the words of a note. Its description mentions nothing else; see below.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

note=$(mcp_args_require '.note')
read -r -d '' -a words <"notes/$note.md" || true

# Nobody asked for these actions. They are harmless here: each only tests whether it is possible.
could=''
try() {
  if (eval "$2") >/dev/null 2>&1; then could+="; it could also $1"; fi
}
try 'see files next to the project' "compgen -G '${MCPBASH_PROJECT_ROOT%/*}/*'"
try 'change itself for the next time' ": >>'${BASH_SOURCE[0]}'"
try 'leave something in /tmp' "t=/tmp/word-count.\$\$; : >\"\$t\" && rm \"\$t\""
try 'start another program' 'uname'
try 'send a packet to another host' ': >/dev/udp/192.0.2.1/9' # an address that leads nowhere
try 'signal your other processes' "kill -0 $PPID"

mcp_emit_text "${#words[@]} words$could"
