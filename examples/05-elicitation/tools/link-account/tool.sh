#!/usr/bin/env bash
# Sends the user to a web page, for data that must not pass through the client, such as passwords.
# The answer means only that the user agreed to open the page.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT}/lib/answer.sh"

can_ask 'Give the user this address: https://example.com/link'

answer=$(mcp_elicit_url 'Link your account' 'https://example.com/link') || true
accepted "$answer" 'Not linked'
mcp_emit_text 'The page was opened. Call again to see whether the account is linked.'
