#!/usr/bin/env bash
# Sums up every file below data/, with a progress report for each.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

cd data
files=()
while IFS= read -r file; do
  files+=("$file")
done < <(find . -type f | LC_ALL=C sort)
total=${#files[@]}
mcp_log_info checksums "${total} files to read"

rows=() done=0
while ((done < total)); do
  file=${files[done]#./}
  if [[ ! -s $file ]]; then
    mcp_log_warn checksums "${file} is empty"
  fi
  read -r sum bytes < <(cksum <"$file")
  mcp_into row mcp_json_typed_obj file string "$file" bytes integer "$bytes" crc integer "$sum"
  rows+=(json "$row")
  done=$((done + 1))
  mcp_progress $((100 * done / total)) "$file" 100
done
list=$(mcp_json_typed_arr ${rows[@]+"${rows[@]}"})
mcp_emit_json "$(mcp_json_typed_obj files json "$list" total integer "$total")"
