#!/usr/bin/awk -f
# Counts the letters a to z of a text. The arguments are JSON; awk cannot read
# that, but a jq is always at hand.
BEGIN {
  arguments = "if [ -f \"${MCP_TOOL_ARGS_FILE-}\" ]; then cat \"$MCP_TOOL_ARGS_FILE\"; else printf %s \"$MCP_TOOL_ARGS_JSON\"; fi"
  read_text = arguments " | \"$MCPBASH_JSON_TOOL_BIN\" -r .text"
  while ((read_text | getline line) > 0)
    text = text tolower(line)

  for (i = 1; i <= 26; i++) {
    letter = substr("abcdefghijklmnopqrstuvwxyz", i, 1)
    count = gsub(letter, "", text)
    if (count) {
      printf "%s\"%s\":%d", total ? "," : "{", letter, count
      total += count
    }
  }
  print total ? "}" : "{}"
}
