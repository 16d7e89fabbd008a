# shellcheck shell=bash
# Graphical clients start servers with a short PATH and few variables. Therefore this script
# exports the variables of your shell's profiles to the server. A separate Bash reads each
# profile, for at most 5 seconds. Its output cannot get into the protocol, and its failure does
# not end this script.
_profile_reader='
  _print_exports() { unset PWD OLDPWD SHLVL; set -o posix; export -p >&3; printf "\0" >&3; }
  exec 3>&1 >/dev/null
  printf "%s\0" "$$" >&3
  trap _print_exports EXIT
  . "$1" 3>&-
  trap - EXIT
  _print_exports
'
_source_profile() {
  local child='' exports=''
  [[ -f $1 && -r $1 ]] || return 0
  {
    if IFS= read -r -d '' -t 5 child && ! IFS= read -r -d '' -t 5 exports; then
      kill -KILL "$child" || :
      exports=''
    fi
  } 2>/dev/null < <(exec "$BASH" --norc --noprofile -c "$_profile_reader" bash "$1" </dev/null 2>/dev/null)
  set +eu
  eval "$exports" </dev/null >/dev/null 2>&1
  set -eu
}
if [[ -n ${HOME:-} ]]; then
  _source_profile "${HOME}/.zprofile"
  _source_profile "${HOME}/.zshrc"
  _source_profile "${HOME}/.bash_profile"
  _source_profile "${HOME}/.profile"
  _source_profile "${HOME}/.bashrc"
fi
