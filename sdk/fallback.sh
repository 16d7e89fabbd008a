# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# The helpers of pkg/helper for copies of the SDK without our program, with readlink and jq or gojq.
# The helpers define the results: sdk/fallback_test.go compares both.

__mcp_load common

__mcp_fallback() { # HELPER ARG... <INPUT
  local _helper=${1//-/_}
  __mcp_reply=''
  [[ $_helper == path || $_helper == media || -n ${MCPBASH_JSON_TOOL_BIN-} ]] || return 1
  shift
  "__mcp_jq_$_helper" "$@"
}

__mcp_jq() { # ARG... <INPUT
  __mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" "$@" 2>/dev/null)
}

__mcp_jq_text='def text: if type == "string" then . else tojson end;'

__mcp_jq_get() { # FILTER
  local _input _rc=0 _kind
  _input=$(cat)
  __mcp_jq -c " ${1:-.}" <<<"$_input" || _rc=$?
  case $__mcp_reply in
    '') _kind=e ;;
    *"$__mcp_nl"*) _kind=m ;;
    \"*) _kind=s ;;
    null) _kind=z ;;
    true) _kind=t ;;
    false) _kind=x ;;
    \{*) _kind=o ;;
    \[*) _kind=a ;;
    *) _kind=i ;;
  esac
  [[ $_kind != [ms] ]] || __mcp_jq -rc " ${1:-.}" <<<"$_input"
  [[ $_kind == e && $_rc -ne 0 ]] || __mcp_reply=$_kind$__mcp_reply
  return "$_rc"
}

__mcp_jq_json() { __mcp_jq -cs 'if length == 1 then .[0] else error end'; }
__mcp_jq_quote() { __mcp_jq -Rs '.[:-1]'; }

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_success() { # MAX_TEXT_BYTES
  __mcp_jq -cs --argjson max "$1" "$__mcp_jq_text"'
    if length != 1 then
      {content: [{type: "text", text: "Error: input must be single JSON value"}],
        structuredContent: {success: false, error: {type: "internal_error",
          message: "Input contained multiple JSON values", count: length}}, isError: true}
    else
      .[0] as $data | {success: true, result: $data} as $all | ($all | tojson) as $text |
      {content: [{type: "text", text: (
        if ($text | utf8bytelength) <= $max then $text
        else "Success: " + ($data |
          if type == "array" then "array with \(length) items"
          elif type == "object" then "object with \(length) keys"
          else text | .[0:100] end)
        end)}], structuredContent: $all, isError: false}
    end'
}

__mcp_jq_error() {
  __mcp_jq -cs "$__mcp_jq_text"'
    if length != 1 then {message: "Error payload must be single JSON value", raw: "multiple values: \(length)"}
    elif .[0] | type != "object" then {message: "Error payload must be an object", raw: (.[0] | text)}
    else .[0] end |
    (if has("raw") and (has("type") | not) then {type: "internal_error"} + . else . end) |
    .type = (.type // "internal_error") | .message = (.message // "Unknown error") |
    {content: [{type: "text", text: (.message | text)}], structuredContent: {success: false, error: .}, isError: true}'
}

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_truncate() { # MAX_BYTES [PATH]
  local _text _path=${2-}
  _text=$(cat)
  if __mcp_jq -cs --argjson max "$1" --argjson keys "$(__mcp_path_keys "$_path")" --arg path "$_path" \
    --arg raw "$_text" '
    def size: tojson | utf8bytelength;
    def failed($type; $message): {result: null, truncated: false, error: {type: $type, message: $message}};
    def at($keys): reduce $keys[] as $key ([.]; if . == [] then [] elif .[0] == null then [null]
      elif .[0] | type == "object" then [.[0][$key]] else [] end);
    def cut($keys; $path):
      ($path != "") as $counts |
      . as $all | getpath($keys) as $list | (setpath($keys; []) | size) as $empty |
      if $counts and ($list | length) == 0 then {result: $all, truncated: false, kept: 0, total: 0}
      elif $empty > $max then
        if $counts then
          failed("output_too_large"; "Response too large (\($empty) bytes) even with empty array at \($path)")
        else {result: [], truncated: true, kept: 0, total: ($list | length),
          _warning: "individual items exceed max_bytes"} end
      else
        (reduce $list[] as $item ({size: $empty, kept: 0, full: false};
          (.size + ($item | size) + (if .kept > 0 then 1 else 0 end)) as $size |
          if .full or $size > $max then .full = true else .size = $size | .kept += 1 end) | .kept) as $kept |
        {result: setpath($keys; $list[:$kept]), truncated: ($kept < ($list | length)), kept: $kept,
          total: ($list | length)} |
        if .kept == 0 and ($counts | not) then ._warning = "individual items exceed max_bytes" else . end
      end;
    if length == 0 then failed("invalid_json"; "Empty input: expected exactly one JSON value") | .error.raw = $raw
    elif length > 1 then
      failed("invalid_json"; "Multiple JSON values found (\(length)): expected exactly one") | .error.raw = $raw
    else .[0] |
      if $keys != null then
        at($keys) as $found |
        if $found == [] then failed("invalid_path"; "Invalid path or malformed JSON: \($path)")
        elif $found[0] == null then failed("path_not_found"; "Path not found: \($path)")
        elif $found[0] | type != "array" then failed("invalid_array_path"; "Path is not an array: \($path)")
        else cut($keys; $path) end
      elif size <= $max then {result: ., truncated: false}
      elif type == "array" then cut([]; "")
      elif type == "object" and (.results | type) == "array" then cut(["results"]; ".results")
      else failed("output_too_large";
        "Response too large (\(size) bytes) and cannot be safely truncated (not an array)") end
    end' <<<"$_text"; then
    return 0
  fi
  __mcp_load truncate
  __mcp_quote "$_text"
  __mcp_truncate_error invalid_json "\"Invalid JSON: parse error\",\"raw\":$__mcp_reply"
}

__mcp_path_keys() { # PATH: .a.b becomes ["a","b"], an empty path null
  local _path=${1#.} _between='","'
  if [[ -z $_path ]]; then
    printf null
  else
    _path=${_path//./"$_between"}
    printf '["%s"]' "$_path"
  fi
}

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_cli_error() {
  __mcp_jq -rs "$__mcp_jq_text"'
    if length != 1 or (.[0] | type != "object") then empty else .[0] |
      [(.error | if type == "object" then .message elif type == "string" then . else null end),
        (if .success == false or .ok == false or .status == "error" then .message else null end),
        (.errors | if type == "array" then .[0] else null end | if type == "object" then .message else null end)] |
      map(select(. != null)) | if length > 0 then .[0] | text else empty end
    end' || : # no JSON, no message
}

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_progress() {
  __mcp_jq -rs "$__mcp_jq_text"'
    if length == 1 and (.[0] | type == "object") then .[0] |
      (.progress | if type == "string" then tonumber? // null else . end) as $progress |
      if ($progress | type) == "number" and $progress >= 0 then
        "\([$progress, 100] | min | floor)\n\(.message // "Working..." | text)."
      else "" end
    elif length == 1 then "" else error end' || return 5
  [[ -n $__mcp_reply ]]
}

__mcp_jq_config() { # LENGTH EXAMPLE FILE VARIABLE: the input has LENGTH bytes of defaults, then the variable's value
  local _length=$1 _example=$2 _file=$3 _variable=$4 _text _value _merged=$__mcp_none _lines='' _loaded='' _kept=''
  _text=$(cat)
  _value=${_text:_length}
  __mcp_jq_merge "${_text:0:_length}" --defaults 'Invalid JSON in --defaults, using {}' ''
  __mcp_jq_merge_file "$_example" "Loaded example config: $_example"
  __mcp_jq_merge_file "$_file" "Loaded config file: $_file"
  if [[ -n $_value ]]; then
    if __mcp_jq_json <<<"$_value" && [[ $__mcp_reply != null && $__mcp_reply != false ]]; then
      __mcp_jq_merge "$_value" "$_variable" '' "Loaded config from env var: $_variable (JSON)"
    elif [[ -f $_value ]]; then
      __mcp_jq_merge_file "$_value" "Loaded config from env var: $_variable (file: $_value)"
    else
      __mcp_jq_config_log warning "Env var $_variable is neither valid JSON nor a file path"
    fi
  fi
  [[ -n $_loaded ]] || __mcp_jq_config_log warning 'No configuration sources loaded'
  __mcp_reply=$_lines${_loaded:+loaded$__mcp_nl}${_kept:+keep$__mcp_nl}"json $_merged"
}

__mcp_jq_config_log() { # LEVEL TEXT
  __mcp_quote "$2"
  _lines="$_lines$1 $__mcp_reply$__mcp_nl"
}

__mcp_jq_merge_file() { # PATH MESSAGE
  [[ -z $1 || ! -f $1 || ! -r $1 ]] || __mcp_jq_merge "$(<"$1")" "$1" "Invalid JSON in file: $1" "$2"
}

__mcp_jq_merge() { # TEXT NAME MESSAGE_IF_INVALID MESSAGE: MESSAGE is empty for the defaults
  if ! __mcp_jq_json <<<"$1" || [[ $__mcp_reply == null || $__mcp_reply == false ]]; then
    __mcp_jq_config_log warning "$3"
  elif [[ $__mcp_reply != \{* ]]; then
    __mcp_jq_config_log warning "Config source is not a JSON object: $2"
  else
    [[ -z $4 && $__mcp_reply == "$__mcp_none" ]] || _loaded=1
    [[ -n $4 ]] && _kept='' || _kept=1
    [[ -z $4 ]] || __mcp_jq_config_log debug "$4"
    __mcp_jq_json <<<"$1"
    __mcp_jq -cs '.[0] + .[1]' <<<"$_merged$__mcp_reply"
    _merged=$__mcp_reply
  fi
}

# shellcheck disable=SC2016 # the dollars are those of jq
__mcp_jq_answers() { # [KEY]
  local _text _answered=0
  _text=$(cat)
  __mcp_jq -ne --argjson all "$_text" --arg key "${1-}" '$all |
    all(.[]; type == "object" and has("result")) and ($key == "" or has($key))' || _answered=1
  __mcp_jq -nc --argjson all "$_text" --arg key "${1-}" 'def none: {error: {code: -32603, message: "No answer"}};
    $all | map_values(if type != "object" then none elif has("result") then .result
      elif .error | type == "object" then {error: .error} else none end) |
    if $key == "" then . elif has($key) then .[$key] else none end'
  return "$_answered"
}

__mcp_jq_media() { # KIND LIMIT FILE [MIME]
  local _kind=$1 _file=$3 _type=${4-}
  __mcp_load results
  [[ -n $_type ]] || __mcp_jq_media_type "$_file"
  if [[ $_type != "$_kind"/* ]]; then
    _type="neither name nor content show its type, give it as well ($_kind/...)"
    __mcp_internal_error "mcp_result_$_kind: $_type: $_file"
  elif (($(wc -c <"$_file") > ($2 - 1024) / 4 * 3)); then
    __mcp_internal_error "mcp_result_$_kind: too large for a result of $2 bytes (MCPBASH_MAX_TOOL_OUTPUT_SIZE): $_file"
  elif ! command -v base64 >/dev/null; then
    __mcp_internal_error "mcp_result_$_kind: mcp-bash is not on PATH, nor is base64"
  else
    printf '{"content":[{"type":"%s","data":"' "$_kind"
    base64 <"$_file" | tr -d '\n'
    printf '","mimeType":"%s"}],"isError":false}\n' "$_type"
  fi
}

__mcp_jq_media_type() { # FILE: stores the type by content in _type
  local _hex
  _hex=$(od -An -v -tx1 -N16 <"$1")
  case ${_hex//[^0-9a-f]/} in
    89504e470d0a1a0a*) _type=image/png ;;
    ffd8ff*) _type=image/jpeg ;;
    474946383761* | 474946383961*) _type=image/gif ;;
    52494646????????57454250*) _type=image/webp ;;
    ????????6674797061766966*) _type=image/avif ;;
    52494646????????57415645*) _type=audio/wav ;;
    494433* | fffb* | fff3* | fff2*) _type=audio/mpeg ;;
    4f676753*) _type=audio/ogg ;;
    664c6143*) _type=audio/flac ;;
    ????????667479704d344120*) _type=audio/mp4 ;;
    *) case $1 in *.[Ss][Vv][Gg]) _type=image/svg+xml ;; esac ;;
  esac
}

__mcp_jq_path() { # PATH [ROOT...]: rc 1 if there are roots and none contains the path
  local _path _root
  __mcp_load paths
  __mcp_resolve "$1"
  _path=$__mcp_reply
  shift
  for _root; do
    __mcp_resolve "$_root"
    if [[ $__mcp_reply == / || $_path == "$__mcp_reply" || $_path == "$__mcp_reply"/* ]]; then
      __mcp_reply=$_path
      return 0
    fi
  done
  __mcp_reply=$_path
  (($# == 0))
}

__mcp_resolve() { # PATH
  local _path=$1 _target _n=0
  while ! __mcp_walk physical "$_path"; do
    if ((++_n > 40)) || ! _target=$(readlink "$__mcp_link" && printf .); then
      __mcp_walk '' "$_path" # a loop, or an unreadable link
      return
    fi
    _target=${_target%"$__mcp_nl".}
    [[ $_target == /* ]] || _target=${__mcp_link%/*}/$_target
    _path=$_target/$__mcp_after
  done
}
