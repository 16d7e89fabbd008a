#!/usr/bin/env bash
# Answers with an image.
source "${MCP_SDK:?}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/content.sh"

answer "$(image "${MCPBASH_PROJECT_ROOT}/resources/static-binary.png")"
