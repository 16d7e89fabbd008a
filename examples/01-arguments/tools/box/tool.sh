#!/usr/bin/env bash
# Draws a box around a text. The server does not validate the arguments of this
# tool ("validateInput": false), so the getters do: what is wrong ends the tool.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

text=$(mcp_args_require '.text' 'Give the text to put into the box: .text')
width=$(mcp_args_int '.width' --default 30 --min 10 --max 80)
upper=$(mcp_args_bool '.upper' --default false)
border=$(mcp_args_get '.border' --default single)

case $border in
  single) corner=+ horizontal=- vertical='|' ;;
  double) corner='#' horizontal='=' vertical='#' ;;
  *) mcp_fail_invalid_args '.border must be single or double' ;;
esac
if [[ $upper == true ]]; then
  text=$(tr '[:lower:]' '[:upper:]' <<<"$text")
fi

read -r -d '' -a words <<<"$text" || true
((${#words[@]} > 0)) || mcp_fail_invalid_args '.text has no words in it'

room=$((width - 4))
rule=$(printf "%$((width - 2))s" '')
rule=$corner${rule// /"$horizontal"}$corner

row() { printf '%s %s%*s %s\n' "$vertical" "$1" $((room - ${#1})) '' "$vertical"; }

picture=$rule$'\n' line=''
for word in "${words[@]}"; do
  if ((${#word} > room)); then
    mcp_error word_too_long "\"${word}\" does not fit into a box of width ${width}." \
      --hint "It needs a width of $((${#word} + 4))."
    exit 0
  fi
  if [[ -n $line ]] && ((${#line} + 1 + ${#word} > room)); then
    picture+=$(row "$line")$'\n' line=''
  fi
  line+=${line:+ }$word
done
picture+=$(row "$line")$'\n'$rule
mcp_emit_text "$picture"
