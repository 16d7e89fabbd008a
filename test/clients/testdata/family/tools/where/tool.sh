#!/usr/bin/env bash
# Says where it found the SDK.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
mcp_emit_json "$(mcp_json_obj sdk "$MCP_SDK" home "$MCPBASH_HOME" \
  version "$MCPBASH_FRAMEWORK_VERSION" jq "$("$MCPBASH_JSON_TOOL_BIN" -n '1+1')")"
