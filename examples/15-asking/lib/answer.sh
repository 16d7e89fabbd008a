# shellcheck shell=bash
# Functions that read the model's answers, for the tools of this project.

# text_of FILTER ANSWER: prints the text of a message, or nothing if it has no text.
text_of() { "$MCPBASH_JSON_TOOL_BIN" -r "[$1 | .content] | flatten | map(.text // empty) | join(\"\\n\")" <<<"$2"; }
