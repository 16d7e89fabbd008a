#!/usr/bin/env bash
# Fails after a second.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

sleep 1
mcp_result_error '{"type":"job_failed","message":"The job failed."}'
