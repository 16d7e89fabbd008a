# shellcheck shell=bash
# Changes of what the project offers, for the tools of this project.

# pass KIND NAME: moves a directory from aside/ to that of a kind, or back, in one step.
pass() {
  local here=${MCPBASH_PROJECT_ROOT:?}/$1/$2 aside=${MCPBASH_PROJECT_ROOT:?}/aside/$2
  if [[ -d $here ]]; then
    mv "$here" "$aside"
    mcp_emit_text "$2 is gone."
  else
    mv "$aside" "$here"
    mcp_emit_text "$2 is here."
  fi
}
