#!/bin/sh
# Starts the server of this folder. Clients run it; it prints nothing.
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self") || exit 1
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
here=$(CDPATH='' cd -- "$(dirname -- "$self")" && pwd -P) || exit 1

# A client passes the placeholder of an option that its user left empty. The server drops
# such variables; this one is read here.
case ${MCPB_SKIP_LOGIN_SHELL-} in
  '${user_config.'*) unset MCPB_SKIP_LOGIN_SHELL ;;
esac

# Programs with windows start servers with a short PATH. The server has Bash read the
# login profile, whose output cannot get into the protocol there.
if [ -z "${MCPB_SKIP_LOGIN_SHELL-}" ]; then
  for profile in .bash_profile .zshrc .profile .bashrc; do
    if [ -n "${HOME-}" ] && [ -f "$HOME/$profile" ]; then
      MCPBASH_LOGIN_PROFILE=$HOME/$profile
      export MCPBASH_LOGIN_PROFILE
      break
    fi
  done
fi

MCPBASH_PROJECT_ROOT=$here
export MCPBASH_PROJECT_ROOT
if [ -x "$here/.mcp-bash/bin/gojq" ]; then
  MCPBASH_JSON_TOOL=gojq
  MCPBASH_JSON_TOOL_BIN=$here/.mcp-bash/bin/gojq
  export MCPBASH_JSON_TOOL MCPBASH_JSON_TOOL_BIN
fi
exec "$here/.mcp-bash/bin/mcp-bash" "$@"
