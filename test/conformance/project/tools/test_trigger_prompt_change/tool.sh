#!/usr/bin/env bash
# Changes the list of prompts.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/passing.sh"

pass prompts test_passing_prompt
