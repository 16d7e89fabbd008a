#!/usr/bin/env bash
# Counts the lines and words of every text below a directory.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

directory=$(mcp_require_path '.path' --default-to-single-root)
files=()
while IFS= read -r file; do
  files+=("$file")
done < <(find "$directory" -type f -name '*.txt' | LC_ALL=C sort)
total=${#files[@]}
if ((total == 0)); then
  mcp_error nothing_found "There are no texts in ${directory}."
  exit 0
fi

lines=0 words=0 done=0
for file in "${files[@]}"; do
  read -r l w < <(wc -lw <"$file")
  lines=$((lines + l)) words=$((words + w)) done=$((done + 1))
  mcp_progress $((100 * done / total)) "${file#"$directory"/}: ${w} words" 100
done
mcp_emit_json "{\"texts\":${total},\"lines\":${lines},\"words\":${words}}"
