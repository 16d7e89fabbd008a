#!/usr/bin/env bash
# Downloads a file into downloads/, from the hosts that the configuration allows.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

url=$(mcp_args_require '.url')
name=$(mcp_args_require '.name')
[[ $name =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*$ ]] || mcp_fail_invalid_args '.name must be a plain file name'

# Later wins: defaults, example, the operator's file, the operator's variable
# (JSON, or the path of a file).
mcp_config_load \
  --env MCP_DOWNLOAD_CONFIG \
  --file config/download.json \
  --example config/download.example.json \
  --defaults '{"allow":[],"maxBytes":1048576,"timeout":15}'

options=(--max-bytes "$(mcp_config_get '.maxBytes')" --timeout "$(mcp_config_get '.timeout')" --retry 2)
for host in $(mcp_config_get '.allow[]' --default ''); do
  options+=(--allow "$host")
done

mkdir -p downloads
answer=$(mcp_download_safe --url "$url" --out "downloads/${name}" "${options[@]}")
problem=$("$MCPBASH_JSON_TOOL_BIN" -r '.error.type // empty' <<<"$answer")
if [[ -n $problem ]]; then
  mcp_error "$problem" "$("$MCPBASH_JSON_TOOL_BIN" -r .error.message <<<"$answer")" \
    --hint "Allowed hosts: $(mcp_config_get '.allow | join(", ")')"
  exit 0
fi
mcp_emit_json "$answer"
