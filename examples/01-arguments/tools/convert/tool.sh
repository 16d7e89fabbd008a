#!/usr/bin/env bash
# Converts a temperature. The server has validated the arguments against the schema of tool.meta.json.
# The script checks only the conditions that a schema cannot express.
source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"

value=$(mcp_args_require '.value')
from=$(mcp_args_require '.from')
to=$(mcp_args_require '.to')

read -r kelvin result lowest < <(LC_ALL=C awk -v value="$value" -v from="$from" -v to="$to" '
  function to_kelvin(v, unit) {
    return unit == "celsius" ? v + 273.15 : unit == "fahrenheit" ? (v + 459.67) * 5 / 9 : v
  }
  function from_kelvin(k, unit) {
    return unit == "celsius" ? k - 273.15 : unit == "fahrenheit" ? k * 9 / 5 - 459.67 : k
  }
  BEGIN {
    k = to_kelvin(value, from)
    printf "%s %.2f %.2f\n", k < 0 ? "impossible" : "possible", from_kelvin(k, to), from_kelvin(0, from)
  }')

if [[ $kelvin == impossible ]]; then
  # An error that the model sees and can correct: a result, not a failure.
  mcp_error out_of_range "${value} ${from} is below absolute zero." \
    --hint "The lowest temperature there is: ${lowest} ${from}." \
    --data "$(mcp_json_typed_obj lowest number "$lowest")"
  exit 0
fi
mcp_emit_json "$(mcp_json_typed_obj value number "$result" unit string "$to")"
