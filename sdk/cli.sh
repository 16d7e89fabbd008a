# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Other programs: their location (mcp_detect_cli), and their error messages (mcp_extract_cli_error).

__mcp_load common

__mcp_detect_cli() { # NAME [HINT]
  local _name=${1-} _variable _in
  __mcp_load strings
  __mcp_upper "${_name//-/_}"
  _variable=${__mcp_reply}_CLI
  case $_variable in
    [0123456789]* | *[!$__mcp_word]*) ;;
    *)
      if [[ -n ${!_variable-} ]]; then
        printf '%s\n' "${!_variable}"
        return 0
      fi
      ;;
  esac
  for _in in .pyenv/shims .asdf/shims .local/share/mise/shims .rbenv/shims .goenv/shims .local/bin .cargo/bin \
    .volta/bin .local/share/fnm/aliases/default/bin /opt/homebrew/bin /usr/local/bin /usr/bin /bin; do
    if [[ $_in != /* ]]; then
      [[ -n ${HOME-} ]] || continue
      _in=$HOME/$_in
    fi
    if [[ -n $_name && -f $_in/$_name && -x $_in/$_name ]]; then
      printf '%s\n' "$_in/$_name"
      return 0
    fi
  done
  while IFS= read -r _in; do
    if [[ -n $_in && -n $_name && -f $_in/$_name && -x $_in/$_name ]]; then
      printf '%s\n' "$_in/$_name"
      return 0
    fi
  done <<<"$(compgen -G "${HOME-}/.nvm/versions/node/*/bin")"
  if [[ -n $_name ]] && command -v -- "$_name" 2>/dev/null; then return 0; fi
  printf 'ERROR: %s not found.%s Or set %s=/path/to/%s\n' "$_name" "${2:+ Install: $2}" "$_variable" "$_name" >&2
  return 1
}

__mcp_extract_cli_error() { # STDOUT STDERR EXIT_CODE
  if [[ ${1-} == *\{* ]] && __mcp_full && __mcp_helper cli-error <<<"$1" && [[ -n $__mcp_reply ]]; then
    return 0
  fi
  __mcp_reply=${2-}
  [[ -n $__mcp_reply ]] || __mcp_reply="CLI exited with code ${3-}"
}
