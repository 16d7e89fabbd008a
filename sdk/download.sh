# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# Downloads: mcp_download_safe, mcp_download_safe_or_fail.

__mcp_load common numbers retry strings tempfile

__mcp_download_safe() { # --url URL --out PATH [OPTION...]
  local __mcp_error='' __mcp_message='' __mcp_location='' __mcp_out='' __mcp_bytes=0
  __mcp_download "$@"
  if [[ -z $__mcp_error ]]; then
    __mcp_quote "$__mcp_out"
    printf '{"success":true,"bytes":%s,"path":%s}' "$__mcp_bytes" "$__mcp_reply"
    return 0
  fi
  printf '{"success":false,"error":{"type":"%s"' "$__mcp_error"
  if [[ -n $__mcp_location ]]; then
    __mcp_quote "$__mcp_location"
    printf ',"location":%s' "$__mcp_reply"
  fi
  __mcp_quote "$__mcp_message"
  printf ',"message":%s}}' "$__mcp_reply"
}

__mcp_download_safe_or_fail() { # --url URL --out PATH [OPTION...]
  local __mcp_error='' __mcp_message='' __mcp_location='' __mcp_out='' __mcp_bytes=0
  __mcp_download "$@"
  if [[ -z $__mcp_error ]]; then
    __mcp_out=${__mcp_out//"$__mcp_nl"/ }
    __mcp_out=${__mcp_out//"$__mcp_tab"/ }
    printf %s "$__mcp_out"
  elif [[ ${MCPBASH_MODE-} == minimal ]]; then
    mcp_fail_invalid_args 'Download failed (minimal mode - cannot parse error details)'
  else
    mcp_fail_invalid_args "Download failed ($__mcp_error): $__mcp_message"
  fi
}

__mcp_download_failed() { # TYPE MESSAGE
  __mcp_error=$1 __mcp_message=$2
  return 1
}

__mcp_download() { # --url URL --out PATH [OPTION...]: stores the result in variables of the caller
  local _url='' _allow='' _deny='' _max='' _timeout='' _agent='' _retry=1 _delay=1.0 _new=''
  local -a _provider
  while (($#)); do
    case $1 in
      --url | --out | --allow | --deny | --max-bytes | --timeout | --user-agent | --retry | --retries | --retry-delay)
        (($# > 1)) || { __mcp_download_failed invalid_params "$1 requires a value" || return; }
        [[ -n $2 || $1 != --allow && $1 != --deny ]] ||
          { __mcp_download_failed invalid_params "$1 requires a host" || return; }
        ;;
      -*) __mcp_download_failed invalid_params "Unknown option: $1" || return ;;
      *) __mcp_download_failed invalid_params "Unexpected argument: $1" || return ;;
    esac
    case $1 in
      --url) _url=$2 ;;
      --out) __mcp_out=$2 ;;
      --allow) _allow=$_allow,$2 ;;
      --deny) _deny=$_deny,$2 ;;
      --max-bytes) _max=$2 ;;
      --timeout) _timeout=$2 ;;
      --user-agent) _agent=$2 ;;
      --retry-delay) _delay=$2 ;;
      *) _retry=$2 ;;
    esac
    shift 2
  done
  __mcp_download_check && __mcp_find_provider || return
  if [[ -z $_agent ]]; then
    IFS= read -r _agent 2>/dev/null <"${MCPBASH_HOME:-$__mcp_dir/..}/VERSION" || [[ -n $_agent ]] || _agent=unknown
    _agent="mcpbash/$_agent (tool-sdk)"
  fi
  __mcp_new_file || { __mcp_download_failed write_error 'Could not create temp file' || return; }
  local _body=$__mcp_reply
  __mcp_download_attempts
  if [[ -z $__mcp_error ]]; then
    [[ -e $__mcp_out ]] || _new=1
    if { cat "$_body" >|"$__mcp_out"; } 2>/dev/null; then
      __mcp_bytes=$(($(wc -c <"$_body")))
    else
      [[ -z $_new ]] || rm -f "$__mcp_out" 2>/dev/null
      __mcp_download_failed write_error 'Could not write to output path'
    fi
  fi
  rm -f "$_body"
}

__mcp_positive() { case $1 in *[!0123456789]*) return 1 ;; *[123456789]*) ;; *) return 1 ;; esac; }

__mcp_download_check() {
  if [[ -z $_url ]]; then
    __mcp_download_failed invalid_url '--url is required'
  elif [[ -z $__mcp_out ]]; then
    __mcp_download_failed invalid_params '--out is required'
  elif [[ $_url != https://* ]]; then
    __mcp_download_failed invalid_url 'URL must use https://'
  elif [[ -n $_max ]] && ! __mcp_positive "$_max"; then
    __mcp_download_failed invalid_params '--max-bytes must be a positive integer'
  elif [[ -n $_timeout ]] && ! __mcp_positive "$_timeout"; then
    __mcp_download_failed invalid_params '--timeout must be a positive integer'
  elif [[ -n $_timeout ]] && ! __mcp_le "$_timeout" 60; then
    __mcp_download_failed invalid_params '--timeout cannot exceed 60 seconds'
  elif ! __mcp_positive "$_retry"; then
    __mcp_download_failed invalid_params '--retry must be a positive integer'
  elif ! __mcp_microseconds "$_delay"; then
    __mcp_download_failed invalid_params '--retry-delay must be a number (e.g., 0.5, 1, 2.0)'
  else
    _delay=$__mcp_reply
  fi
}

__mcp_find_provider() { # stores the project's script or our program in _provider
  local _script
  for _script in "${MCPBASH_HOME:+$MCPBASH_HOME/providers/https.sh}" "$__mcp_dir/../providers/https.sh"; do
    if [[ -f $_script ]]; then
      _provider=("${BASH:-bash}" "$_script")
      return
    fi
  done
  __mcp_program || { __mcp_download_failed provider_unavailable 'HTTPS provider not found' || return; }
  _provider=("$__mcp_bin" --helper provider https)
}

__mcp_download_attempts() {
  local _attempt=1 _stderr _rc _line
  while :; do
    _rc=0
    _stderr=$(
      exec 2>&1 >|"$_body" </dev/null
      export MCPBASH_HTTPS_USER_AGENT=$_agent
      [[ -z $_allow ]] || export MCPBASH_HTTPS_ALLOW_HOSTS=${_allow#,}
      [[ -z $_deny ]] || export MCPBASH_HTTPS_DENY_HOSTS=${_deny#,}
      [[ -z $_max ]] || export MCPBASH_HTTPS_MAX_BYTES=$_max
      [[ -z $_timeout ]] || export MCPBASH_HTTPS_TIMEOUT=$_timeout
      exec "${_provider[@]}" "$_url"
    ) || _rc=$?
    case $_rc in 0 | 4 | 6 | 7) break ;; esac
    __mcp_le "$_retry" "$_attempt" && break
    __mcp_jitter "$_delay"
    __mcp_pause || break
    _delay=$((_delay * 2)) _attempt=$((_attempt + 1))
  done
  if ((_rc == 7)); then
    while IFS= read -r _line; do
      case $_line in
        redirect:*)
          _line=${_line#redirect:}
          __mcp_location=${_line//$'\r'/}
          break
          ;;
      esac
    done <<<"$_stderr"
  fi
  __mcp_clean "$_stderr"
  _stderr=${__mcp_reply:+: $__mcp_reply}
  case $_rc in
    0) ;;
    4) __mcp_download_failed host_blocked 'Host blocked by policy' ;;
    5) __mcp_download_failed network_error "Network request failed$_stderr" ;;
    6) __mcp_download_failed size_exceeded 'Response exceeds max-bytes limit' ;;
    7)
      __mcp_message='URL redirects but location unavailable'
      [[ -z $__mcp_location ]] || __mcp_message='URL redirects - use canonical URL or add target to allowlist'
      __mcp_error=redirect
      ;;
    1 | 2 | 126 | 127)
      __mcp_message="Provider failed (exit $_rc)$_stderr"
      [[ -n $_stderr ]] || __mcp_message="Provider failed with exit code $_rc"
      __mcp_error=provider_error
      ;;
    *)
      __mcp_message="Unexpected error (exit $_rc)$_stderr"
      [[ -n $_stderr ]] || __mcp_message="Unexpected error with exit code $_rc"
      __mcp_error=provider_error
      ;;
  esac
}

__mcp_clean() { # TEXT: the first 200 bytes, on one line
  [[ -n ${LC_ALL-} && ${#__mcp_e_acute} -ne 1 ]] || local LC_ALL=C
  __mcp_reply=${1:0:200}
  __mcp_reply=${__mcp_reply//[$'\t\n\r']/ }
  __mcp_reply=${__mcp_reply//$__mcp_control/}
}
