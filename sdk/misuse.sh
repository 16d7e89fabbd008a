# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Messages for authors of tools about wrong calls.

__mcp_load common

__mcp_no_json() { # TEXT
  local _shown=${1:0:100}
  printf 'mcp_emit_json: %s, so the client gets text; %s: %s\n' 'not one JSON value' \
    'mcp_json_typed_obj writes JSON whatever the values hold' "${_shown//[$__mcp_blank]/ }" >&2
}

__mcp_not_alone() { # WHO
  local _why='a result before; the client gets both as one text, and no error'
  case $__mcp_said in
    mcp_error | mcp_result_error) _why='an error before; the client gets that error alone' ;;
  esac
  printf '%s: %s has printed %s\n' "$1" "$__mcp_said" "$_why" >&2
}

__mcp_obj_odd() { # NUMBER
  printf 'mcp_json_obj: expected even number of arguments (key value ...), got %s\n' "$1" >&2
}

__mcp_into_name() {
  printf 'mcp_into: invalid variable name\n' >&2
  return 2
}

__mcp_into_function() { # FUNCTION
  printf 'mcp_into: %s gives no answer\n' "${1:-nothing}" >&2
  return 2
}
