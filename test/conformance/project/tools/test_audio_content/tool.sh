#!/usr/bin/env bash
# Answers with a sound.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_result_audio "${BASH_SOURCE[0]%/*}/silence.wav"
