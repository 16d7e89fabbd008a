#!/usr/bin/env bash
# Prints the log of an invented web server. It can be larger than memory: the server writes it to a file.
# shellcheck source=/dev/null
source "${MCP_SDK:?is not set: run this tool with mcp-runtool requests --allow-self}/tool-sdk.sh"

lines=$(mcp_args_int .lines --default 20000 --min 1 --max 3000000)
awk -v lines="$lines" 'BEGIN {
  for (n = 1; n <= lines; n++)
    printf "request %07d /page/%d %s\n", n, n % 97, n % 4999 ? "200 ok" : "500 disk full"
}'
