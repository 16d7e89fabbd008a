# Bash completion for the commands of mcp-bash. Source it, or put it where your
# system looks (make install does). The commands know what may follow.

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
      :files | *=:files) while IFS= read -r line; do COMPREPLY[${#COMPREPLY[@]}]="$line"; done < <(compgen -f -- "$current") ;;
      :directories | *=:directories) while IFS= read -r line; do COMPREPLY[${#COMPREPLY[@]}]="$line"; done < <(compgen -d -- "$current") ;;
      *) COMPREPLY[${#COMPREPLY[@]}]="${line%%$'\t'*}" ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
}
complete -F __mcp_bash mcp-bash mcp-runtool mcp-registry mcp-scaffold mcp-doctor mcp-bundle
