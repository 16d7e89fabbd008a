# shellcheck shell=bash
# What the model answered, for the tools of this project.

# text_of FILTER ANSWER: the text of a message; nothing where there is none.
text_of() { "$MCPBASH_JSON_TOOL_BIN" -r "[$1 | .content] | flatten | map(.text // empty) | join(\"\\n\")" <<<"$2"; }
