#!/usr/bin/env bash
# Answers with an image.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_result_image "${MCPBASH_PROJECT_ROOT}/resources/static-binary.png"
