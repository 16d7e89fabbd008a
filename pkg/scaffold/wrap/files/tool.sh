#!/usr/bin/env bash
# Runs __COMMAND__. "__BY__" generated this from __SOURCE__. Change it as you like:
# "__BY__ --update" keeps your changes.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-bash run-tool __NAME__ --allow-self}/tool-sdk.sh"

# Each value becomes one word of the command line, whatever is in it, and never shell code or an option.
__BODY__
