# Bash completion for the commands of mcp-bash. Source it, or put it where your
# system looks (make install does). The commands know what may follow.

# __mcp_bash_paths -f|-d WORD: the files or directories that begin with a word.
__mcp_bash_paths() {
  local path
  while IFS= read -r path; do COMPREPLY[${#COMPREPLY[@]}]="$path"; done < <(compgen "$1" -- "$2")
}

__mcp_bash() {
  local current="${COMP_WORDS[COMP_CWORD]}" line words=() i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [ "${COMP_WORDS[i]}" = = ] || words[${#words[@]}]="${COMP_WORDS[i]}"
  done
  [ "$current" != = ] || current=''
  words[${#words[@]}]="$current"
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files | *=:files) __mcp_bash_paths -f "$current" ;;
      :directories | *=:directories) __mcp_bash_paths -d "$current" ;;
      *) COMPREPLY[${#COMPREPLY[@]}]="${line%%$'\t'*}" ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
}
complete -F __mcp_bash mcp-bash mcp-runtool mcp-registry mcp-scaffold mcp-doctor mcp-bundle
