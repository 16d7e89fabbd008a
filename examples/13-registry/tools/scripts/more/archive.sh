#!/usr/bin/env bash
# Packs the notes into one file. In this folder nothing is found: the tool waits to be registered.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

level=$(mcp_args_int '.level' --default 6 --min 1 --max 9)
cat notes/*.md | gzip "-$level" >notes/archive.gz
mcp_emit_text 'notes/archive.gz'
