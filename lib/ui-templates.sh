# shellcheck shell=bash
# The UI templates, for scripts that source this file of the Bash edition by hand: each function prints a page. The
# configuration is a JSON object (docs/MCP-APPS.md).
mcp_ui_template_form() { mcp_ui_generate_from_template form "$@"; }
mcp_ui_template_data_table() { mcp_ui_generate_from_template data-table "$@"; }
mcp_ui_template_progress() { mcp_ui_generate_from_template progress "$@"; }
mcp_ui_template_diff_viewer() { mcp_ui_generate_from_template diff-viewer "$@"; }
mcp_ui_template_tree_view() { mcp_ui_generate_from_template tree-view "$@"; }
mcp_ui_template_kanban() { mcp_ui_generate_from_template kanban "$@"; }

mcp_ui_generate_from_template() { # NAME [CONFIG]
  # shellcheck source=/dev/null
  . "$__mcp_ui_templates/program.sh" || return 1
  "$MCPBASH_HELPER_BIN" --helper ui-template "${1-}" <<<"${2-}"
}

case ${BASH_SOURCE[0]} in
  /* | [A-Za-z]:[\\/]*) __mcp_ui_templates=${BASH_SOURCE[0]} ;;
  *) __mcp_ui_templates=$PWD/${BASH_SOURCE[0]} ;;
esac
__mcp_ui_templates=${__mcp_ui_templates%/*}
