#!/usr/bin/env bash
# Asks for something, with a child beside it, and tells both processes' ids.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

sleep 600 &
mcp_elicit "$$ $!" '{"type":"object","properties":{}}' || true
