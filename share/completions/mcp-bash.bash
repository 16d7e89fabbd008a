# Bash completion for mcp-bash, mcp-runtool and mcp-registry. Source it, or put it
# where your system looks (make install does). Zsh reads it after
# "autoload -U +X bashcompinit && bashcompinit".

__mcp_bash_options() {
  "$@" --help 2>/dev/null | grep -oE -- '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,' | sort -u
}

# The tools of the project around the working directory, from its registry.
__mcp_bash_tools() {
  local dir="${MCPBASH_PROJECT_ROOT:-$PWD}"
  while [ "$dir" != / ] && [ -n "$dir" ]; do
    if [ -f "$dir/.registry/tools.json" ]; then
      grep -oE '^      "name": "[^"]*"' "$dir/.registry/tools.json" | cut -d'"' -f4
      return
    fi
    dir="${dir%/*}"
  done
}

__mcp_bash() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}" words='' command
  command=("${COMP_WORDS[0]}")
  local first=1
  if [ "${COMP_WORDS[0]##*/}" = mcp-bash ]; then
    if [ "$COMP_CWORD" -eq 1 ]; then
      words='serve debug run-tool registry ui-template provider --help --version'
    else
      command+=("${COMP_WORDS[1]}")
      first=2
    fi
  fi
  case "$previous" in
    --project-root | --source | --filter)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --capability) words='FileSystem Process Network Search Edit' ;;
    --level) words='restricted standard elevated full' ;;
    --allow) words="$(__mcp_bash_tools)" ;;
  esac
  if [ -z "$words" ]; then
    case "$current:${command[*]##*/}" in
      -*) words="$(__mcp_bash_options "${command[@]}")" ;;
      *registry)
        case "$COMP_CWORD:${COMP_WORDS[first]}" in
          "$first":*) words='refresh status register unregister get list' ;;
          *:get | *:unregister) words="$(__mcp_bash_tools)" ;;
          *:register) mapfile -t COMPREPLY < <(compgen -f -- "$current") && return ;;
        esac
        ;;
      *\ provider) [ "$COMP_CWORD" -gt "$first" ] || words='file https git echo ui' ;;
      *ui-template) [ "$COMP_CWORD" -gt "$first" ] || words='form data-table progress diff-viewer tree-view kanban' ;;
      *run-tool | *runtool) [ "$COMP_CWORD" -gt "$first" ] || words="$(__mcp_bash_tools)" ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F __mcp_bash mcp-bash mcp-runtool mcp-registry
