# shellcheck shell=bash
# Content of results, for the tools of this project.

text() { printf '{"type":"text","text":%s}' "$(mcp_json_escape "$1")"; } # TEXT

image() { printf '{"type":"image","data":"%s","mimeType":"image/png"}' "$(base64 <"$1" | tr -d '\n')"; } # FILE

resource() { # URI TYPE TEXT
  printf '{"type":"resource","resource":{"uri":"%s","mimeType":"%s","text":%s}}' "$1" "$2" "$(mcp_json_escape "$3")"
}

# answer ITEM...: the whole result.
answer() {
  local IFS=,
  mcp_emit_json "{\"content\":[$*],\"isError\":false}"
}
