# shellcheck shell=bash disable=SC2154 # variables of other files of the SDK
#
# mcp_argv_progress: runs a program that shows its progress in a known form, and reports it.

__mcp_load common

__mcp_argv_progress() { # ffmpeg|rsync|curl COMMAND ARG...
  local __mcp_of=${1-} __mcp_word=${2-} __mcp_end=$'\r' __mcp_mark="mcp-end-$$-$RANDOM$RANDOM=" __mcp_rc=0
  local __mcp_whole='' __mcp_limited='' # seconds of ffmpeg's output
  case $__mcp_of in
    ffmpeg | rsync | curl) ;;
    *)
      printf 'mcp_argv_progress: unknown kind %s; the kinds are ffmpeg, rsync and curl\n' "$__mcp_of" >&2
      return 2
      ;;
  esac
  (($# > 1)) || return 0
  shift 2
  # The program gets the options that show its progress first, so that options of the tool replace them.
  case $__mcp_of in
    ffmpeg)
      __mcp_end=$__mcp_nl
      __mcp_output_limit "$@"
      set -- "$__mcp_word" -nostats -progress pipe:2 "$@"
      ;;
    rsync) set -- "$__mcp_word" --info=progress2 --outbuf=L "$@" ;;
    curl) set -- "$__mcp_word" --progress-bar "$@" ;;
  esac
  # The loop ends at the mark, and does not wait for other processes that keep the pipe open.
  if [[ $__mcp_of == rsync ]]; then
    __mcp_marked "$@" | __mcp_watch_progress || __mcp_rc=$?
  else
    { __mcp_marked "$@" 2>&1 >&3 3>&- | __mcp_watch_progress >&2 3>&-; } 3>&1 || __mcp_rc=$?
  fi
  return "$__mcp_rc"
}

__mcp_marked() { # COMMAND ARG...: runs it, and prints the mark to the pipe
  local _rc=0
  "$@" || _rc=$?
  if [[ $__mcp_of == rsync ]]; then
    printf '%s%s%s' "$__mcp_mark" "$_rc" "$__mcp_end"
  else
    printf '%s%s%s' "$__mcp_mark" "$_rc" "$__mcp_end" >&2
  fi
}

# Prints the input without the progress of the program, and reports that. rc: the program's.
__mcp_watch_progress() {
  local LC_ALL=C _chunk _line _rc=143 _at='' _sent=0
  # A part has at most 4096 bytes, whatever the program prints.
  while IFS= read -r -n 4096 -d "$__mcp_end" _chunk || [[ -n $_chunk ]]; do
    case $_chunk in
      *"$__mcp_mark"[0-9]*)
        _rc=${_chunk##*"$__mcp_mark"}
        _chunk=${_chunk%"$__mcp_mark"*}
        __mcp_progress_chunk
        break
        ;;
    esac
    [[ $__mcp_of != ffmpeg ]] || _chunk=$_chunk$__mcp_nl
    __mcp_progress_chunk
  done
  return "$_rc"
}

__mcp_progress_chunk() { # prints the lines of _chunk that are not progress
  while [[ $_chunk == *"$__mcp_nl"* ]]; do
    _line=${_chunk%%"$__mcp_nl"*}
    _chunk=${_chunk#*"$__mcp_nl"}
    "__mcp_line_$__mcp_of" "$_line" || printf '%s\n' "$_line"
  done
  [[ -z $_chunk ]] || "__mcp_line_$__mcp_of" "$_chunk" || printf %s "$_chunk"
}

__mcp_line_rsync() { # LINE: rc 1 if it is not progress
  local _progress='^ *[0-9][0-9.,]*[KMGTPE]? +([0-9]+)% +([0-9.,]+[kKMGTP]?B/s) +[0-9:]+( \(.*\))? *$'
  [[ $1 =~ $_progress ]] || return 1
  __mcp_report "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
}

__mcp_line_curl() { # LINE: rc 1 if it is not progress
  local _progress='^[#=O -]*(([0-9]+)[.,][0-9]%)? *$'
  [[ $1 =~ $_progress ]] || return 1
  __mcp_report "${BASH_REMATCH[2]-}" "${BASH_REMATCH[1]-}"
}

__mcp_line_ffmpeg() { # LINE: rc 1 if it is not progress
  local _seconds
  case $1 in
    out_time_us=[0-9]*)
      _seconds=${1#*=}
      _seconds=${_seconds%??????}
      case $_seconds in '' | *[!0-9]* | ??????????*) _seconds=0 ;; esac
      if ((10#${__mcp_whole:-0} > 0)); then
        __mcp_report "$((10#$_seconds * 100 / 10#$__mcp_whole))" "$_seconds s of $__mcp_whole s"
      else
        __mcp_report '' ''
      fi
      ;;
    frame=* | fps=* | stream_[0-9]*=* | bitrate=* | total_size=* | out_time_us=* | out_time_ms=* | out_time=*) ;;
    dup_frames=* | drop_frames=* | speed=* | progress=*) ;;
    *'Duration: '[0-9]*:[0-9]*:[0-9]*)
      [[ -n $__mcp_limited ]] || __mcp_duration "${1#*Duration: }"
      return 1
      ;;
    *) return 1 ;;
  esac
}

__mcp_duration() { # H:M:S: sets __mcp_whole to the longest duration, in seconds
  local _clock='^([0-9]{1,4}:)?([0-9]{1,6}:)?([0-9]{1,9})([.,].*)?$' _seconds
  [[ ${1%%,*} =~ $_clock ]] || return 0
  _seconds=${BASH_REMATCH[3]}
  if [[ -n ${BASH_REMATCH[2]} ]]; then
    _seconds=$((10#${BASH_REMATCH[1]%:} * 3600 + 10#${BASH_REMATCH[2]%:} * 60 + 10#$_seconds))
  elif [[ -n ${BASH_REMATCH[1]} ]]; then
    _seconds=$((10#${BASH_REMATCH[1]%:} * 60 + 10#$_seconds))
  fi
  _seconds=$((10#$_seconds))
  ((_seconds <= ${__mcp_whole:-0})) || __mcp_whole=$_seconds
}

__mcp_output_limit() { # ARG...: of ffmpeg; -t is the duration of the output
  __mcp_limited=''
  while (($# > 1)); do
    if [[ $1 == -t ]]; then
      __mcp_duration "$2"
      __mcp_limited=$__mcp_whole
    fi
    shift
  done
}

__mcp_report() { # PERCENT MESSAGE, at most once in a second
  [[ $SECONDS != "$_at" ]] || return 0
  _at=$SECONDS
  if [[ -n ${MCP_PROGRESS_TOKEN-} && -n $1 ]] && ((10#$1 > _sent)); then
    _sent=$1
    mcp_progress "$1" "$2" 100
  elif [[ -n ${MCP_PROGRESS_STREAM-} ]]; then
    __mcp_append "$MCP_PROGRESS_STREAM" '' # the program is alive (T-106)
  fi
}
