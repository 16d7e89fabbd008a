#!/usr/bin/env bash
# Answers with a resource.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/content.sh"

answer "$(resource test://embedded-resource text/plain 'This is an embedded resource content.')"
