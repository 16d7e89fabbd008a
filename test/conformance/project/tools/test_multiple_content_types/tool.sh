#!/usr/bin/env bash
# Answers with text, an image and a resource.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/content.sh"

answer \
  "$(text 'Multiple content types test:')" \
  "$(image "${MCPBASH_PROJECT_ROOT}/resources/static-binary.png")" \
  "$(resource test://mixed-content-resource application/json '{"test":"data","value":123}')"
