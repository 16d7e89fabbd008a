#!/bin/sh
# Installs mcp-bash for one user, replaces an installation, or removes it (see --help).
# It needs a POSIX shell, for downloads curl or wget, and for a checkout Go.
#
# Each version is a folder in share/mcp-bash.versions, and share/mcp-bash is a link to one of them. The script
# completes and checks a folder, and then replaces the link in one step. So if it is stopped at any time, the
# link leads to a complete installation (CLI-1710).

# The brace makes the script one command. A shell that received only a part of it
# reports a syntax error and runs nothing.
{
set -eu

# The address of the releases, and the release that this file is from. "make release BASE_URL=..." sets both (CLI-1170).
released_at=''
released_as=''

usage() {
  cat <<'END'
Usage: install.sh [OPTIONS]

Installs mcp-bash from the given source. Without one, it installs the checkout or the
unpacked archive that contains it, or else the latest release.

  install.sh                                       from here
  install.sh --archive mcp-bash-v2.0.0-linux-amd64.tar.gz
  install.sh --version 2.0.0 --verify SHA256       from the releases
  install.sh --uninstall

Source:
  --archive SRC       a release archive: a file, file:// or http(s):// (a .zip on Windows)
  --version V         the release of that version, or latest; also --ref, --branch: a tag, branch
                      or commit of $MCPBASH_INSTALL_REPO_URL, which Go then builds
  --verify SHA256     the checksum of the archive (default: the one in SHA256SUMS next to it)
  --verify-signature KEY
                      check the signature of SHA256SUMS with minisign or ssh-keygen; KEY is their
                      public key, or a file with one key of each
  --no-verify         install a downloaded archive without a known checksum
  --offline           do not use the network
Target:
  --prefix DIR        DIR/share/mcp-bash, commands in DIR/bin (default: ~/.local)
  --no-modify-path    do not change the start files of the shell
Other:
  --uninstall         remove the installation, its commands and its lines in start files
  --allow-downgrade   replace a newer version
  --min-version V     install no version older than V
  --check             compare with the latest release, and install nothing; 1 if it is newer
  -q, --quiet         print results only
  -y, --yes           do not ask
  -h, --help          show this

Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 refused or not confirmed.

END
  printf 'Releases: %s\n' "${releases:-no address is known; set MCPBASH_RELEASE_BASE_URL to download them.}"
}

# --- Messages and files ---------------------------------------------------------

colours() {
  good='✓' bad='✗' warned='⚠'
  if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
    good=$(printf '\033[32m✓\033[0m') warned=$(printf '\033[33m⚠\033[0m')
  fi
  if [ -t 2 ] && [ -z "${NO_COLOR-}" ]; then
    bad=$(printf '\033[31m✗\033[0m')
  fi
}

# lines PREFIX LINE...: prints each line. The name of a file may contain control characters.
lines() {
  before=$1
  shift
  for line do
    case $line in
      *[[:cntrl:]]*) line=$(printf '%s' "$line" | LC_ALL=C tr '\000-\037\177' '?') ;;
    esac
    printf '%s%s\n' "${line:+$before}" "$line"
  done
}

say() { [ -n "$quiet" ] || lines '' "$@"; }
ok() { lines "$good " "$1"; }
warn() { lines "$warned " "$1"; }

# stop STATUS LINE...: ends with a message, whose first line is marked.
stop() {
  status=$1
  lines "$bad " "$2" >&2
  shift 2
  lines '  ' "$@" >&2
  exit "$status"
}

fail() { stop 1 "$@"; }
misused() { stop 2 "$@" 'Run "install.sh --help" for usage.'; }

newline='
'

has() { command -v "$1" >/dev/null 2>&1; }

# quoted TEXT sets reply to the text as a word of the shell.
quoted() { reply=\'$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")\'; }

# start_of FILE sets reply to at most 4096 bytes of a regular file. A pipe or a device would never end.
start_of() {
  reply=''
  [ ! -f "$1" ] || { reply=$(dd if="$1" bs=4096 count=1); } 2>/dev/null || :
}

# exposed PATH: whether somebody else can change the file or folder, with the reason in reply. It must be no link,
# belong to this user or root, and be writable neither for others nor for a shared group (CLI-1712).
exposed() {
  reply=''
  [ "$os" != windows ] || return 1
  set -f
  # shellcheck disable=SC2046 # split into fields
  set -- $(LC_ALL=C ls -ldn -- "$1" 2>/dev/null)
  set +f
  mode=${1-} owner=${3-} group=${4-}
  case $owner in
    "$(id -u)" | 0) ;;
    *) reply="it belongs to user ${owner:-?}" && return 0 ;;
  esac
  case $mode in
    l*) reply='it is a link' ;;
    ????????w*) reply="mode $mode, others can write to it" ;;
    ?????w*+) reply="mode $mode, its access control list lets others write to it" ;;
    ?????w*)
      [ "$group $(id -un 2>&1)" = "$(id -g) $(id -gn 2>&1)" ] || reply="mode $mode, group $group can write to it"
      ;;
  esac
  [ -n "$reply" ]
}

# --- Options and places -----------------------------------------------------------

needs() { [ -n "$value" ] || misused "$option requires $1"; }

parse() {
  archive='' verify='' ref='' branch='' prefix='' yes='' job=install offline='' unverified='' downgrade=''
  minimum='' quiet='' modify_path=1 signer='' check=''
  releases=${MCPBASH_RELEASE_BASE_URL:-$released_at}
  while [ $# -gt 0 ]; do
    option=$1 value=''
    shift
    case ${option%%=*} in
      --archive | --verify | --verify-signature | --version | --ref | --branch | --prefix | --min-version)
        case $option in
          *=*) value=${option#*=} option=${option%%=*} ;;
          *) [ $# -eq 0 ] || { value=$1 && shift; } ;;
        esac
        ;;
    esac
    case $value in -*) value='' ;; esac
    case $option in
      --archive) needs 'a local path or URL' && archive=$value ;;
      --branch) needs 'a branch name' && ref=$value branch=1 ;;
      --version | --ref) needs 'a tag or commit' && ref=$value branch='' ;;
      --prefix) needs 'a directory path' && prefix=$value ;;
      --verify)
        case $value in *[!0-9A-Fa-f]*) value='' ;; esac
        [ ${#value} -eq 64 ] || value=''
        needs 'a SHA256 checksum value' && verify=$(printf '%s' "$value" | tr A-F a-f)
        ;;
      --verify-signature) needs 'a public key' && signer=$value ;;
      --min-version) needs 'a version' && minimum=${value#v} ;;
      --no-verify) unverified=1 ;;
      --offline) offline=1 ;;
      --no-modify-path) modify_path='' ;;
      --allow-downgrade) downgrade=1 ;;
      --uninstall) job=uninstall ;;
      --check) check=1 ;;
      -q | --quiet) quiet=1 ;;
      -y | --yes) yes=1 ;;
      -h | --help) usage && exit 0 ;;
      *) misused "Unknown option: $option" ;;
    esac
  done
  [ -z "$check" ] || ref=latest archive='' branch='' verify=''
  case $ref in
    *[!A-Za-z0-9._/+-]* | *..*) misused "Not a tag or commit: $ref" ;;
    [0-9]*.[0-9]*) ref=v$ref ;;
  esac
  [ -z "$signer" ] || [ -z "$verify$unverified$branch" ] ||
    misused '--verify-signature is for archives, and excludes --verify, --no-verify and --branch'
}

# is_release REF: whether it is the tag of a release, as v2.0.0.
is_release() {
  case $1 in
    v*[!0-9A-Za-z.+-]*) return 1 ;;
    v[0-9]*.[0-9]*.[0-9]*) return 0 ;;
  esac
  return 1
}

system() {
  kernel=$(uname -s) machine=$(uname -m) exe='' suffix=.tar.gz
  case $kernel in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN*) os=windows exe=.exe suffix=.zip ;;
    *) os='' ;;
  esac
  case $machine in
    x86_64 | amd64) arch=amd64 ;;
    arm64 | aarch64) arch=arm64 ;;
    *) arch='' ;;
  esac
}

# one_line PATH refuses a path with control characters. A line break in the path would start another line in a
# start file.
one_line() {
  case $1 in *[[:cntrl:]]*) misused "The path contains a control character: $1" ;; esac
}

# enter DIR creates the folder, and sets reply to its path without links.
enter() {
  one_line "$1"
  mkdir -p -- "$1" 2>/dev/null && reply=$(CDPATH='' cd -P -- "$1" && pwd -P) || fail "Cannot be made: $1"
  one_line "$reply" # a link may lead to another name
}

# places sets bin and data, the folders of commands and of what shells and man read, and dir, the installation.
# --uninstall is about the installation that contains this script, unless --prefix names another (CLI-1169).
places() {
  [ -d "${HOME-}" ] || fail 'HOME is not set to a directory'
  enter "$HOME" && home=$reply
  case ${ZDOTDIR-} in /*) zsh_home=$ZDOTDIR ;; *) zsh_home=$HOME ;; esac
  bin=${XDG_BIN_HOME:-$HOME/.local/bin} data=${XDG_DATA_HOME:-$HOME/.local/share} here=''
  case $0 in */install.sh | install.sh) here=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd -P) || here='' ;; esac
  if [ -n "$prefix" ]; then
    bin=$prefix/bin data=$prefix/share
  elif [ "$job" = uninstall ] && [ -f "$here/$marker" ]; then
    data=${here%/mcp-bash} data=${data%/mcp-bash.versions/*}
    by_prefix=${data%/share}/bin
    [ "$(readlink "$by_prefix/mcp-bash" 2>/dev/null)" != "$data/mcp-bash/bin/mcp-bash" ] || bin=$by_prefix
  fi
  bin_given=$bin
  case $bin in *:*) misused "A colon separates directories in PATH, and cannot be in this one: $bin" ;; esac
  enter "$bin" && bin=$reply
  enter "$data" && data=$reply
  dir=$data/mcp-bash versions=$data/mcp-bash.versions
  stage=$versions/.stage lock=$versions/lock
}

# --- One run at a time ------------------------------------------------------------

# abandoned: whether the run that has the lock has ended. A run writes its number at once, so an empty lock is left
# over after a minute.
abandoned() {
  start_of "$lock"
  number=${reply%%"$newline"*}
  case $number in
    '') [ -n "$(find "$lock" -prune -mmin +1 2>/dev/null)" ] ;;
    *[!0-9]*) return 0 ;;
    *) ! kill -0 "$number" 2>/dev/null ;;
  esac
}

# begin takes the lock (CLI-1113), completes what a killed run began, and makes the stage, where this run works. It
# waits for the lock as many seconds as the environment allows, by default none. Only this user can change anything
# in $versions, so everything there comes from this script.
begin() {
  locked='' making=''
  trap cleanup EXIT
  heed_signals
  if exposed "$data"; then
    case $mode,$reply in
      d????????[tT]*,mode*) ;; # a sticky folder, where nobody moves files of others
      d???????w*) fail "Not a place for programs: $data ($reply)" 'Run chmod o-w on it, or choose another --prefix.' ;;
      *) warn "Others can replace what is in $data: $reply" ;;
    esac
  fi
  mkdir -- "$versions" 2>/dev/null || :
  ! exposed "$versions" || fail "Others can change the installation: $versions: $reply"
  seconds=${MCPBASH_DOCTOR_LOCK_TIMEOUT_SECS:-0}
  case $seconds in *[!0-9.]* | .*) seconds=0 ;; esac
  deadline=$(($(date +%s) + ${seconds%%.*}))
  until (set -C && printf '%s\n' "$$" >"$lock") 2>/dev/null; do
    ! abandoned || { rm -f -- "$lock" && continue; }
    [ "$(date +%s)" -lt "$deadline" ] || fail "Timed out waiting for doctor fix lock: $lock" \
      'Another installation is going on. If none is, remove that file.'
    sleep "${MCPBASH_DOCTOR_LOCK_POLL_SECS:-0.05}" 2>/dev/null || sleep 1
  done
  locked=1
  rm -rf -- "$stage" && mkdir -- "$stage" || fail "Cannot be written to: $versions"
  each_start_file remove_copy
  if [ ! -e "$dir" ] && [ ! -L "$dir" ]; then # a run was killed before it put a complete version in its place
    for left in "$versions"/*/; do
      [ ! -f "$left$marker" ] || { left=${left%/} && lead "${left##*/}" && break; }
    done
  fi
}

heed_signals() {
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

cleanup() {
  trap '' HUP INT TERM
  [ -z "$making" ] || rm -f -- "$making"
  [ -z "$locked" ] || rm -rf -- "$stage" "$lock"
  rmdir -- "$versions" 2>/dev/null || :
}

# confirm DOING QUESTION CANCELLED continues if the user agrees.
confirm() {
  if [ -n "$yes" ]; then
    say "$1 (--yes flag)"
  elif ! has_terminal; then
    say 'Auto-confirming due to no TTY available'
  else
    agrees "$2" || { say "$3" && exit 3; }
  fi
}

has_terminal() { (: </dev/tty) 2>/dev/null; }

# agrees QUESTION: whether the answer of the user is yes. It asks on the terminal, even if standard input is a pipe.
agrees() {
  printf '%s' "$1"
  read -r answer </dev/tty || answer=''
  case $answer in y | Y | yes | Yes | YES) return 0 ;; *) return 1 ;; esac
}

# --- The present installation -------------------------------------------------------

# install.sh recognises its installations by two files: the mark, and the list of installed files in the format of
# sha256sum. The limits are for the size of the list, and for the number of files and of bytes in an archive.
marker=INSTALLER.json list=INSTALLED.sha256
max_list=4194304 max_files=20000 max_bytes=1073741824

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

# look sets old if install.sh made $dir, and programs if mcp-bash is in it. An uninstall that kept files of the user
# leaves a $dir without programs. $dir is a link to a folder in $versions, or a folder as earlier versions of this
# script made. look fails for anything else.
look() {
  old='' old_version='' programs='' previous=''
  [ -e "$dir" ] || [ -L "$dir" ] || return 0
  if [ -L "$dir" ]; then
    previous=$(readlink "$dir") previous=${previous#mcp-bash.versions/}
    case $previous in
      */* | .*) previous='' ;;
      *) [ -e "$dir" ] || return 0 ;;
    esac
    ! exposed "$dir" || [ "$reply" = 'it is a link' ] || previous=''
  fi
  if [ ! -f "$dir/$marker" ] || { [ -L "$dir" ] && [ -z "$previous" ]; }; then
    fail "Directory $dir exists but doesn't look like an mcp-bash installation" \
      "(install.sh did not make it: no $marker). Refusing to delete." 'Move it away, or use a different --prefix.'
  fi
  for file in ${previous:+"$versions"} "$dir/." "$dir/$marker" "$dir/$list" "$dir/VERSION"; do
    [ ! -e "$file" ] || ! exposed "$file" || fail "Others can change the installation: $file: $reply" \
      'Run this as the user it belongs to, or run chmod go-w on it.'
  done
  [ ! -f "$dir/$list" ] || [ -z "$(find "$dir/$list" -prune -size +$((max_list / 512)))" ] ||
    fail "Not a list of installed files, because it is larger than $max_list bytes: $dir/$list" \
      'Move the installation away, or use a different --prefix.'
  old=1
  version_of "$dir" && old_version=$reply
  [ ! -f "$dir/bin/mcp-bash" ] && [ ! -f "$dir/bin/mcp-bash.exe" ] || programs=1
}

# --- The new version ----------------------------------------------------------------

# choose sets source (archive, local, git or release) and what belongs to it.
choose() {
  source=release local_dir=''
  [ -z "$branch" ] || [ -z "${MCPBASH_INSTALL_LOCAL_SOURCE-}" ] || ref='' # the directory goes before a branch
  if [ -n "$archive" ]; then
    source=archive
  elif [ -n "$ref" ]; then
    case $ref,$branch in latest,) ref='' ;; *) is_release "$ref" || source=git ;; esac
    [ -z "$signer" ] || [ "$source" = release ] || misused "--verify-signature is for archives, not for the source $ref"
  elif [ -n "${MCPBASH_INSTALL_ARCHIVE_URL-}" ]; then
    source=archive archive=$MCPBASH_INSTALL_ARCHIVE_URL
  elif [ -z "$verify$signer" ]; then
    local_dir=${MCPBASH_INSTALL_LOCAL_SOURCE:-$here}
    if is_checkout "$local_dir" || is_tree "$local_dir"; then
      source=local local_dir=$(CDPATH='' cd -P -- "$local_dir" && pwd -P)
      [ "$local_dir" != "$(CDPATH='' cd -P -- "$dir" 2>/dev/null && pwd -P)" ] ||
        fail "It is installed there already: $dir" 'Use --archive or --version to replace it, --uninstall to remove it.'
    elif [ -n "${MCPBASH_INSTALL_LOCAL_SOURCE-}" ]; then
      fail "Neither a checkout nor an installation of mcp-bash: $local_dir (MCPBASH_INSTALL_LOCAL_SOURCE)"
    fi
  fi
}

is_checkout() { [ -f "$1/go.mod" ] && [ -f "$1/release/tree.sh" ] && [ -d "$1/cmd/mcp-bash" ]; }
is_tree() { [ -f "$1/VERSION" ] && [ -f "$1/bin/mcp-bash$exe" ] && [ -f "$1/sdk/tool-sdk.sh" ]; }

# fetch URL FILE: downloads a file of at most 300 MB or so. "https" never becomes "http" on the way.
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
    fail 'curl or wget is needed to download'
  )
}

# find_summer sets summer, the command that computes SHA-256.
find_summer() {
  for summer in sha256sum 'shasum -a 256' 'openssl dgst -sha256 -r'; do
    ! has "${summer%% *}" || return 0
  done
  fail 'No sha256sum, shasum or openssl is here to verify files with'
}

# sums TREE FILE writes the checksums and names of all files of TREE but the mark and the list, as sha256sum does.
# Larger files than those of archives are left out. It is false if a file cannot be read.
sums() {
  # shellcheck disable=SC2086 # a command with options
  (cd -- "$1" && exec find . -type f ! -size +$((max_bytes / 512)) ! -path "./$marker" ! -path "./$list" \
    -exec $summer {} +) >"$stage/sums" 2>/dev/null && complete=1 || complete=''
  sed 's/^\([0-9a-f]\{64\}\) \*/\1  /' "$stage/sums" >"$2"
  [ -n "$complete" ]
}

# listed NAME sets reply to the checksum that SHA256SUMS has for a file, or fails.
listed() {
  reply=$(awk -v name="$1" '$2 == name || $2 == "*" name { print tolower($1); exit }' "$stage/SHA256SUMS")
  [ -n "$reply" ]
}

# release_dir sets archive to the address of the wanted release.
release_dir() {
  base=${releases%/}
  [ -n "$base" ] || fail 'This install.sh has no address of releases' \
    'Set MCPBASH_RELEASE_BASE_URL to it, use --archive FILE, or run install.sh from a checkout.'
  [ -n "$os" ] && [ -n "$arch" ] || fail "There are no releases for this system ($kernel, $machine)" \
    'Run install.sh from a checkout; Go builds it.'
  [ -n "$ref" ] || [ -z "$verify" ] || ref=$released_as # a checksum is that of one release
  if [ -z "$ref" ]; then
    # SHA256SUMS of the latest release names its version. A forge has another address for it.
    latest=$base/latest
    case $base in */releases/download) latest=${base%/download}/latest/download ;; esac
    fetch "$latest/SHA256SUMS" "$stage/SHA256SUMS" || fail "Download failed: $latest/SHA256SUMS"
    ref=$(sed -n "s/^[^ ]*  *\*\{0,1\}mcp-bash-\(v[^ ]*\)-$os-$arch\\$suffix\$/\1/p" "$stage/SHA256SUMS")
    is_release "$ref" || fail "The latest release has no archive for $os-$arch: $latest/SHA256SUMS"
  fi
  if [ -n "$check" ]; then
    ! older "$old_version" "${ref#v}" || { warn "A newer release exists: ${ref#v}" && exit 1; }
    ok "No newer release exists; the latest is ${ref#v}"
    exit 0
  fi
  archive=$base/$ref/mcp-bash-$ref-$os-$arch$suffix
}

# from_archive puts the tree of $archive into $stage/tree, after it has checked the checksum.
from_archive() {
  file=${archive#file://}
  asset=${file%%[?#]*} asset=${asset##*/}
  case $file in
    http://* | https://*) fetch "$file" "$stage/archive" || fail "Download failed: $file" ;;
    *)
      [ -f "$file" ] || fail "There is no such archive: $file"
      cp -- "$file" "$stage/archive" || fail "Cannot be read: $file"
      ;;
  esac
  [ -n "$verify" ] || neighbour SHA256SUMS || :
  [ -z "$signer" ] || check_signature
  check_archive
  unpack
}

# neighbour NAME puts the file of that name next to the archive into $stage. It is false if the file is missing.
neighbour() {
  rm -f -- "$stage/$1"
  case $file in
    http://* | https://*) fetch "${file%/*}/$1" "$stage/$1" ;;
    *) cp -- "$(dirname -- "$file")/$1" "$stage/$1" ;;
  esac 2>/dev/null || { rm -f -- "$stage/$1" && return 1; }
}

# check_signature checks the signature of SHA256SUMS with a key of --verify-signature. Everything that is missing or
# wrong ends the script (CLI-1717).
check_signature() {
  reply=$signer
  [ ! -f "$signer" ] || start_of "$signer"
  minisign=$(printf '%s\n' "$reply" | sed -n '/^RW[0-9A-Za-z+/=]*$/{p;q;}')
  ssh=$(printf '%s\n' "$reply" | sed -n '/^[a-z][a-z0-9@.-]* AAAA/{p;q;}')
  if [ -n "$minisign" ] && has minisign; then
    how=minisign signature=SHA256SUMS.minisig key=$minisign
    set -- -Vqm "$stage/SHA256SUMS" -x "$stage/$signature" -P "$key"
  elif [ -n "$ssh" ] && has ssh-keygen; then
    how=ssh-keygen signature=SHA256SUMS.sig key=$ssh
    printf 'release namespaces="mcp-bash-release" %s\n' "$key" >"$stage/signers"
    set -- -Y verify -f "$stage/signers" -I release -n mcp-bash-release -s "$stage/$signature"
  elif [ -n "$minisign$ssh" ]; then
    fail 'The program that checks signatures of this key is not here' \
      'Install the package minisign for a key RW..., or openssh-client (ssh-keygen) for a key ssh-...'
  else
    misused "Neither a public key of minisign or ssh-keygen, nor a file with one: $signer"
  fi
  [ -f "$stage/SHA256SUMS" ] && neighbour "$signature" || fail "SHA256SUMS and $signature are not next to $archive"
  "$how" "$@" <"$stage/SHA256SUMS" >/dev/null 2>&1 || fail "The key has not signed SHA256SUMS: ${file%/*}/$signature" \
    'SHA256SUMS was changed, or the key is not that of the releases. Nothing was installed.'
  ok "Signature of SHA256SUMS verified ($how)"
}

# check_archive compares the checksum with that of --verify, or that in SHA256SUMS.
check_archive() {
  expected=$verify how=--verify
  if [ -z "$expected" ] && [ -n "$unverified" ]; then
    warn 'Archive not verified (--no-verify)' && return
  elif [ -z "$expected" ] && [ -f "$stage/SHA256SUMS" ]; then
    listed "$asset" || { [ -n "$ref" ] && listed "mcp-bash-$ref-$os-$arch$suffix"; } ||
      fail "SHA256SUMS missing entry for $asset"
    expected=$reply how=SHA256SUMS
  elif [ -z "$expected" ]; then
    case $archive in
      http://* | https://*) fail "SHA256SUMS not found next to $archive" \
        'Give its checksum with --verify; --no-verify installs it unchecked.' ;;
    esac
    warn 'SHA256SUMS not found next to archive; skipping archive verification' && return
  fi
  reply=$($summer <"$stage/archive") || fail "Cannot be read: $archive"
  reply=${reply%% *}
  [ "$reply" = "$expected" ] || fail "SHA256 checksum verification failed for: $asset" '' \
    'The file is damaged, is not the one that was meant, or was changed by somebody.' '' \
    "Expected: $expected" "Got:      $reply" '' \
    'Compare with SHA256SUMS of the release, and download the archive again.'
  verified=true
  ok "Archive checksum verified ($how)"
}

# expand COMMAND makes a command write the content of $stage/archive to $stage/expanded, up to the
# maximum. A shell counts the limit in units of 512 or 1024 bytes, so the size is checked, too.
expand() {
  (
    # shellcheck disable=SC3045 # not every shell has it, and then it has no effect
    ulimit -c 0 2>/dev/null || :
    ulimit -f $((max_bytes / 512)) 2>/dev/null || :
    exec $1 "$stage/archive" >"$stage/expanded"
  ) 2>/dev/null && [ "$(wc -c <"$stage/expanded")" -le "$max_bytes" ] ||
    fail "Not an archive, or larger than $max_bytes bytes: $asset"
}

# unpack unpacks $stage/archive. It refuses archives with anything but plain files and
# folders below mcp-bash/, and those with too many files or bytes.
unpack() {
  foreign="The archive is not one of mcp-bash: $asset"
  case $asset in
    *.zip)
      has unzip || fail 'unzip is needed for this archive'
      expand 'unzip -p'
      unzip -Z1 "$stage/archive" >"$stage/names" 2>/dev/null || fail "Not an archive: $asset"
      : >"$stage/kinds"
      ;;
    *)
      expand 'gzip -dc'
      { tar -tf "$stage/expanded" >"$stage/names" && tar -tvf "$stage/expanded" >"$stage/kinds"; } 2>/dev/null ||
        fail "Not an archive: $asset"
      ;;
  esac
  [ "$(wc -l <"$stage/names")" -le "$max_files" ] || fail "$foreign" "It holds more than $max_files files."
  while IFS= read -r name; do
    case /$name/ in
      */../*) fail "$foreign" "It holds a path with '..'." ;;
      /mcp-bash/*) ;;
      *) fail "$foreign" 'It holds something outside of mcp-bash/.' ;;
    esac
  done <"$stage/names"
  while IFS= read -r kind; do
    case $kind in
      -*' link to '* | -*' -> '* | [!d-]*) fail "$foreign" 'It holds links or devices.' ;;
    esac
  done <"$stage/kinds"
  mkdir -- "$stage/unpacked"
  case $asset in
    *.zip) unzip -q -d "$stage/unpacked" "$stage/archive" ;;
    *) (cd -- "$stage/unpacked" && exec tar -xof ../expanded) ;;
  esac || fail "Unpacking failed: $asset"
  mv -- "$stage/unpacked/mcp-bash" "$tree" || fail "The archive is empty: $asset"
}

# build CHECKOUT: has Go build the commands for this machine.
build() {
  has go || fail 'Go is needed to build from a checkout (https://go.dev/dl)' \
    'Or install a release archive: --archive FILE'
  [ -n "$commit" ] || commit=$(sh "$1/release/commit.sh" 2>/dev/null) || commit=''
  (
    cd -- "$1"
    unset GOOS GOARCH
    export CGO_ENABLED=0
    [ -z "$offline" ] || export GOPROXY=off GOTOOLCHAIN=local
    exec go build -trimpath -buildvcs=false -tags=nethttpomithttp2 \
      -ldflags="-s -w -funcalign=16${commit:+ -X mcp-bash/pkg/cli.commit=$commit}" -o "$stage/programs/" ./cmd/...
  ) || fail 'Building failed'
  sh "$1/release/tree.sh" "$stage/programs" "$tree" || fail 'The tree could not be laid out'
}

from_git() {
  repository=${MCPBASH_INSTALL_REPO_URL-}
  case $repository in
    '') fail "Where are the sources that $ref is in? Set MCPBASH_INSTALL_REPO_URL, or use --archive FILE" ;;
    -*) fail "Not a repository: $repository" ;;
  esac
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

# obtain makes $tree.
obtain() {
  verified=false commit='' checkout='' key=''
  case $source in
    local)
      if is_checkout "$local_dir"; then
        say '' 'Building mcp-bash...'
        build "$local_dir"
        checkout=$local_dir
        ok 'Built from the checkout'
        return
      fi
      say '' 'Copying mcp-bash...'
      cp -R -- "$local_dir" "$tree" || fail "Cannot be copied: $local_dir"
      ok 'Copied local source'
      ;;
    git) say '' 'Cloning and building mcp-bash...' && from_git ;;
    *)
      say '' 'Downloading mcp-bash framework...' # also for a local archive, as the Bash edition
      [ "$source" = archive ] || release_dir
      from_archive
      ;;
  esac
}

# check_tree refuses a tree that is not complete, not for this machine, or not wanted.
check_tree() {
  chmod -R a-st,u=rwX,go=rX "$tree" # an archive may set the user id on execution
  is_tree "$tree" || fail 'It is not a whole installation: VERSION, bin/mcp-bash or sdk/tool-sdk.sh is missing'
  [ -z "$(find "$tree" ! -type f ! -type d)" ] || fail 'It holds links or devices'
  version_of "$tree" && version=$reply
  [ -n "$version" ] || fail 'Its VERSION is not a version'
  ! is_release "$ref" || [ "v$version" = "$ref" ] || fail "It is version $version, not ${ref#v}"
  told=$(MCPBASH_HOME='' "$tree/bin/mcp-bash$exe" --version </dev/null 2>/dev/null) || told=''
  [ "$told" = "mcp-bash $version" ] || fail "Its mcp-bash does not run here, or is not version $version" \
    "This system is $kernel ($machine); is the archive for another one?"
  [ -z "$minimum" ] || ! older "$version" "$minimum" || fail "It is version $version, older than $minimum"
  [ -n "$downgrade" ] || [ -z "$old_version" ] || ! older "$version" "$old_version" ||
    stop 3 "Refusing to replace version $old_version with the older $version" 'If that is meant: --allow-downgrade'
  for file in "$tree"/bin/mcp-*; do
    command_of "$file"
    ! is_in_the_way "$place" || fail "In the way of a command, and not a link: $place" \
      'Move it away, then run this again. Nothing was changed.'
  done
}

# member NAME VALUE prints a member of a JSON object. A value with control characters becomes empty.
member() {
  case $2 in *[[:cntrl:]]*) set -- "$1" '' ;; esac
  printf '"%s":"%s",' "$1" "$(printf '%s\n' "$2" | sed 's/[\\"]/\\&/g')"
}

# mark writes the two files by which the tree is known later. The commit comes from the programs, with -dirty for
# changed sources (CLI-1708).
mark() {
  if [ -z "$commit" ]; then
    told=$(MCPBASH_HOME='' "$tree/bin/mcp-bash$exe" --version --json </dev/null 2>/dev/null) || told=''
    id='.*"commit":"\([0-9a-f]\{40,64\}\)","modified":'
    commit=$(printf '%s\n' "${told%%"$newline"*}" | sed -n -e "s/${id}true.*/\\1-dirty/p" -e "s/${id}false.*/\\1/p")
  fi
  case $source in release) from=$base ;; git) from=$repository ;; archive) from=$archive ;; *) from='' ;; esac
  case $source,$from in
    *://*[@?]*) from='' ;; # it may have a login or a token
    *://* | *,/*) ;;
    archive,*) from=$PWD/$from ;;
  esac
  {
    printf '{"managed":true,'
    member installedAt "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    member source "$source"
    member ref "$ref"
    member version "$version"
    member commit "$commit"
    member checkout "$checkout"
    member from "$from"
    member key "$key"
    printf '"verified":%s}\n' "$verified"
  } >"$tree/$marker"
  sums "$tree" "$tree/$list" || fail "Cannot be read: $tree"
}

# --- The user's files (CLI-1713) ------------------------------------------------------

# names FILE: the names in a list of checksums, a line each.
names() { sed -n 's/^[0-9a-f]\{64\}  \.\///p' "$1"; }

# keep_own copies files that the user added or changed from $dir to $tree. If $tree has a file of
# the same name, the copy is NAME.saved.
keep_own() {
  kept=''
  [ -f "$dir/$list" ] || return 0
  sums "$dir" "$stage/now" || : # a file that cannot be read has changed
  grep -Fxf "$dir/$list" "$stage/now" >"$stage/same" || :
  unchanged=$newline$(names "$stage/same")$newline
  known=$newline$(names "$dir/$list")
  keep ''
}

# keep BELOW does so for the folder $dir/BELOW.
keep() {
  for entry in "$dir/$1"* "$dir/$1".[!.]* "$dir/$1"..?*; do
    [ -e "$entry" ] || [ -L "$entry" ] || continue
    name=${entry#"$dir/"} to=$tree/${entry#"$dir/"}
    case $name in "$marker" | "$list") continue ;; esac
    if [ -d "$entry" ] && [ ! -L "$entry" ]; then
      case $known in *"$newline$name/"*) keep "$name/" && continue ;; esac
      [ ! -d "$to" ] || { keep "$name/" && continue; }
    else
      case $unchanged in *"$newline$name$newline"*) continue ;; esac
      [ ! -f "$to" ] || [ ! -f "$entry" ] || [ -L "$entry" ] || ! cmp -s -- "$entry" "$to" || continue
    fi
    while [ -e "$to" ] || [ -L "$to" ]; do to=$to.saved; done
    mkdir -p -- "${to%/*}" && cp -a -- "$entry" "$to" ||
      fail "Cannot be kept: $entry" 'Move it out of the installation, then run this again. Nothing was changed.'
    kept=1
    if [ "$to" = "$tree/$name" ]; then
      ok "Kept, as it is yours: $entry"
    else
      warn "Changed by you, and kept as ${to##*/}: $entry"
    fi
  done
}

# --- Putting in place -------------------------------------------------------------------

# lead NAME has $dir lead to the folder NAME of $versions. A link replaces another link in one step. A folder, which
# earlier versions of this script made, is exchanged with the link by the new mcp-bash (Linux, macOS). Otherwise
# it is moved away first. If this run is killed then, the next run completes it (begin).
lead() {
  new=$stage/link
  rm -f -- "$new"
  if [ "$os" = windows ]; then # it has no links
    new=$versions/$1
  else
    ln -s -- "mcp-bash.versions/$1" "$new" || fail "Cannot be linked: $new"
    if [ -L "$dir" ] || [ ! -e "$dir" ]; then
      mv -fT -- "$new" "$dir" 2>/dev/null || mv -fh -- "$new" "$dir" || fail "Cannot be put in place: $dir"
      return 0
    fi
  fi
  if [ -e "$dir" ]; then
    previous=$old_version.$(date +%s).$$ past=$versions/$previous
    [ -f "$dir/$list" ] || past=$dir.backup.$(date +%s).$$
    if [ "$os" != windows ] && mv -- "$new" "$past" && "$versions/$1/bin/mcp-bash" --helper exchange "$past" "$dir" \
      </dev/null 2>/dev/null; then
      new=''
    else
      trap '' HUP INT TERM
      [ ! -L "$past" ] || mv -- "$past" "$new"
      mv -- "$dir" "$past" || fail "Cannot be moved: $dir"
    fi
    [ -f "$past/$list" ] || { warn "The old installation does not list its files, and is kept: $past" &&
      say '  Remove it if nothing in it is yours.'; }
  fi
  [ -z "$new" ] || mv -- "$new" "$dir" || fail "Cannot be put in place: $dir"
  heed_signals
}

# put_in_place makes $tree the present version. The version before it stays, because its servers may still run, and
# all older ones are removed.
put_in_place() {
  name=$version.$(date +%s).$$
  mv -- "$tree" "$versions/$name" || fail "Cannot be moved: $tree"
  lead "$name"
  prune "$name" "$previous"
}

# prune NAME NAME removes all versions but these.
prune() {
  [ "${MCPBASH_DOCTOR_KEEP_BACKUP-}" != true ] || return 0
  for left in "$versions"/*/; do
    left=${left%/}
    case ${left##*/} in "$1" | "$2" | '*') continue ;; esac
    mv -- "$left" "$stage/gone.${left##*/}" || warn "Cannot be removed: $left"
  done
}

# The suffix of a new file until it replaces another one. The next run overwrites the new file of a killed run.
fresh=.mcp-bash-new

# link TARGET PLACE creates or replaces a link.
link() {
  [ ! -L "$2" ] || [ "$(readlink "$2")" != "$1" ] || return 0
  making=$2$fresh
  mkdir -p -- "${2%/*}" && rm -f -- "$making" && ln -s -- "$1" "$making" && mv -f -- "$making" "$2"
}

# wrap TARGET PLACE creates a script that starts TARGET, for systems without links.
wrap() {
  making=$2$fresh
  quoted "$1"
  printf '%s\n' '#!/bin/sh' '# mcp-bash managed shim; generated by doctor --fix or install.sh' "exec $reply \"\$@\"" \
    >"$making" && chmod 755 "$making" && mv -f -- "$making" "$2"
}

# is_wrapper PLACE: whether the file is such a script. reply is its beginning.
is_wrapper() {
  [ ! -L "$1" ] && start_of "$1" || return 1
  case $reply in *'mcp-bash managed shim'*) return 0 ;; *) return 1 ;; esac
}

# is_in_the_way PLACE: whether something other than a link or a wrapper of a command is there.
is_in_the_way() { [ -e "$1" ] && ! is_wrapper "$1" && { [ ! -L "$1" ] || [ -d "$1" ]; }; }

# command_of FILE sets place to that of the command for a program. mcp-jq is for scripts only.
command_of() { place=${1##*/} place=$bin/${place%.exe}; }

# link_all makes the commands in $bin, and links to what shells and man read in $data. The user may have put programs
# into the installation, too, which get no links.
link_all() {
  say 'Creating symlink...'
  installed=$newline$(names "$dir/$list")$newline
  for file in "$dir"/bin/mcp-* "$dir"/share/*/*/*; do
    place=$data/${file#"$dir/share/"}
    case $installed in *"$newline${file#"$dir/"}$newline"*) ;; *) continue ;; esac
    case $os,$file in
      *,*/mcp-jq | *,"$dir"/share/skills/* | windows,"$dir"/share/*) ;; # of scripts and coding agents, or useless
      windows,*) command_of "$file" && wrap "$file" "$place" && ok "Wrote wrapper $place → $file" ;;
      *,"$dir"/bin/*) command_of "$file" && link "$file" "$place" && ok "Symlinked $place → $file" ;;
      *) if [ -e "$place" ] && [ ! -L "$place" ]; then
        warn "Left as it is, not a link: $place"
      else
        link "$file" "$place"
      fi ;;
    esac || fail "Cannot be written: $place"
  done
  unlink_dead
}

# unlink_dead removes our links to missing files.
unlink_dead() {
  for place in "$bin"/mcp-* "$data"/bash-completion/completions/mcp-* "$data"/zsh/site-functions/_mcp-bash \
    "$data"/fish/vendor_completions.d/mcp-*.fish "$data"/man/man1/mcp-*.1; do
    if [ -L "$place" ]; then
      target=$(readlink "$place")
    else
      is_wrapper "$place" || continue
      target=$(printf '%s\n' "$reply" | sed -n "s/^exec '\(.*\)' .*/\1/p")
    fi
    case $target in "$dir"/*) [ -e "$target" ] || { rm -f -- "$place" && ok "Removed $place"; } ;; esac
  done
}

# --- Start files ------------------------------------------------------------------------

# The comment above our line in a start file. It also records whether we made the file.
path_note='# Added by the mcp-bash installer'
made_note="$path_note, which made this file"

# shell_lines sets the lines for start files: path, which puts $bin on PATH, and completion, which has zsh find our
# completions. shown is how people write $bin.
shell_lines() {
  word "$data/zsh/site-functions"
  completion="fpath=($reply \$fpath); autoload -Uz compinit && compinit"
  word "$bin"
  shown=${reply#\"} shown=${shown%\"}
  case $reply in
    \"*) path="export PATH=\"$shown:\$PATH\"" ;;
    *) path="export PATH=$reply:\"\$PATH\"" shown=$bin ;;
  esac
}

# word DIR sets reply to a word for the folder, with $HOME where that is possible.
word() {
  case $1 in "$home"/*) reply=\"\$HOME${1#"$home"}\" ;; *) reply=\"$1\" ;; esac
  case ${1#"$home"/} in *[\"\$\`\\]*) quoted "$1" ;; esac
}

# add_line FILE LINE appends a line in one write. It first ends an incomplete last line.
add_line() {
  text=$made_note
  [ ! -e "$1" ] || text=$path_note
  text="$text$newline$2"
  [ ! -s "$1" ] || [ -z "$(tail -c 1 "$1")" ] || text=$newline$text
  { printf '%s\n' "$text" >>"$1"; } 2>/dev/null
}

has_line() { [ -f "$1" ] && grep -qxF -- "$2" "$1" 2>/dev/null; }

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

on_path() { case :$PATH: in *":$bin:"* | *":$bin_given:"*) return 0 ;; *) return 1 ;; esac; }

# add_path puts $bin on PATH in new shells. It sets $changed to the file to read in this shell, and $when to
# when the other shells find the commands.
add_path() {
  shell_lines
  changed='' when='' shell=${SHELL-} shell=${shell##*/}
  [ -z "$shell" ] || ok "Detected shell: $shell"
  start_files
  if on_path && { [ -z "$modify_path" ] || [ -z "$each" ] || ! has_line "$each" "$path"; }; then
    ok "$shown already in PATH"
  elif [ -z "$each$login" ]; then
    add_path_to 'the start file of your shell' || :
  else
    [ -z "$each" ] || ! add_path_to "$each" || changed=$each when='Open a new shell'
    [ -z "$login" ] || ! add_path_to "$login" || changed=${changed:-$login} when=${when:-Log in again}
    ! on_path || changed=''
  fi
}

# add_path_to FILE has the start file put $bin on PATH. It is false if the user has to do that.
add_path_to() {
  if has_line "$1" "$path"; then
    say "$shown already in $1 (will take effect in new shells)" && return
  elif [ -z "$modify_path" ] || [ -z "$each$login" ]; then
    warn "Not on PATH: $bin"
  elif [ -e "$1" ] && [ ! -f "$1" ]; then # a pipe would never end
    warn "Not a regular file, and left as it is: $1"
  elif add_line "$1" "$path"; then
    case $shown in "\$HOME"/*) ok "Added ~${shown#\$HOME} to PATH in $1" ;; *) ok "Added $shown to PATH in $1" ;; esac
    return
  else
    warn "Cannot be written: $1"
  fi
  say "  Add this to $1: $path"
  return 1
}

# add_completion makes zsh find our completions, or prints how (CLI-1168). Bash with bash-completion and fish
# look in the folder of data by themselves.
add_completion() {
  [ "$shell" = zsh ] && [ -f "$data/zsh/site-functions/_mcp-bash" ] || return 0
  ! has zsh || ! zsh -fc 'print -rl -- $fpath' 2>/dev/null | grep -qxF -- "$data/zsh/site-functions" || return 0
  if has_line "$each" "$completion"; then
    ok "Completion for zsh is in $each already"
  elif [ -n "$modify_path" ] && { [ ! -e "$each" ] || [ -f "$each" ]; } && add_line "$each" "$completion"; then
    changed=$each when='Open a new shell'
    ok "Added completion for zsh to $each"
  else
    say "  For completion, add this to $each: $completion"
  fi
}

# each_start_file COMMAND runs it for each existing start file that can have our lines. The name is in $rc, and $file is
# the file behind a link.
each_start_file() {
  for rc in "$zsh_home/.zshrc" "$zsh_home/.zprofile" "$HOME/.zshrc" "$HOME/.zprofile" "$HOME/.bashrc" \
    "$HOME/.bash_profile" "$HOME/.bash_login" "$HOME/.profile" "${XDG_CONFIG_HOME:-$HOME/.config}/fish/config.fish"; do
    file=$rc
    while [ -L "$file" ] && [ -e "$file" ]; do
      target=$(readlink "$file")
      case $target in /*) file=$target ;; *) file=${file%/*}/$target ;; esac
    done
    "$1"
  done
}

# remove_copy removes the new file that a killed run left next to a start file.
remove_copy() { [ ! -e "$file$fresh" ] || exposed "$file$fresh" || rm -f -- "$file$fresh"; }

# remove_lines removes our lines from a start file, and the file if we made it and nothing else is in it.
remove_lines() {
  [ -f "$rc" ] && grep -qF -- "$path_note" "$rc" 2>/dev/null || return 0
  cat -- "$rc" >"$stage/before" || fail "Cannot be read: $rc"
  NOTE=$path_note MADE=$made_note LINE=$path COMPLETION=$completion awk '
    held != "" { note = held; held = ""; if ($0 == ENVIRON["LINE"] || $0 == ENVIRON["COMPLETION"]) next; print note }
    $0 == ENVIRON["NOTE"] || $0 == ENVIRON["MADE"] { held = $0; next }
    { print }
    END { if (held != "") print held }' "$stage/before" >"$stage/after" || fail "Cannot be read: $rc"
  ! cmp -s "$stage/after" "$stage/before" || return 0
  if [ ! -s "$stage/after" ] && grep -qxF -- "$made_note" "$stage/before"; then
    rm -f -- "$file" || fail "Cannot be removed: $file"
  elif ! replace; then
    warn "Left as it is: $rc ($reply)"
    for line in "$path" "$completion"; do
      ! has_line "$rc" "$line" || say "  Remove this line from it: $line"
    done
    return 0
  fi
  ok "Removed our lines from $rc"
}

# rights FILE: its mode, number of names, owner and group.
rights() { LC_ALL=C ls -ldn -- "$1" | awk '{ print $1, $2, $3, $4 }'; }

# replace puts stage/after in the place of $file, with all its rights. It is false if they cannot be copied, or if
# the file has changed since, with the reason in reply.
replace() {
  making=$file$fresh
  rm -f -- "$making"
  cp -a -- "$file" "$making" && cat "$stage/after" >"$making" || fail "Cannot be written: $file"
  if [ "$(rights "$making")" != "$(rights "$file")" ]; then
    reply='it has other names, or rights that cannot be copied'
  elif ! cmp -s "$stage/before" "$file"; then
    reply='it changed meanwhile'
  else
    mv -f -- "$making" "$file" && return || fail "Cannot be written: $file"
  fi
  rm -f -- "$making"
  return 1
}

# --- The two jobs -------------------------------------------------------------------------

install() {
  say '' 'mcp-bash Installer' '==================' ''
  say "Detecting system... $kernel ($machine)" "Install location: $dir"
  look
  choose
  find_summer
  if [ -n "$programs" ] && [ -z "$check" ]; then
    warn "mcp-bash is installed there already${old_version:+, version $old_version}"
    warn 'It will be replaced.'
    confirm Overwriting 'Overwrite? [y/N] ' 'Installation cancelled by user.'
  fi
  begin
  look
  tree=$stage/tree
  obtain
  check_tree
  mark
  keep_own
  put_in_place
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
  first=$(command -v mcp-bash) || first=''
  case $first in
    "$bin_given/mcp-bash" | "$bin/mcp-bash" | '') ;;
    /*) warn "Another mcp-bash comes first on PATH: $first" ;;
  esac
  say '' 'Installation complete!'
  if [ -n "$changed" ]; then
    case $changed in *[!A-Za-z0-9_./+-]*) quoted "$changed" && changed=$reply ;; esac
    say '' "$when, or: . $changed"
  fi
  first=mcp-bash # or its path, if no shell finds it
  if [ -z "$changed" ] && ! on_path; then
    first=$bin/mcp-bash
    case $first in *[!A-Za-z0-9_./+-]*) quoted "$first" && first=$reply ;; esac
  fi
  say '' 'A first project:' "  $first new my-server && cd my-server" "  $first run-tool hello --allow-self" \
    'Look at it with the Inspector:' "  eval \"\$($first config --inspector)\""
}

# client_entries sets $entries: the entries of clients' files that start this installation, and the commands that
# remove them (CLI-753).
client_entries() {
  entries='' lister=$dir/bin/mcp-scaffold$exe
  if [ -f "$lister" ] && ! exposed "$dir/bin/." && ! exposed "$lister"; then
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
      warn 'The files of clients have entries for it. These commands remove them:'
      printf '%s\n' "$entries"
      if [ -z "$yes" ] && has_terminal && agrees 'Run these commands now? [y/N] '; then
        printf '%s\n' "$entries" | sed -n 's/^  \(.* --remove\)/\1/p' | PATH="$dir/bin:$PATH" sh || :
      fi
    fi
    confirm Removing 'Remove? [y/N] ' 'Cancelled by user.'
  fi
  find_summer
  begin
  look
  client_entries
  name='' tree=$stage/tree
  if [ -n "$old" ]; then
    mkdir -- "$tree"
    keep_own
    if [ -n "$kept" ]; then
      : >"$tree/$list"
      printf '{"managed":true,"source":"uninstall"}\n' >"$tree/$marker"
      version=kept
      put_in_place
    elif [ -f "$dir/$list" ]; then
      mv -- "$dir" "$stage/gone" || fail "Cannot be removed: $dir"
    else
      past=$dir.backup.$(date +%s).$$
      mv -- "$dir" "$past" || fail "Cannot be moved to $past: $dir"
      warn "The old installation does not list its files, and is kept: $past"
    fi
    ok "Removed $dir${kept:+, but for what is yours}"
  fi
  prune "$name" ''
  unlink_dead
  shell_lines
  each_start_file remove_lines
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
