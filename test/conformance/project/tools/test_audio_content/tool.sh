#!/usr/bin/env bash
# Answers with a sound.
source "${MCP_SDK:?}/tool-sdk.sh"
source "${MCPBASH_PROJECT_ROOT:?}/lib/content.sh"

answer "$(audio "${BASH_SOURCE[0]%/*}/silence.wav")"
