# shellcheck shell=bash
# The functions that server.d/register.sh may call. Each call writes three
# texts, each followed by a NUL, to a file. The server checks them after the script ends.
# Runs in Bash 3.2. $1 is the script, $2 the file for the calls, $3 the minimum level
# of log messages.

__mcp_registry_script=$1 __mcp_registry_calls=$2 __mcp_registry_level=$3
set --

__mcp_registry_call() {
  printf '%s\0' "$1" "$2" "$3" >>"$__mcp_registry_calls"
  return 0
}

mcp_tools_manual_begin() { __mcp_registry_call begin tools ''; }
mcp_tools_register_manual() { __mcp_registry_call register tools "${1-}"; }
mcp_tools_manual_finalize() { __mcp_registry_call finalize tools ''; }
mcp_tools_manual_abort() { __mcp_registry_call abort tools ''; }
mcp_register_tool() { __mcp_registry_call register tools "${1-}"; }

mcp_resources_manual_begin() { __mcp_registry_call begin resources ''; }
mcp_resources_register_manual() { __mcp_registry_call register resources "${1-}"; }
mcp_resources_manual_finalize() { __mcp_registry_call finalize resources ''; }
mcp_resources_manual_abort() { __mcp_registry_call abort resources ''; }
mcp_register_resource() { __mcp_registry_call register resources "${1-}"; }

mcp_resources_templates_manual_begin() { __mcp_registry_call begin resourceTemplates ''; }
mcp_resources_templates_register_manual() { __mcp_registry_call register resourceTemplates "${1-}"; }
mcp_resources_templates_manual_finalize() { __mcp_registry_call finalize resourceTemplates ''; }
mcp_resources_templates_manual_abort() { __mcp_registry_call abort resourceTemplates ''; }

mcp_prompts_manual_begin() { __mcp_registry_call begin prompts ''; }
mcp_prompts_register_manual() { __mcp_registry_call register prompts "${1-}"; }
mcp_prompts_manual_finalize() { __mcp_registry_call finalize prompts ''; }
mcp_prompts_manual_abort() { __mcp_registry_call abort prompts ''; }
mcp_register_prompt() { __mcp_registry_call register prompts "${1-}"; }

mcp_completion_manual_begin() { __mcp_registry_call begin completions ''; }
mcp_completion_register_manual() { __mcp_registry_call register completions "${1-}"; }
mcp_completion_manual_finalize() { __mcp_registry_call finalize completions ''; }
mcp_completion_manual_abort() { __mcp_registry_call abort completions ''; }

mcp_logging_debug() { __mcp_registry_call debug "${1-}" "${2-}"; }
mcp_logging_info() { __mcp_registry_call info "${1-}" "${2-}"; }
mcp_logging_notice() { __mcp_registry_call notice "${1-}" "${2-}"; }
mcp_logging_warning() { __mcp_registry_call warning "${1-}" "${2-}"; }
mcp_logging_error() { __mcp_registry_call error "${1-}" "${2-}"; }
mcp_logging_critical() { __mcp_registry_call critical "${1-}" "${2-}"; }
mcp_logging_alert() { __mcp_registry_call alert "${1-}" "${2-}"; }
mcp_logging_emergency() { __mcp_registry_call emergency "${1-}" "${2-}"; }

# An unknown level counts as info. Messages of the minimum level or higher are logged.
mcp_logging_is_enabled() {
  local level seen=1
  for level in debug info notice warning error critical alert emergency; do
    [ "$level" != "$__mcp_registry_level" ] || seen=0
    [ "$level" != "${1-}" ] || return "$seen"
  done
  mcp_logging_is_enabled info
}

# shellcheck disable=SC1090
source "$__mcp_registry_script"
