#!/usr/bin/env bash
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

mcp_input_request roots roots/list
mcp_input_request joke sampling/createMessage \
  '{"messages":[{"role":"user","content":{"type":"text","text":"Tell a joke"}}],"maxTokens":50}'
mcp_input_request sure elicitation/create \
  '{"message":"Sure?","requestedSchema":{"type":"object","properties":{"yes":{"type":"boolean"}}}}'
all=$(mcp_input_wait) && rc=0 || rc=$?
sample=$(mcp_sample --system 'Be brief' 'Say hello') || true
roots=$(mcp_roots_request) || true
mcp_emit_json "{\"rc\":${rc},\"all\":${all},\"sample\":${sample},\"roots\":${roots}}"
