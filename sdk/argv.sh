# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Command lines of programs: mcp_argv_switch, mcp_argv_option and mcp_argv_operand append words to
# an array of the tool. Each word is exactly the client's value, and no value becomes an option.

__mcp_load common arguments

__mcp_argv_array() { # ARRAY: rc 0 if a tool may use the name
  case $1 in
    '' | *[!$__mcp_word]* | [0123456789]* | _*) __mcp_failure="mcp_argv: not the name of an array: $1" && return 1 ;;
  esac
}

__mcp_argv_push() { # ARRAY WORD...
  local _to=$1
  shift
  eval "$_to+=(\"\$@\")" # the name was checked, and the words are not parsed again
}

# The value of POINTER with its final newlines, which the other getters remove. rc 1: no value.
__mcp_argv_value() { # POINTER
  local _text=${MCP_TOOL_ARGS_JSON-} _kind
  [[ ! -f ${MCP_TOOL_ARGS_FILE-} ]] || _text='\n"\u0000'
  if ! __mcp_argument "$1" || [[ $__mcp_kind == [ze?-] ]]; then
    return 1
  fi
  [[ $__mcp_kind == s ]] || return 0
  _kind=$__mcp_kind
  case $_text in
    *'\u0000'*)
      __mcp_argument "$1 | contains(\"\\u0000\")"
      if [[ $__mcp_reply == true ]]; then
        __mcp_failure="$1 holds a NUL, which no argument of a program can" __mcp_reply=''
        return 1
      fi
      __mcp_argument "$1"
      ;;
  esac
  case $_text in
    *'\n"'*)
      __mcp_argument "$1 + \".\""
      __mcp_reply=${__mcp_reply%.}
      ;;
  esac
  __mcp_kind=$_kind
}

__mcp_argv_switch() { # ARRAY POINTER WORD [WORD_FOR_FALSE [DEFAULT]]
  local _n
  __mcp_argv_array "${1-}" || return 0
  __mcp_argument "${2-}" || __mcp_kind=-
  [[ $__mcp_kind != [ze-] || ${5-} != true ]] || __mcp_kind=t
  case $__mcp_kind in
    t) __mcp_reply='' && __mcp_argv_push "$1" "$3" ;;
    x) __mcp_reply='' && if [[ -n ${4-} ]]; then __mcp_argv_push "$1" "$4"; fi ;;
    z | e | -) __mcp_reply='' ;;
    i) # repeat the word
      _n=$__mcp_reply __mcp_reply=''
      case $_n in [0123456789]) ;; *) __mcp_failure="$2 must be a number from 0 to 9" && return 0 ;; esac
      while ((_n-- > 0)); do __mcp_argv_push "$1" "$3"; done
      ;;
    *) __mcp_reply='' __mcp_failure="$2 must be true or false" ;;
  esac
}

__mcp_argv_option() { # ARRAY POINTER WORD FLAG...
  local _array=${1-} _pointer=${2-} _word=${3-} _how=apart _path='' _any='' _one='' _default='' _unless='' _relative=''
  __mcp_argv_array "$_array" || return 0
  case $_word in *=) _how=joined ;; esac
  shift "$(($# < 3 ? $# : 3))"
  __mcp_argv_flags "$@"
  __mcp_argv_each "$_array" "$_pointer"
}

__mcp_argv_operand() { # ARRAY POINTER FLAG...
  local _array=${1-} _pointer=${2-} _word='' _how=operand _path='' _any='' _one='' _default='' _unless='' _relative=''
  __mcp_argv_array "$_array" || return 0
  shift "$(($# < 2 ? $# : 2))"
  __mcp_argv_flags "$@"
  __mcp_argv_each "$_array" "$_pointer"
}

__mcp_argv_flags() { # FLAG...
  while (($#)); do
    case $1 in
      --attached) _how=attached ;;
      --path) _path=1 ;;
      --relative) _relative=1 ;;
      --any) _any=1 ;;
      --one) _one=1 ;;
      --default) _default=${2-} && shift ;;
      --unless) _unless=${2-} && shift ;;
    esac
    shift
  done
}

# Fails unless the call has one of the arguments.
__mcp_argv_need() { # POINTER...
  local _pointer _list=$* _comma=', '
  for _pointer; do
    __mcp_argument "$_pointer" || continue
    [[ $__mcp_kind != a ]] || __mcp_argument "${_pointer}[0]" || continue
    [[ $__mcp_kind == [ze] ]] || { __mcp_reply='' && return 0; }
  done
  _list=${_list// /"$_comma"} # Bash 3.2 keeps the quotes in a text that is quoted
  __mcp_reply='' __mcp_failure="one of $_list is required"
}

# One value, or each element of a list. With --one, the option appears once before all of them.
__mcp_argv_each() { # ARRAY POINTER
  local _i=0
  __mcp_argument "$2" || __mcp_kind=-
  if [[ $__mcp_kind == [ze-] ]]; then
    [[ -z $_default ]] || __mcp_argv_default "$1" "$2"
  elif [[ $__mcp_kind != a ]]; then
    __mcp_argv_add "$1" "$2"
  else
    while [[ -z $__mcp_failure ]]; do
      __mcp_argument "$2[$_i]" || break
      [[ $__mcp_kind != [ze] ]] || break
      __mcp_argv_add "$1" "$2[$_i]"
      [[ -z $_one ]] || _how=operand
      _i=$((_i + 1))
    done
  fi
  __mcp_reply=''
}

# The default "." of a path is the only root. Another default is the author's own word.
__mcp_argv_default() { # ARRAY POINTER
  __mcp_reply=$_default __mcp_kind=i
  if [[ -n $_path && $_default == . ]]; then
    __mcp_load roots
    __mcp_require_path "$2" --default-to-single-root
    [[ -z $__mcp_failure ]] || return 0
  fi
  _path='' __mcp_kind=i
  __mcp_argv_push_value "$1" "$2"
}

__mcp_argv_add() { # ARRAY POINTER
  local _slash=''
  __mcp_argv_value "$2" || return 0
  case $__mcp_kind$_how in
    [oa]*) __mcp_failure="$2 must be a single value" && return 0 ;;
    toperand | xoperand) ;;
    t*) __mcp_argv_push "$1" "${_word%=}" && return 0 ;; # an option without a value
    x*) return 0 ;;
  esac
  # "-" is standard input or output, not a path. /dev/null is in no root, and harmless.
  if [[ -n $_path && $__mcp_reply != - && $__mcp_reply != /dev/null &&
    ! ( -n $_unless && $__mcp_reply =~ $_unless ) ]]; then
    if [[ -z $__mcp_reply ]]; then
      __mcp_failure="$2 is empty" && return 0
    fi
    __mcp_load roots
    case $__mcp_reply in */) _slash=/ ;; esac # which has a meaning for rsync and others
    __mcp_require_path "$2"
    [[ -z $__mcp_failure ]] || return 0
    case $__mcp_reply in */) ;; *) __mcp_reply=$__mcp_reply$_slash ;; esac
    [[ -z $_relative ]] || __mcp_argv_relative
  fi
  __mcp_argv_push_value "$1" "$2"
}

# Makes a path below the working directory relative to it.
__mcp_argv_relative() {
  case $__mcp_reply in
    "$PWD" | "$PWD/") __mcp_reply=.${__mcp_reply#"$PWD"} ;;
    "$PWD"/-*) __mcp_reply=./${__mcp_reply#"$PWD"/} ;;
    "$PWD"/*) __mcp_reply=${__mcp_reply#"$PWD"/} ;;
  esac
}

__mcp_argv_push_value() { # ARRAY POINTER
  # A separate word that begins with a dash could be read as an option. Numbers and a single dash could not.
  local _free=$_any
  [[ -n $_path || -z $_unless || ! $__mcp_reply =~ $_unless ]] || _free=1
  case $_how$_free:$__mcp_kind:$__mcp_reply in
    operand:s:-?* | apart:s:-?*)
      __mcp_failure="$2 begins with a dash, and the program could take it for an option" __mcp_reply=''
      return 0
      ;;
  esac
  case $_how in
    joined) __mcp_argv_push "$1" "$_word$__mcp_reply" ;;
    attached)
      if [[ -n $__mcp_reply ]]; then
        __mcp_argv_push "$1" "$_word$__mcp_reply"
      else # the next word would become the value
        __mcp_argv_push "$1" "$_word" ''
      fi
      ;;
    apart) __mcp_argv_push "$1" "$_word" "$__mcp_reply" ;;
    operand) __mcp_argv_push "$1" "$__mcp_reply" ;;
  esac
}

# Runs a program that prints JSON, and prints one object, which clients get as structured content.
# Lists and lines of JSON become the member "items". Text stays text.
__mcp_argv_json() { # COMMAND ARG...
  local __mcp_rc=0 __mcp_out __mcp_list='' __mcp_between="}$__mcp_nl{" __mcp_comma='},{'
  __mcp_out=$("$@") || __mcp_rc=$?
  case $__mcp_out in
    [[]*) __mcp_list=$__mcp_out ;;
    \{*"$__mcp_between"*) __mcp_list=${__mcp_out//"$__mcp_between"/"$__mcp_comma"} && __mcp_list="[$__mcp_list]" ;;
  esac
  if [[ -n $__mcp_list ]] && mcp_is_valid_json "$__mcp_list"; then
    __mcp_out="{\"items\":$__mcp_list}"
  fi
  printf %s "$__mcp_out"
  return "$__mcp_rc"
}
