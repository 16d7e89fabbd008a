#!/bin/sh
# Installs mcp-bash for one user, replaces an installation, or removes it (see --help).
# It needs a POSIX shell, for downloads curl or wget, and for a checkout Go.
#
# The script creates and checks a new tree next to the old one, and exchanges both in one
# step. So if it is stopped at any time, one of the two installations is complete (CLI-1710).

# The brace makes the script one command. A shell that received only a part of it
# reports a syntax error and runs nothing.
{
set -eu

# The address of the releases, and the release that this file is from. "make release BASE_URL=..."
# sets both in a release's install.sh (CLI-1170).
released_at=''
released_as=''

usage() {
  cat <<'END'
Usage: install.sh [OPTIONS]

Installs mcp-bash from what it is told, else from the checkout or the unpacked archive
that it lies in, else from the latest release.

  install.sh                                       from here
  install.sh --archive mcp-bash-v2.0.0-linux-amd64.tar.gz
  install.sh --version 2.0.0 --verify SHA256       from the releases
  install.sh --uninstall

Where from:
  --archive SRC       a release archive: a file, file:// or http(s):// (a .zip on Windows)
  --version V         the release of that version; also --ref, --branch: a tag, branch or commit
                      of $MCPBASH_INSTALL_REPO_URL, which Go then builds
  --verify SHA256     what the archive's checksum has to be (else SHA256SUMS beside it tells)
  --no-verify         install a downloaded archive that no checksum is known of
  --offline           use no network
Where to:
  --prefix DIR        DIR/share/mcp-bash, commands in DIR/bin (default: ~/.local)
  --dir DIR           the installation itself
  --no-modify-path    leave the start files of the shell alone
And:
  --uninstall         remove the installation, its commands and its lines in start files
  --relink            link the commands of the installation again, and change nothing else
  --allow-downgrade   replace a newer version
  --min-version V     install no version older than V
  -q, --quiet         print results only
  -y, --yes           do not ask
  -h, --help          show this

Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 refused or not confirmed.

END
  if [ -n "${MCPBASH_RELEASE_BASE_URL:-$released_at}" ]; then
    printf 'Releases: %s\n' "${MCPBASH_RELEASE_BASE_URL:-$released_at}"
  else
    printf 'Releases: no address is known; set MCPBASH_RELEASE_BASE_URL to download them.\n'
  fi
}

# --- Saying ---------------------------------------------------------------------

colours() {
  good='✓' bad='✗' warned='⚠'
  if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
    good=$(printf '\033[32m✓\033[0m') warned=$(printf '\033[33m⚠\033[0m')
  fi
  if [ -t 2 ] && [ -z "${NO_COLOR-}" ]; then
    bad=$(printf '\033[31m✗\033[0m')
  fi
}

# plain TEXT: TEXT on one line, in $printed. The name of a file may hold control characters.
plain() {
  printed=$1
  case $printed in
    *[[:cntrl:]]*) printed=$(printf '%s' "$printed" | LC_ALL=C tr '\000-\037\177' '?') ;;
  esac
}

say() {
  [ -z "$quiet" ] || return 0
  for part do
    plain "$part"
    printf '%s\n' "$printed"
  done
}
ok() { plain "$1" && printf '%s %s\n' "$good" "$printed"; }
warn() { plain "$1" && printf '%s %s\n' "$warned" "$printed"; }

# stop STATUS LINE...: ends with a message, whose first line is marked.
stop() {
  status=$1
  plain "$2"
  printf '%s %s\n' "$bad" "$printed" >&2
  shift 2
  for part do
    plain "${part:+  $part}"
    printf '%s\n' "$printed" >&2
  done
  exit "$status"
}

fail() { stop 1 "$@"; }
refuse() { stop 3 "$@"; }
misused() { stop 2 "$@" 'Run "install.sh --help" for usage.'; }

newline='
'

has() { command -v "$1" >/dev/null 2>&1; }

# --- The command line -----------------------------------------------------------

parse() {
  archive='' verify='' ref='' branch='' prefix='' dir='' yes='' job=install offline='' unverified='' downgrade=''
  minimum='' quiet=''
  modify_path=1
  while [ $# -gt 0 ]; do
    option=$1 value='' given=''
    shift
    case $option in
      --*=*) value=${option#*=} option=${option%%=*} given=1 ;;
      --archive | --verify | --version | --ref | --branch | --prefix | --dir | --min-version)
        if [ $# -gt 0 ]; then
          value=$1 given=1
          shift
        fi
        ;;
    esac
    case $option in
      --dir | --prefix)
        case $value in '' | -*) misused "$option requires a directory path" ;; esac
        ;;
      --branch)
        case $value in '' | -*) misused '--branch requires a branch name' ;; esac
        ;;
      --version | --ref)
        case $value in '' | -*) misused '--version/--ref requires a tag or commit' ;; esac
        ;;
      --archive)
        case $value in '' | -*) misused '--archive requires a local path or URL' ;; esac
        ;;
      --verify)
        case $value in *[!0-9A-Fa-f]*) value='' ;; esac
        [ ${#value} -eq 64 ] || misused '--verify requires a SHA256 checksum value'
        ;;
      --min-version)
        case $value in '' | *[!0-9A-Za-z.+-]*) misused '--min-version requires a version' ;; esac
        ;;
      *) [ -z "$given" ] || misused "$option takes no value" ;;
    esac
    case $option in
      --dir) dir=$value ;;
      --prefix) prefix=$value ;;
      --branch) ref=$value branch=1 ;;
      --version | --ref) ref=$value branch='' ;;
      --archive) archive=$value ;;
      --verify) verify=$(printf '%s' "$value" | tr A-F a-f) ;;
      --no-verify) unverified=1 ;;
      --offline) offline=1 ;;
      --no-modify-path) modify_path='' ;;
      --allow-downgrade) downgrade=1 ;;
      --min-version) minimum=${value#v} ;;
      --uninstall) job=uninstall ;;
      --relink) job=relink ;;
      -q | --quiet) quiet=1 ;;
      -y | --yes) yes=1 ;;
      -h | --help)
        usage
        exit 0
        ;;
      *) misused "Unknown option: $option" ;;
    esac
  done
  case $ref in
    *[!A-Za-z0-9._/+-]* | *..*) misused '--version/--ref requires a tag or commit' ;;
    [0-9]*.[0-9]*) ref=v$ref ;;
  esac
}

# is_release REF: whether it is the tag of a release, as v2.0.0.
is_release() {
  case $1 in
    v*[!0-9A-Za-z.+-]*) return 1 ;;
    v[0-9]*.[0-9]*.[0-9]*) return 0 ;;
  esac
  return 1
}

# --- Where to -------------------------------------------------------------------

# physical PATH: PATH made absolute, without links and "..", in $reply, whether it
# exists or not. It is false for one that cannot be entered.
physical() {
  reply=$1
  case $reply in
    /*) ;;
    *) reply=$PWD/$reply ;;
  esac
  rest=''
  while [ ! -d "$reply" ]; do
    case ${reply##*/} in
      '' | .) ;;
      ..) fail "The path is not there: $1" ;;
      *) rest=/${reply##*/}$rest ;;
    esac
    reply=${reply%/*}
    [ -n "$reply" ] || reply=/
  done
  reply=$(CDPATH='' cd -P -- "$reply" 2>/dev/null && pwd -P) || return 1
  [ "$reply" != / ] || [ -z "$rest" ] || reply=''
  reply=$reply$rest
}

resolve() { physical "$1" || fail "Cannot be entered: $1"; }

system() {
  me=''
  kernel=$(uname -s) machine=$(uname -m)
  case $kernel in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN*) os=windows ;;
    *) os='' ;;
  esac
  case $machine in
    x86_64 | amd64) arch=amd64 ;;
    arm64 | aarch64) arch=arm64 ;;
    *) arch='' ;;
  esac
  exe='' suffix=.tar.gz
  [ "$os" != windows ] || exe=.exe suffix=.zip
}

# one_line PATH refuses a path with control characters. A line break in the path would start
# another line in a start file.
one_line() {
  plain "$1"
  [ "$printed" = "$1" ] || misused "The path holds a control character: $1"
}

# own_place has --uninstall and --relink use the installation that this script is in, unless an option
# names another (CLI-1169). A prefix is known by its link to mcp-bash.
own_place() {
  own_dir
  if [ "$job" = install ] || [ -n "$prefix$dir" ] || [ -z "$here" ] || [ ! -f "$here/$marker" ]; then
    return 0
  fi
  dir=$here
  case $here in
    */share/mcp-bash)
      place=${here%/share/mcp-bash}/bin/mcp-bash
      if [ -L "$place" ] && [ "$(readlink "$place")" = "$here/bin/mcp-bash" ]; then
        prefix=${here%/share/mcp-bash}
      fi
      ;;
  esac
}

# own_dir sets here to the directory of this script; "" where it is read from standard input.
own_dir() {
  here=''
  case $0 in
    */install.sh | install.sh) here=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd -P) || here='' ;;
  esac
}

# places sets dir, bin and data: the installation, and the directories that commands
# and what shells and man read are linked in.
places() {
  [ -d "${HOME-}" ] || fail 'HOME is not set to a directory'
  case ${ZDOTDIR-} in
    /*) zsh_home=$ZDOTDIR ;;
    *) zsh_home=$HOME ;;
  esac
  own_place
  bin=${XDG_BIN_HOME:-$HOME/.local/bin} data=${XDG_DATA_HOME:-$HOME/.local/share}
  if [ -n "$prefix" ]; then
    bin=$prefix/bin data=$prefix/share
  fi
  dir=${dir:-$data/mcp-bash} bin_given=$bin
  for place in "$bin" "$data" "$dir"; do
    one_line "$place"
  done
  resolve "$bin" && bin=$reply
  resolve "$data" && data=$reply
  resolve "$dir" && dir=$reply
  for place in "$bin" "$data" "$dir"; do
    one_line "$place" # a link may lead to another name
  done
  case $bin in
    *:*) misused "A colon separates directories in PATH, and cannot be in this one: $bin" ;;
  esac
  for danger in / "$HOME" /usr /usr/local /bin /sbin /etc /var /tmp /opt /home /root \
    "${TMPDIR:-/tmp}" "$bin" "$data"; do
    physical "$danger" || reply=$danger # /root is not for everybody
    if [ "$dir" = "$reply" ]; then
      fail "Refusing to install to dangerous path: $dir" 'Please specify a safe directory with --dir'
    fi
  done
  if [ -n "${MCPBASH_HOME-}" ] && physical "$MCPBASH_HOME" && [ "$dir" = "$reply" ]; then
    refuse "MCPBASH_HOME is set to the install target ($dir)" \
      'What uses that installation would be pulled from under it.' \
      'Unset MCPBASH_HOME, or choose another --dir.'
  fi
  parent=${dir%/*}
  parent=${parent:-/}
}

# --- What to believe ------------------------------------------------------------

# distrust PATH: the reason why somebody else can change what is at PATH, in $reply; "" where
# nobody else can. It must be no link, belong to this user or root, and be writable neither
# for others nor for a group with other members. The mode is left in $mode. This is the rule
# of pkg/files/trust/trust_unix.go.
distrust() {
  reply=''
  [ "$os" != windows ] || return 0
  me=${me:-$(id -u)}
  listed=$(LC_ALL=C ls -ldn -- "$1" 2>/dev/null) || listed=''
  set -f
  # shellcheck disable=SC2086 # split into fields
  set -- "$1" $listed
  set +f
  mode=${2-} owner=${4-} group=${5-}
  case $owner in
    "$me" | 0) ;;
    '')
      reply='it cannot be looked at'
      return 0
      ;;
    *)
      reply="it belongs to user $owner"
      return 0
      ;;
  esac
  case $mode in
    l*) reply='it is a link' ;;
    ????????w*) reply="mode $mode, others can write to it" ;;
    ?????w*+) reply="mode $mode, its access control list lets others write to it" ;;
    ?????w*)
      private_group
      [ "$group" = "$private" ] || reply="mode $mode, group $group can write to it"
      ;;
  esac
}

# ours PATH...: whether nobody else can change what is at any of the paths.
ours() {
  for believed do
    distrust "$believed"
    [ -z "$reply" ] || return 1
  done
}

# private_group sets private to the number of the primary group of this user. It sets "" if the
# group has other members, or if /etc/passwd and /etc/group do not list all users.
private_group() {
  private=''
  [ "$os" != darwin ] || return 0
  private=$(awk -F : -v me="$me" '
    /^#/ || /^$/ { next }
    /^[+-]/ || NF < 4 { unknown = 1; next }
    FILENAME ~ /passwd/ && $3 == me { names[$1] = 1; if (mine == "") mine = $4; next }
    FILENAME ~ /passwd/ { others[$4] = 1; next }
    $3 == mine {
      there = 1
      n = split($4, members, ",")
      for (i = 1; i <= n; i++) if (members[i] != "" && !(members[i] in names)) unknown = 1
    }
    END { if (there && !unknown && !(mine in others)) print mine }' /etc/passwd /etc/group 2>/dev/null) || private=''
}

# start_of FILE: at most 4096 bytes of a regular file, in $reply. A pipe or a device would never end.
start_of() {
  reply=''
  [ ! -f "$1" ] || { reply=$(dd if="$1" bs=4096 count=1); } 2>/dev/null || :
}

# --- One at a time, and cleaning up ---------------------------------------------

# alive FILE: whether the process runs whose number the first line of the file holds.
alive() {
  start_of "$1"
  number=${reply%%"$newline"*}
  case $number in
    '' | *[!0-9]*) return 1 ;;
  esac
  kill -0 "$number" 2>/dev/null
}

# older_than MINUTES DIRECTORY: whether a directory without the number of a process was left by
# a run that was killed before it wrote one.
older_than() { [ -n "$(find "$2" -prune -mmin "+$1")" ]; }

# begin takes the lock (CLI-1113), completes what a killed run began, and makes a directory to
# work in. It waits for the lock as many seconds as the environment allows, by default none.
begin() {
  stage='' lock='' making='' wanted=$dir.doctor.fix.lock
  trap cleanup EXIT
  heed_signals
  mkdir -p -- "$parent" || fail "Cannot be made: $parent"
  check_parent
  seconds=${MCPBASH_DOCTOR_LOCK_TIMEOUT_SECS:-0}
  case $seconds in *[!0-9.]* | .*) seconds=0 ;; esac
  deadline=$(($(date +%s) + ${seconds%%.*}))
  until take_lock; do
    [ -d "$wanted" ] || fail "Cannot be made: $wanted"
    [ "$(date +%s)" -lt "$deadline" ] || fail "Timed out waiting for doctor fix lock: $wanted" \
      'Another installation is going on. If none is, remove that directory.'
    sleep "${MCPBASH_DOCTOR_LOCK_POLL_SECS:-0.05}" 2>/dev/null || sleep 1
  done
  recover
  stage=$(mktemp -d "$parent/.mcp-bash.stage.XXXXXX") || fail "Cannot be written to: $parent"
  printf '%s\n' "$$" "${dir##*/}" >"$stage/pid"
}

# take_lock makes the directory $wanted, and sets lock to it. It first removes the lock of a
# process that has ended. It is false while another process has the lock.
take_lock() {
  if [ -e "$wanted" ] || [ -L "$wanted" ]; then
    ours "$wanted" || fail "In the way of the lock: $wanted" "$reply" 'Remove it, then run this again.'
    if [ -f "$wanted/pid" ] && ours "$wanted/pid"; then
      alive "$wanted/pid" || rm -rf -- "$wanted" || :
    elif older_than 1 "$wanted"; then
      rm -rf -- "$wanted" || :
    fi
  fi
  ignore_signals
  if mkdir -- "$wanted" 2>/dev/null; then
    lock=$wanted
    printf '%s\n' "$$" >"$lock/pid"
  fi
  heed_signals
  [ -n "$lock" ]
}

# check_parent refuses a directory in which everybody can exchange what we put there, and warns
# of one where a group or another user can.
check_parent() {
  distrust "$parent"
  [ -n "$reply" ] || return 0
  case $mode,$owner in
    d????????[tT]*,0 | d????????[tT]*,"$me") ;; # a sticky directory, where nobody moves what is ours
    d???????w*) fail "Not a place for programs: $parent ($reply)" "Run chmod o-w on it, or choose another --dir." ;;
    *) warn "Others can replace what is in $parent: $reply" ;;
  esac
}

# recover ends what runs for this installation left undone that were killed. A stage holds names
# and no paths. Nothing is believed of one that somebody else could have made.
recover() {
  for left in "$parent"/.mcp-bash.stage.*; do
    if [ ! -d "$left" ] || ! ours "$left"; then
      continue
    elif [ ! -e "$left/pid" ]; then # of doctor, or of a run that was killed at once
      older_than 1440 "$left" || continue
    elif [ ! -f "$left/pid" ] || ! ours "$left/pid" || alive "$left/pid"; then
      continue
    elif [ -d "$left/old" ] || [ -d "$left/gone" ]; then
      start_of "$left/pid"
      name=${reply#*"$newline"}
      name=${name%%"$newline"*}
      [ "$name" = "${dir##*/}" ] || continue # beside this one, and for its own next run
      settle "$left" || fail "Cannot be put back: $left/old"
    fi
    rm -rf -- "$left" || warn "Cannot be removed: $left"
  done
  each_start_file remove_copy
}

# settle STAGE handles the trees that a killed run moved to its stage. It moves an old installation
# back if no new one took its place, and is false if that fails.
settle() {
  [ ! -d "$1/gone" ] || discard "$1/gone"
  if [ -d "$1/old" ]; then
    if [ -e "$dir" ] || [ -L "$dir" ]; then
      discard "$1/old"
    else
      mv -- "$1/old" "$dir"
    fi
  fi
}

# discard TREE removes an installation from a stage. keep_own has saved the user's files before.
# A tree without a list of its files could contain more of them, so it is kept.
discard() {
  if [ -f "$1/$list" ] && [ "${MCPBASH_DOCTOR_KEEP_BACKUP-}" != true ]; then
    mv -- "$1" "$1.rubbish" # what is removed in part never comes back
    rm -rf -- "$1.rubbish" || warn "Cannot be removed: $1.rubbish"
    return 0
  fi
  backup=$dir.backup.$(date +%s).$$
  mv -- "$1" "$backup" || fail "Cannot be moved to $backup: $1"
  if [ -f "$backup/$list" ]; then
    ok "The old installation is kept: $backup"
    return 0
  fi
  warn "The old installation does not list its files, and is kept: $backup"
  say '  Remove it if nothing in it is yours.'
}

heed_signals() {
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

ignore_signals() { trap '' HUP INT TERM; }

cleanup() {
  ignore_signals
  [ -z "$making" ] || rm -f -- "$making"
  if [ -n "$stage" ] && settle "$stage"; then
    rm -rf -- "$stage"
  fi
  [ -z "$lock" ] || rm -rf -- "$lock"
}

# confirm QUESTION continues if the user agrees. It asks on the terminal, even if standard input is
# a pipe.
confirm() {
  if [ -n "$yes" ]; then
    say "$1 (--yes flag)"
  elif ! (: </dev/tty) 2>/dev/null; then
    say 'Auto-confirming due to no TTY available'
  else
    printf '%s' "$2"
    read -r answer </dev/tty || answer=''
    case $answer in
      y | Y | yes | Yes | YES) ;;
      *)
        say "$3"
        exit 3
        ;;
    esac
  fi
}

# --- What is there --------------------------------------------------------------

# version_of TREE sets reply to the version of a tree, or to "".
version_of() {
  start_of "$1/VERSION"
  reply=${reply%%"$newline"*}
  case $reply in
    *[!0-9A-Za-z.+-]*) reply='' ;;
    [0-9]*.[0-9]*.[0-9]*) [ ${#reply} -le 40 ] || reply='' ;;
    *) reply='' ;;
  esac
}

# older A B: whether version A is older than B, by their three numbers (CLI-1112).
older() {
  left=${1%%[-+]*}. right=${2%%[-+]*}.
  while [ -n "$left$right" ]; do
    a=${left%%.*} b=${right%%.*}
    [ "${a:-0}" -ge "${b:-0}" ] 2>/dev/null || return 0
    [ "${a:-0}" -le "${b:-0}" ] 2>/dev/null || return 1
    left=${left#*.} right=${right#*.}
  done
  return 1
}

# install.sh recognises its installations by two files: the mark, and the list of installed files
# in the format of sha256sum.
marker=INSTALLER.json list=INSTALLED.sha256

# look sets old if install.sh created $dir, and programs if mcp-bash is in it. An uninstall that
# kept files of the user leaves a $dir without programs. look fails for any other directory.
look() {
  old='' old_version='' programs=''
  [ -e "$dir" ] || [ -L "$dir" ] || return 0
  if [ ! -d "$dir" ] || [ ! -f "$dir/$marker" ]; then
    fail "Directory $dir exists but doesn't look like an mcp-bash installation" \
      "(install.sh did not make it: no $marker). Refusing to delete." \
      'Move it away, or use a different --dir.'
  fi
  for file in "$dir" "$dir/$marker" "$dir/$list" "$dir/VERSION"; do
    [ ! -e "$file" ] || ours "$file" || fail "Others can change the installation: $file: $reply" \
      'Run this as the user it belongs to, or run chmod go-w on it.'
  done
  [ ! -f "$dir/$list" ] || [ -z "$(find "$dir/$list" -prune -size +$((max_list / 512)))" ] ||
    fail "Not a list of installed files, because it is larger than $max_list bytes: $dir/$list" \
      'Move the installation away, or use a different --dir.'
  old=1
  version_of "$dir"
  old_version=$reply
  [ ! -f "$dir/bin/mcp-bash" ] && [ ! -f "$dir/bin/mcp-bash.exe" ] || programs=1
}

# --- Where from -----------------------------------------------------------------

# choose sets source (archive, local, git or release) and what belongs to it.
choose() {
  local_dir=''
  [ -z "$branch" ] || [ -z "${MCPBASH_INSTALL_LOCAL_SOURCE-}" ] || ref='' # the directory goes before a branch
  if [ -n "$archive" ]; then
    source=archive
  elif [ -n "$ref" ] && is_release "$ref"; then
    source=release
  elif [ -n "$ref" ]; then
    source=git
  elif [ -n "${MCPBASH_INSTALL_ARCHIVE_URL-}" ]; then
    source=archive archive=$MCPBASH_INSTALL_ARCHIVE_URL
  elif [ -n "$verify" ]; then
    source=release
  elif [ -n "${MCPBASH_INSTALL_LOCAL_SOURCE-}" ]; then
    source=local local_dir=$MCPBASH_INSTALL_LOCAL_SOURCE
    is_checkout "$local_dir" || is_tree "$local_dir" ||
      fail "Neither a checkout nor an installation of mcp-bash: $local_dir (MCPBASH_INSTALL_LOCAL_SOURCE)"
  elif [ -n "$here" ] && { is_checkout "$here" || is_tree "$here"; }; then
    source=local local_dir=$here
  else
    source=release
  fi
  if [ -n "$local_dir" ] && physical "$local_dir" && [ "$reply" = "$dir" ]; then
    fail "It is installed there already: $dir" 'Use --archive or --version to replace it, --uninstall to remove it.'
  fi
}

is_checkout() { [ -f "$1/go.mod" ] && [ -f "$1/release/tree.sh" ] && [ -d "$1/cmd/mcp-bash" ]; }
is_tree() { [ -f "$1/VERSION" ] && [ -f "$1/bin/mcp-bash$exe" ] && [ -f "$1/sdk/tool-sdk.sh" ]; }

is_url() {
  case $1 in
    http://* | https://*) return 0 ;;
  esac
  return 1
}

# fetch URL FILE: downloads a file of at most 300 MB or so. "https" never becomes
# "http" on the way.
fetch() {
  [ -z "$offline" ] || fail "Not downloaded because of --offline: $1"
  (
    ulimit -f 600000 2>/dev/null || :
    if has curl; then
      protocols='=http,https'
      case $1 in https://*) protocols='=https' ;; esac
      exec curl --proto "$protocols" -fsSL --retry 2 --connect-timeout 30 --max-time 900 -o "$2" -- "$1"
    elif has wget; then
      exec wget -q -O "$2" -- "$1" # no -T: it crashes a wget of Busybox
    fi
    printf '%s curl or wget is needed to download\n' "$bad" >&2
    exit 127
  )
}

# find_summer sets summer, the command that computes SHA-256.
find_summer() {
  if has sha256sum; then
    summer=sha256sum
  elif has shasum; then
    summer='shasum -a 256'
  elif has openssl; then
    summer='openssl dgst -sha256 -r'
  else
    fail 'No sha256sum, shasum or openssl is here to verify files with'
  fi
}

# sha256 FILE: its checksum in $reply.
sha256() {
  reply=$($summer <"$1") || fail "Cannot be read: $1"
  reply=${reply%% *}
}

# sums TREE FILE writes the checksums and names of all files of TREE but the mark and the list, as
# sha256sum does. Larger files than those of archives are left out. It is false where a file cannot be read.
sums() {
  # shellcheck disable=SC2086 # a command with options
  (cd -- "$1" && exec find . -type f ! -size +$((max_bytes / 512)) ! -path "./$marker" ! -path "./$list" \
    -exec $summer {} +) >"$stage/sums" 2>/dev/null && complete=1 || complete=''
  sed 's/^\([0-9a-f]\{64\}\) \*/\1  /' "$stage/sums" >"$2"
  [ -n "$complete" ]
}

# listed NAME: the checksum that SHA256SUMS has for a file, in $reply.
listed() {
  while read -r sum name _ || [ -n "$sum" ]; do
    if [ "${name#\*}" = "$1" ]; then
      reply=$(printf '%s' "$sum" | tr A-F a-f)
      return 0
    fi
    sum=''
  done <"$stage/SHA256SUMS"
  return 1
}

# release_dir sets from to the directory of the release that is wanted.
release_dir() {
  base=${MCPBASH_RELEASE_BASE_URL:-$released_at}
  base=${base%/}
  [ -n "$base" ] ||
    fail 'This install.sh has no address of releases' \
      'Set MCPBASH_RELEASE_BASE_URL to it, use --archive FILE, or run install.sh from a checkout.'
  if [ -z "$os" ] || [ -z "$arch" ]; then
    fail "There are no releases for this system ($kernel, $machine)" 'Run install.sh from a checkout; Go builds it.'
  fi
  [ -n "$ref" ] || [ -z "$verify" ] || ref=$released_as # a checksum is that of one release
  if [ -z "$ref" ]; then
    # SHA256SUMS of the latest release names its version. A forge has another address for it.
    latest=$base/latest
    case $base in */releases/download) latest=${base%/download}/latest/download ;; esac
    fetch "$latest/SHA256SUMS" "$stage/SHA256SUMS" || fail "Download failed: $latest/SHA256SUMS"
    while read -r _ name _; do
      case ${name#\*} in
        mcp-bash-v*-"$os-$arch$suffix")
          ref=${name#\*} ref=${ref#mcp-bash-} ref=${ref%"-$os-$arch$suffix"}
          ;;
      esac
    done <"$stage/SHA256SUMS"
    is_release "$ref" || fail "The latest release has no archive for $os-$arch: $latest/SHA256SUMS"
  fi
  from=$base/$ref/mcp-bash-$ref-$os-$arch$suffix
}

# from_archive SRC: puts the tree of an archive into $stage/tree, after its checksum.
from_archive() {
  file=$1 verified=false
  case $file in file://*) file=${file#file://} ;; esac
  asset=${file%%[?#]*} asset=${asset##*/}
  rm -f -- "$stage/SHA256SUMS"
  if is_url "$file"; then
    fetch "$file" "$stage/archive" || fail "Download failed: $file"
    if [ -z "$verify" ]; then
      fetch "${file%/*}/SHA256SUMS" "$stage/SHA256SUMS" 2>/dev/null || rm -f -- "$stage/SHA256SUMS"
    fi
  else
    [ -f "$file" ] || fail "There is no such archive: $file"
    cp -- "$file" "$stage/archive" || fail "Cannot be read: $file"
    if [ -z "$verify" ] && [ -f "$(dirname -- "$file")/SHA256SUMS" ]; then
      cp -- "$(dirname -- "$file")/SHA256SUMS" "$stage/SHA256SUMS" || fail "Cannot be read: SHA256SUMS beside $file"
    fi
  fi
  check_archive "$1"
  unpack
}

# check_archive SRC: its checksum has to be --verify's, or that of SHA256SUMS.
check_archive() {
  if [ -n "$verify" ]; then
    expected=$verify how=--verify
  elif [ -n "$unverified" ]; then
    warn 'Archive not verified (--no-verify)'
    return 0
  elif [ -f "$stage/SHA256SUMS" ]; then
    how=SHA256SUMS
    listed "$asset" || { [ -n "$ref" ] && listed "mcp-bash-$ref-$os-$arch$suffix"; } ||
      fail "SHA256SUMS missing entry for $asset"
    expected=$reply
  elif is_url "$1"; then
    fail "SHA256SUMS not found beside $1" 'Give its checksum with --verify; --no-verify installs it unchecked.'
  else
    warn 'SHA256SUMS not found next to archive; skipping archive verification'
    return 0
  fi
  sha256 "$stage/archive"
  if [ "$reply" != "$expected" ]; then
    fail "SHA256 checksum verification failed for: $asset" '' \
      'The file is damaged, is not the one that was meant, or was changed by somebody.' '' \
      "Expected: $expected" "Got:      $reply" '' \
      'Compare with SHA256SUMS of the release, and download the archive again.'
  fi
  verified=true
  ok "Archive checksum verified ($how)"
}

# The maximum number of files and of bytes in an archive, and of bytes in the list of its files.
max_files=20000 max_bytes=1073741824 max_list=4194304

# expand COMMAND makes a command write the content of $stage/archive to $stage/expanded, up to the
# maximum. A shell counts the limit in units of 512 or 1024 bytes, so the size is checked, too.
expand() {
  (
    # shellcheck disable=SC3045 # not every shell has it, and then it has no effect
    ulimit -c 0 2>/dev/null || :
    ulimit -f $((max_bytes / 512)) 2>/dev/null || :
    exec $1 "$stage/archive" >"$stage/expanded"
  ) 2>/dev/null || fail "Not an archive, or larger than $max_bytes bytes: $asset"
  bytes=$(wc -c <"$stage/expanded")
  [ "$((bytes))" -le "$max_bytes" ] || fail "Not an archive, or larger than $max_bytes bytes: $asset"
}

# unpack unpacks $stage/archive. It refuses archives with anything but plain files and
# directories below mcp-bash/, and those with too many files or bytes.
unpack() {
  case $asset in
    *.zip)
      has unzip || fail 'unzip is needed for this archive'
      expand 'unzip -p'
      unzip -Z1 "$stage/archive" >"$stage/names" 2>/dev/null || fail "Not an archive: $asset"
      : >"$stage/kinds"
      ;;
    *)
      expand 'gzip -dc'
      tar -tf "$stage/expanded" >"$stage/names" 2>/dev/null || fail "Not an archive: $asset"
      tar -tvf "$stage/expanded" >"$stage/kinds" 2>/dev/null || fail "Not an archive: $asset"
      ;;
  esac
  files=$(wc -l <"$stage/names")
  [ "$((files))" -le "$max_files" ] ||
    fail "The archive is not one of mcp-bash: $asset" "It holds more than $max_files files."
  while IFS= read -r name; do
    case /$name/ in
      */../*) fail "The archive is not one of mcp-bash: $asset" "It holds a path with '..'." ;;
      /mcp-bash/*) ;;
      *) fail "The archive is not one of mcp-bash: $asset" 'It holds something outside of mcp-bash/.' ;;
    esac
  done <"$stage/names"
  while IFS= read -r kind; do
    case $kind in
      -*' link to '* | -*' -> '* | [!d-]*)
        fail "The archive is not one of mcp-bash: $asset" 'It holds links or devices.'
        ;;
    esac
  done <"$stage/kinds"
  mkdir -- "$stage/unpacked"
  case $asset in
    *.zip) unzip -q -d "$stage/unpacked" "$stage/archive" ;;
    *) (cd -- "$stage/unpacked" && exec tar -xof ../expanded) ;;
  esac || fail "Unpacking failed: $asset"
  [ -d "$stage/unpacked/mcp-bash" ] || fail "The archive is empty: $asset"
  mv -- "$stage/unpacked/mcp-bash" "$stage/tree"
}

# from_local DIR: copies an installation, or builds a checkout.
from_local() {
  if is_checkout "$1"; then
    build "$1"
    ok 'Built from the checkout'
    return 0
  fi
  mkdir -- "$stage/tree"
  for name in bin sdk lib providers share docs runtimes VERSION RELEASES LICENSE README.md CHANGELOG.md install.sh; do
    [ ! -e "$1/$name" ] || cp -R -- "$1/$name" "$stage/tree/$name" || fail "Cannot be copied: $1/$name"
  done
  ok 'Copied local source'
}

# build CHECKOUT: has Go build the commands for this machine.
build() {
  has go || fail 'Go is needed to build from a checkout (https://go.dev/dl)' \
    'Or install a release archive: --archive FILE'
  mkdir -- "$stage/programs"
  [ -n "$commit" ] || commit=$(sh "$1/release/commit.sh" 2>/dev/null) || commit=''
  (
    cd -- "$1"
    unset GOOS GOARCH
    export CGO_ENABLED=0
    [ -z "$offline" ] || export GOPROXY=off GOTOOLCHAIN=local
    exec go build -trimpath -buildvcs=false -tags=nethttpomithttp2 \
      -ldflags="-s -w -funcalign=16${commit:+ -X mcp-bash/pkg/cli.commit=$commit}" -o "$stage/programs/" ./cmd/...
  ) || fail 'Building failed'
  sh "$1/release/tree.sh" "$stage/programs" "$stage/tree" || fail 'The tree could not be laid out'
}

from_git() {
  repository=${MCPBASH_INSTALL_REPO_URL-}
  [ -n "$repository" ] ||
    fail "Where are the sources that $ref is in? Set MCPBASH_INSTALL_REPO_URL, or use --archive FILE"
  case $repository in -*) fail "Not a repository: $repository" ;; esac
  [ -z "$offline" ] || [ -d "$repository" ] || fail "Not cloned because of --offline: $repository"
  has git || fail 'git is needed for --branch and --ref'
  git clone -q -- "$repository" "$stage/clone" || fail "Cloning failed: $repository"
  commit=$(git -C "$stage/clone" rev-parse -q --verify "refs/remotes/origin/$ref^{commit}" ||
    git -C "$stage/clone" rev-parse -q --verify "$ref^{commit}") || fail "No such branch, tag or commit: $ref"
  git -C "$stage/clone" checkout -q --detach "$commit" || fail "Checking out failed: $ref"
  is_checkout "$stage/clone" || fail "These are not the sources of the Go edition of mcp-bash: $ref"
  build "$stage/clone"
  ok "Cloned from $repository"
}

# obtain makes $stage/tree.
obtain() {
  verified=false commit=''
  doing='Downloading mcp-bash framework...' # also for a local archive, as the Bash edition
  case $source in
    local)
      doing='Copying mcp-bash...'
      ! is_checkout "$local_dir" || doing='Building mcp-bash...'
      ;;
    git) doing='Cloning and building mcp-bash...' ;;
  esac
  say '' "$doing"
  case $source in
    archive) from_archive "$archive" ;;
    release)
      release_dir
      from_archive "$from"
      ;;
    local) from_local "$local_dir" ;;
    git) from_git ;;
  esac
}

# --- Checking and putting in place ----------------------------------------------

# check_tree refuses a tree that is not whole, not for this machine, or not wanted.
check_tree() {
  tree=$stage/tree
  chmod -R a-st,u=rwX,go=rX "$tree" # an archive may set the user id on execution
  is_tree "$tree" || fail 'It is not a whole installation: VERSION, bin/mcp-bash or sdk/tool-sdk.sh is missing'
  [ -z "$(find "$tree" ! -type f ! -type d)" ] || fail 'It holds links or devices'
  version_of "$tree"
  version=$reply
  [ -n "$version" ] || fail 'Its VERSION is not a version'
  if is_release "$ref" && [ "v$version" != "$ref" ]; then
    fail "It is version $version, not ${ref#v}"
  fi
  told=$(MCPBASH_HOME='' "$tree/bin/mcp-bash$exe" --version </dev/null 2>/dev/null) || told=''
  [ "$told" = "mcp-bash $version" ] ||
    fail "Its mcp-bash does not run here, or is not version $version" \
      "This system is $kernel ($machine); is the archive for another one?"
  if [ -n "$minimum" ] && older "$version" "$minimum"; then
    fail "It is version $version, older than $minimum"
  fi
  if [ -z "$downgrade" ] && [ -n "$old_version" ] && older "$version" "$old_version"; then
    refuse "Refusing to replace version $old_version with the older $version" 'If that is meant: --allow-downgrade'
  fi
  for file in "$tree"/bin/mcp-*; do
    place=$bin/${file##*/}
    place=${place%.exe}
    if [ "${place##*/}" != mcp-jq ] && is_in_the_way "$place"; then
      fail "In the way of a command, and not a link: $place" 'Move it away, then run this again. Nothing was changed.'
    fi
  done
}

# is_in_the_way PLACE: whether something other than a link or a wrapper of a command is there.
is_in_the_way() { [ -e "$1" ] && ! is_wrapper "$1" && { [ ! -L "$1" ] || [ -d "$1" ]; }; }

is_wrapper() {
  [ ! -L "$1" ] || return 1
  start_of "$1"
  case $reply in *'mcp-bash managed shim'*) return 0 ;; esac
  return 1
}

# commit_of sets commit to the commit that the programs in the tree report, with -dirty for changed sources.
commit_of() {
  told=$(MCPBASH_HOME='' "$tree/bin/mcp-bash$exe" --version --json </dev/null 2>/dev/null) || told=''
  id='.*"commit":"\([0-9a-f]\{40,64\}\)","modified":'
  commit=$(printf '%s\n' "${told%%"$newline"*}" | sed -n -e "s/${id}true.*/\\1-dirty/p" -e "s/${id}false.*/\\1/p")
}

# mark writes the two files by which the tree is known later.
mark() {
  [ -n "$commit" ] || commit_of
  reply=''
  if [ "$source" = local ] && is_checkout "$local_dir" && physical "$local_dir"; then
    case $reply in
      *[[:cntrl:]]*) reply='' ;;
      *) reply=$(printf '%s\n' "$reply" | sed 's/[\\"]/\\&/g') ;;
    esac
  fi
  printf '{"managed":true,"installedAt":"%s","source":"%s","ref":"%s",' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$source" "$ref" >"$tree/$marker"
  printf '"version":"%s","commit":"%s","checkout":"%s","verified":%s}\n' \
    "$version" "$commit" "$reply" "$verified" >>"$tree/$marker"
  sums "$tree" "$tree/$list" || fail "Cannot be read: $tree"
}

# names FILE: the names in a list of checksums, a line each.
names() { sed -n 's/^[0-9a-f]\{64\}  \.\///p' "$1"; }

# keep_own copies files that the user added or changed from $dir to $tree. If $tree has a file of
# the same name, the copy is NAME.saved.
keep_own() {
  kept=''
  [ -f "$dir/$list" ] || return 0
  sums "$dir" "$stage/now" || : # what cannot be read is not as it was
  grep -Fxf "$dir/$list" "$stage/now" >"$stage/same" || :
  unchanged=$newline$(names "$stage/same")$newline
  known=$newline$(names "$dir/$list")
  keep ''
}

# keep BELOW does so for the directory $dir/BELOW.
keep() {
  for entry in "$dir/$1"* "$dir/$1".[!.]* "$dir/$1"..?*; do
    name=${entry#"$dir/"} to=$tree/${entry#"$dir/"}
    if [ ! -e "$entry" ] && [ ! -L "$entry" ]; then
      continue
    fi
    case $name in
      "$marker" | "$list") continue ;;
    esac
    if [ -d "$entry" ] && [ ! -L "$entry" ]; then
      case $known in
        *"$newline$name/"*) merge=1 ;;
        *) merge='' ;;
      esac
      if [ -n "$merge" ] || { [ -d "$to" ] && [ ! -L "$to" ]; }; then
        keep "$name/"
        continue
      fi
    else
      case $unchanged in
        *"$newline$name$newline"*) continue ;;
      esac
      if [ -f "$to" ] && [ -f "$entry" ] && [ ! -L "$entry" ] && cmp -s -- "$entry" "$to"; then
        continue
      fi
    fi
    while [ -e "$to" ] || [ -L "$to" ]; do
      to=$to.saved
    done
    if ! mkdir -p -- "${to%/*}" || ! cp -a -- "$entry" "$to"; then
      fail "Cannot be kept: $entry" 'Move it out of the installation, then run this again. Nothing was changed.'
    fi
    kept=1
    if [ "$to" = "$tree/$name" ]; then
      ok "Kept, as it is yours: $entry"
    else
      warn "Changed by you, and kept as ${to##*/}: $entry"
    fi
  done
}

# swap PROGRAM replaces the old tree with the new one, and moves the old one to stage/old. On Linux
# and macOS, PROGRAM (an mcp-bash in stage/old or $dir) exchanges both names in one step. On other
# systems, the next run completes a run that is killed between the two steps (recover).
swap() {
  if [ -z "$old" ]; then
    mv -- "$tree" "$dir" || fail "Cannot be put in place: $dir"
    return 0
  fi
  mv -- "$tree" "$stage/old" || fail "Cannot be moved: $tree"
  if [ "$os" = windows ] || ! "$1" --helper exchange "$stage/old" "$dir" </dev/null 2>/dev/null; then
    ignore_signals
    mv -- "$stage/old" "$tree" || fail "Cannot be moved: $stage/old"
    mv -- "$dir" "$stage/old" || fail "Cannot be moved: $dir"
    if ! mv -- "$tree" "$dir"; then
      fail "Cannot be put in place: $dir" 'The old installation is put back.'
    fi
    heed_signals
  fi
  discard "$stage/old"
}

# --- Links ----------------------------------------------------------------------

# The suffix of a new file until it replaces another one. The next run overwrites the new file of
# a killed run.
fresh=.mcp-bash-new

# link TARGET PLACE creates or replaces a link.
link() {
  if [ -L "$2" ] && [ "$(readlink "$2")" = "$1" ]; then
    return 0
  fi
  mkdir -p -- "${2%/*}" || return 1
  making=$2$fresh
  rm -f -- "$2$fresh"
  ln -s -- "$1" "$2$fresh" && mv -f -- "$2$fresh" "$2"
}

# quoted TEXT: a shell word that stands for it, in $reply.
quoted() { reply=\'$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")\'; }

# wrap TARGET PLACE creates a script that starts TARGET, for systems without links.
wrap() {
  mkdir -p -- "${2%/*}" || return 1
  making=$2$fresh
  quoted "$1"
  {
    printf '%s\n' '#!/bin/sh' '# mcp-bash managed shim; generated by doctor --fix or install.sh' \
      "exec $reply \"\$@\""
  } >"$2$fresh" && chmod 755 "$2$fresh" && mv -f -- "$2$fresh" "$2"
}

# link_all has the commands in $bin, and what shells and man read in $data.
link_all() {
  say 'Creating symlink...'
  blocked=''
  installed=$newline$(names "$dir/$list")$newline # the user may have put programs there, too
  for file in "$dir"/bin/mcp-*; do
    place=$bin/${file##*/}
    place=${place%.exe}
    [ "${place##*/}" != mcp-jq ] || continue
    case $installed in
      *"${newline}bin/${file##*/}$newline"*) ;;
      *) continue ;;
    esac
    if is_in_the_way "$place"; then
      blocked=$place
    elif [ "$os" = windows ]; then
      wrap "$file" "$place" || fail "Cannot be written: $place"
      ok "Wrote wrapper $place → $file"
    else
      link "$file" "$place" || fail "Cannot be written: $place"
      ok "Symlinked $place → $file"
    fi
  done
  [ "$os" != windows ] || return 0
  for file in "$dir"/share/*/*/*; do
    place=$data/${file#"$dir/share/"}
    [ "${place#"$data"/skills/}" = "$place" ] || continue # no folder for them is common
    case $installed in
      *"$newline${file#"$dir/"}$newline"*) ;;
      *) continue ;;
    esac
    if [ -e "$place" ] && [ ! -L "$place" ]; then
      warn "Left as it is, not a link: $place"
    else
      link "$file" "$place" || warn "Cannot be written: $place"
    fi
  done
  unlink_dead
}

# unlink_dead removes our links to missing files.
unlink_dead() {
  for place in "$bin"/mcp-* "$data"/bash-completion/completions/mcp-* "$data"/zsh/site-functions/_mcp-bash \
    "$data"/fish/vendor_completions.d/mcp-*.fish "$data"/man/man1/mcp-*.1; do
    if [ -L "$place" ]; then
      case $(readlink "$place") in
        "$dir"/*) [ -e "$place" ] || removed "$place" ;;
      esac
    elif is_wrapper "$place"; then
      target=$(printf '%s\n' "$reply" | sed -n "s/^exec '\(.*\)' .*/\1/p")
      case $target in
        "$dir"/*) [ -e "$target" ] || removed "$place" ;;
      esac
    fi
  done
}

removed() {
  rm -f -- "$1" || fail "Cannot be removed: $1"
  ok "Removed $1"
}

# --- PATH -----------------------------------------------------------------------

# The comment above our line in a start file. It also records whether we made the file.
path_note='# Added by the mcp-bash installer'
made_note="$path_note, which made this file"

# path_line sets line, which puts $bin on PATH, and shown, how people write it.
path_line() {
  case $bin in
    "$physical_home"/*) shown="\$HOME${bin#"$physical_home"}" ;;
    *) shown=$bin ;;
  esac
  case ${shown#\$HOME} in
    *[\"\$\`\\]*)
      quoted "$bin"
      line="export PATH=$reply:\"\$PATH\""
      ;;
    *) line="export PATH=\"$shown:\$PATH\"" ;;
  esac
}

on_path() {
  case :$PATH: in
    *":$bin:"* | *":$bin_given:"*) return 0 ;;
  esac
  return 1
}

# completion_line sets line, which has zsh find our completions.
completion_line() {
  case $data in
    "$physical_home"/*) shown="\$HOME${data#"$physical_home"}/zsh/site-functions" ;;
    *) shown=$data/zsh/site-functions ;;
  esac
  case ${shown#\$HOME} in
    *[\"\$\`\\]*)
      quoted "$data/zsh/site-functions"
      line="fpath=($reply \$fpath)"
      ;;
    *) line="fpath=(\"$shown\" \$fpath)" ;;
  esac
  line="$line; autoload -Uz compinit && compinit"
}

# add_completion makes zsh find our completions, or prints how (CLI-1168). Bash with bash-completion and fish
# look in the directory of data by themselves.
add_completion() {
  [ "$shell" = zsh ] && [ -f "$data/zsh/site-functions/_mcp-bash" ] || return 0
  if has zsh && zsh -fc 'print -rl -- $fpath' 2>/dev/null | grep -qxF -- "$data/zsh/site-functions"; then
    return 0
  fi
  completion_line
  rc=$zsh_home/.zshrc
  if has_line "$rc"; then
    ok "Completion for zsh is in $rc already"
  elif [ -n "$modify_path" ] && { [ ! -e "$rc" ] || [ -f "$rc" ]; } && add_line; then
    changed=$rc when='Open a new shell'
    ok "Added completion for zsh to $rc"
  else
    say "  For completion, add this to $rc: $line"
  fi
}

# add_line appends $line to $rc in one write. It first ends an incomplete last line.
add_line() {
  text=$made_note
  [ ! -e "$rc" ] || text=$path_note
  text="$text
$line"
  if [ -s "$rc" ] && [ -n "$(tail -c 1 "$rc")" ]; then
    text="
$text"
  fi
  { printf '%s\n' "$text" >>"$rc"; } 2>/dev/null
}

# start_files sets the files that the user's shell reads: $each for each interactive shell, and $login for a
# login shell. Bash reads only the first of its three login files, so a new one must not hide another.
start_files() {
  each='' login=''
  case $shell in
    zsh) each=$zsh_home/.zshrc login=$zsh_home/.zprofile ;;
    bash)
      each=$HOME/.bashrc login=$HOME/.profile
      for rc in .bash_login .bash_profile; do
        [ ! -e "$HOME/$rc" ] || login=$HOME/$rc
      done
      ;;
    sh | dash | ash | ksh | mksh) login=$HOME/.profile ;;
    fish) # it has export, too
      each=${XDG_CONFIG_HOME:-$HOME/.config}/fish/config.fish
      [ -z "$modify_path" ] || mkdir -p "${each%/*}" 2>/dev/null || :
      ;;
  esac
}

# has_line FILE: whether the start file has $line.
has_line() {
  [ -f "$1" ] && grep -qxF -- "$line" "$1" 2>/dev/null
}

# add_path puts $bin on PATH in new shells. It sets $changed to the file to read in this shell, and $when to
# when the other shells find the commands.
add_path() {
  resolve "$HOME" && physical_home=$reply
  path_line
  changed='' when=''
  shell=${SHELL-} shell=${shell##*/}
  [ -z "$shell" ] || ok "Detected shell: $shell"
  start_files
  if on_path && { [ -z "$modify_path" ] || [ -z "$each" ] || ! has_line "$each"; }; then
    ok "$shown already in PATH"
  elif [ -z "$each$login" ]; then
    no_path "Not on PATH: $bin" 'the start file of your shell' || :
  else
    [ -z "$each" ] || ! add_path_to "$each" || changed=$each when='Open a new shell'
    [ -z "$login" ] || ! add_path_to "$login" || changed=${changed:-$login} when=${when:-Log in again}
    ! on_path || changed=''
  fi
}

# add_path_to FILE has the start file put $bin on PATH. It is false if the user has to do that.
add_path_to() {
  rc=$1
  if has_line "$rc"; then
    say "$shown already in $rc (will take effect in new shells)"
  elif [ -z "$modify_path" ]; then
    no_path "Not on PATH: $bin" "$rc"
  elif [ -e "$rc" ] && [ ! -f "$rc" ]; then # a pipe would never end
    no_path "Not a regular file, and left as it is: $rc" "$rc"
  elif add_line; then
    case $shown in "\$HOME"/*) ok "Added ~${shown#\$HOME} to PATH in $rc" ;; *) ok "Added $shown to PATH in $rc" ;; esac
  else
    no_path "Cannot be written: $rc" "$rc"
  fi
}

# no_path REASON PLACE shows the line for the user to add. It is false.
no_path() {
  warn "$1"
  say "  Add this to $2: $line"
  return 1
}

# each_start_file COMMAND: runs it for each start file that can have our lines, in $rc.
each_start_file() {
  for rc in "$zsh_home/.zshrc" "$zsh_home/.zprofile" "$HOME/.zshrc" "$HOME/.zprofile" "$HOME/.bashrc" \
    "$HOME/.bash_profile" "$HOME/.bash_login" "$HOME/.profile" "${XDG_CONFIG_HOME:-$HOME/.config}/fish/config.fish"; do
    "$1"
  done
}

# linked FILE: the file that a start file leads to, in $file. The start file may be a link.
linked() {
  file=$1
  while [ -L "$file" ] && [ -e "$file" ]; do
    target=$(readlink "$file")
    case $target in
      /*) file=$target ;;
      *) file=${file%/*}/$target ;;
    esac
  done
}

# remove_copy removes the new file that a killed run left next to the start file $rc.
remove_copy() {
  linked "$rc"
  [ ! -e "$file$fresh" ] || ! ours "$file$fresh" || rm -f -- "$file$fresh"
}

# remove_path takes our lines out of the start files, which may be links. A file that has nothing
# else in it goes if we made it.
remove_path() {
  resolve "$HOME" && physical_home=$reply
  completion_line
  completion=$line
  path_line
  each_start_file remove_lines
}

# remove_lines does so for the file $rc.
remove_lines() {
  if [ ! -f "$rc" ] || ! grep -qF -- "$path_note" "$rc" 2>/dev/null; then
    return 0
  fi
  cat -- "$rc" >"$stage/before" || fail "Cannot be read: $rc"
  NOTE=$path_note MADE=$made_note LINE=$line COMPLETION=$completion awk '
    held != "" { note = held; held = ""; if ($0 == ENVIRON["LINE"] || $0 == ENVIRON["COMPLETION"]) next; print note }
    $0 == ENVIRON["NOTE"] || $0 == ENVIRON["MADE"] { held = $0; next }
    { print }
    END { if (held != "") print held }' "$stage/before" >"$stage/after" || fail "Cannot be read: $rc"
  if cmp -s "$stage/after" "$stage/before"; then
    return 0
  fi
  linked "$rc"
  if [ ! -s "$stage/after" ] && grep -qxF -- "$made_note" "$stage/before"; then
    rm -f -- "$file" || fail "Cannot be removed: $file"
  elif ! replace "$file"; then
    warn "Left as it is: $rc ($reply)"
    for line in "$line" "$completion"; do
      ! grep -qxF -- "$line" "$rc" || say "  Remove this line from it: $line"
    done
    path_line
    return 0
  fi
  ok "Removed our lines from $rc"
}

# rights FILE: its mode, number of names, owner and group, in $reply.
rights() {
  listed=$(LC_ALL=C ls -ldn -- "$1")
  set -f
  # shellcheck disable=SC2086 # split into fields
  set -- $listed
  set +f
  reply="$1 $2 $3 $4"
}

# replace FILE puts stage/after in the place of FILE if that is still stage/before, with all its
# rights. It is false where they cannot be copied, with the reason in $reply.
replace() {
  making=$1$fresh
  rm -f -- "$making"
  cp -a -- "$1" "$making" && cat "$stage/after" >"$making" || fail "Cannot be written: $1"
  rights "$making"
  copied=$reply
  rights "$1"
  if [ "$copied" != "$reply" ]; then
    reply='it has other names, or rights that cannot be copied'
  elif ! cmp -s "$stage/before" "$1"; then
    reply='it changed meanwhile'
  else
    mv -f -- "$making" "$1" || fail "Cannot be written: $1"
    return 0
  fi
  rm -f -- "$making"
  return 1
}

# shadows warns of another mcp-bash that is found before ours.
shadows() {
  entries=$PATH:
  while [ -n "$entries" ]; do
    entry=${entries%%:*} entries=${entries#*:}
    case $entry in
      /*) ;;
      *) continue ;;
    esac
    if [ "$entry" = "$bin" ]; then
      return 0
    fi
    if [ -f "$entry/mcp-bash" ] && [ -x "$entry/mcp-bash" ]; then
      physical "$entry" || continue
      [ "$reply" != "$bin" ] || return 0
      warn "Another mcp-bash comes first on PATH: $entry/mcp-bash"
      return 0
    fi
  done
}

# --- The three jobs ---------------------------------------------------------------

install() {
  say '' 'mcp-bash Installer' '==================' ''
  say "Detecting system... $kernel ($machine)" "Install location: $dir"
  look
  choose
  find_summer
  if [ -n "$programs" ]; then
    warn "mcp-bash is installed there already${old_version:+, version $old_version}"
    warn 'It will be replaced.'
    confirm Overwriting 'Overwrite? [y/N] ' 'Installation cancelled by user.'
  fi
  begin
  look
  obtain
  check_tree
  mark
  keep_own
  swap "$stage/old/bin/mcp-bash$exe"
  case $source in
    archive | release) ok 'Installed from archive' ;;
    *) ok 'Installed' ;;
  esac
  link_all
  add_path
  add_completion
  say '' 'Verifying installation...'
  told=$(MCPBASH_HOME='' "$bin/mcp-bash" --version </dev/null) || fail "It does not run: $bin/mcp-bash"
  ok "mcp-bash --version: ${told#mcp-bash }"
  if has jq; then
    ok "jq found: $(command -v jq)"
  else
    ok 'jq not found; the one of mcp-bash is used'
  fi
  shadows
  say '' 'Installation complete!'
  if [ -n "$changed" ]; then
    reply=$changed
    case $reply in
      *[!A-Za-z0-9_./+-]*) quoted "$reply" ;;
    esac
    say '' "$when, or: . $reply"
  fi
  first=mcp-bash # or its path, if no shell finds it
  if [ -z "$changed" ] && ! on_path; then
    first=$bin/mcp-bash
    case $first in
      *[!A-Za-z0-9_./+-]*) quoted "$first" && first=$reply ;;
    esac
  fi
  say '' 'A first project:' "  $first new my-server && cd my-server" \
    "  $first run-tool hello --allow-self" 'Look at it with the Inspector:' \
    "  eval \"\$($first config --inspector)\""
}

# relink makes the links to the commands of the installation again. It leaves other files in
# their place alone, and fails if there are any.
relink() {
  look
  [ -n "$programs" ] || fail "Nothing is installed: $dir"
  begin
  look
  link_all
  if [ -n "$blocked" ]; then
    fail "In the way of a command, and not a link: $blocked" 'Move it away, then run this again.'
  fi
}

# client_entries sets $entries: what clients' files still have of the installation $dir, and the commands that
# remove it (CLI-753).
client_entries() {
  entries=''
  lister=$dir/bin/mcp-scaffold$exe
  if [ -f "$lister" ] && ours "$dir/bin" "$lister"; then
    entries=$(MCPBASH_HOME='' "$lister" config --entries </dev/null 2>/dev/null) || entries=''
  fi
}

# uninstall replaces the installation with a tree of the user's files, or removes it. If it is
# stopped then, links to missing files remain, and the next run removes them.
uninstall() {
  look
  if [ -n "$programs" ]; then
    say "mcp-bash will be removed: $dir"
    client_entries
    if [ -n "$entries" ]; then
      warn 'The files of clients have entries for it. Run these commands first to remove them:'
      printf '%s\n' "$entries"
    fi
    confirm Removing 'Remove? [y/N] ' 'Cancelled by user.'
  elif [ ! -d "$parent" ]; then
    ok "Nothing is installed: $dir"
    return 0
  fi
  find_summer
  begin
  look
  client_entries
  if [ -n "$old" ]; then
    tree=$stage/tree
    mkdir -- "$tree"
    keep_own
    if [ -z "$kept" ]; then
      mv -- "$dir" "$stage/gone" || fail "Cannot be removed: $dir"
      discard "$stage/gone"
    else
      : >"$tree/$list"
      printf '{"managed":true,"source":"uninstall"}\n' >"$tree/$marker"
      program=$dir/bin/mcp-bash$exe
      ours "$dir/bin" "$program" || program=false
      swap "$program"
    fi
    ok "Removed $dir${kept:+, but for what is yours}"
  fi
  unlink_dead
  remove_path
  ok 'mcp-bash is not installed there any more'
  if [ -n "$entries" ]; then
    warn 'The files of clients still have these entries. Remove them by hand, or with another mcp-bash:'
    printf '%s\n' "$entries"
  fi
}

main() {
  colours
  parse "$@"
  umask 022
  system
  places
  "$job"
}

main "$@"
}
