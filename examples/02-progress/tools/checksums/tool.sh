#!/usr/bin/env bash
# Sums up every file below data/, with a progress report for each.
source "${MCP_SDK:?}/tool-sdk.sh"

cd data
files=()
while IFS= read -r file; do
  files+=("$file")
done < <(find . -type f | LC_ALL=C sort)
total=${#files[@]}
mcp_log_info checksums "${total} files to read"

rows='' done=0
while ((done < total)); do
  file=${files[done]#./}
  if [[ ! -s $file ]]; then
    mcp_log_warn checksums "${file} is empty"
  fi
  read -r sum bytes < <(cksum <"$file")
  rows+="${rows:+,}{\"file\":$(mcp_json_escape "$file"),\"bytes\":${bytes},\"crc\":${sum}}"
  done=$((done + 1))
  mcp_progress $((100 * done / total)) "$file" 100
done
mcp_emit_json "{\"files\":[${rows}],\"total\":${total}}"
