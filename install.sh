#!/bin/sh
# Installs mcp-bash for one user, replaces an installation, or removes it. --help
# tells how. It needs a POSIX shell and what every system has; for downloads curl or
# wget, for a checkout Go.
#
# A new tree is made and checked beside the old one, and takes its place in one step:
# whenever this is stopped, the old installation is there or the new one, and whole
# (CLI-1710).
set -eu

usage() {
  cat <<'END'
Usage: install.sh [OPTIONS]

Installs mcp-bash from what it is told, else from the checkout or the unpacked archive
that it lies in, else from the latest release at $MCPBASH_RELEASE_BASE_URL.

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
  --allow-downgrade   replace a newer version
  -y, --yes           do not ask
  -h, --help          show this

Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 refused or not confirmed.
END
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

say() { printf '%s\n' "$@"; }
ok() { printf '%s %s\n' "$good" "$1"; }
warn() { printf '%s %s\n' "$warned" "$1"; }

# stop STATUS LINE...: ends with a message, whose first line is marked.
stop() {
  status=$1
  shift
  printf '%s %s\n' "$bad" "$1" >&2
  shift
  for line in "$@"; do
    printf '%s\n' "${line:+  $line}" >&2
  done
  exit "$status"
}

fail() { stop 1 "$@"; }
refuse() { stop 3 "$@"; }
misused() { stop 2 "$@" 'Run "install.sh --help" for usage.'; }

has() { command -v "$1" >/dev/null 2>&1; }

# --- The command line -----------------------------------------------------------

parse() {
  archive='' verify='' ref='' prefix='' dir='' yes='' uninstall='' offline='' unverified='' downgrade=''
  modify_path=1
  while [ $# -gt 0 ]; do
    option=$1 value='' given=''
    shift
    case $option in
      --*=*) value=${option#*=} option=${option%%=*} given=1 ;;
      --archive | --verify | --version | --ref | --branch | --prefix | --dir)
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
      *) [ -z "$given" ] || misused "$option takes no value" ;;
    esac
    case $option in
      --dir) dir=$value ;;
      --prefix) prefix=$value ;;
      --branch | --version | --ref) ref=$value ;;
      --archive) archive=$value ;;
      --verify) verify=$(printf '%s' "$value" | tr A-F a-f) ;;
      --no-verify) unverified=1 ;;
      --offline) offline=1 ;;
      --no-modify-path) modify_path='' ;;
      --allow-downgrade) downgrade=1 ;;
      --uninstall) uninstall=1 ;;
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
# exists or not.
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
  reply=$(CDPATH='' cd -P -- "$reply" && pwd -P) || fail "Cannot be entered: $reply"
  [ "$reply" != / ] || [ -z "$rest" ] || reply=''
  reply=$reply$rest
}

system() {
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

# places sets dir, bin and data: the installation, and the directories that commands
# and what shells and man read are linked in.
places() {
  [ -d "${HOME-}" ] || fail 'HOME is not set to a directory'
  bin=${XDG_BIN_HOME:-$HOME/.local/bin} data=${XDG_DATA_HOME:-$HOME/.local/share}
  if [ -n "$prefix" ]; then
    bin=$prefix/bin data=$prefix/share
  fi
  bin_given=$bin
  physical "$bin" && bin=$reply
  physical "$data" && data=$reply
  physical "${dir:-$data/mcp-bash}" && dir=$reply
  for danger in / "$HOME" /usr /usr/local /bin /sbin /etc /var /tmp /opt /home /root \
    "${TMPDIR:-/tmp}" "$bin" "$data"; do
    physical "$danger"
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

# --- One at a time, and cleaning up ---------------------------------------------

# alive FILE: whether the process runs whose number the file holds.
alive() {
  number=''
  read -r number <"$1" || :
  case $number in
    '' | *[!0-9]*) return 1 ;;
  esac
  kill -0 "$number" 2>/dev/null
}

# begin takes the lock that doctor takes too (CLI-1113), ends what an earlier run
# left undone, and makes a directory to work in.
begin() {
  stage='' lock='' making='' wanted=$dir.doctor.fix.lock
  trap cleanup EXIT
  heed_signals
  mkdir -p -- "$parent" || fail "Cannot be made: $parent"
  if [ -f "$wanted/pid" ]; then
    alive "$wanted/pid" || rm -rf -- "$wanted"
  elif [ -d "$wanted" ] && [ -n "$(find "$wanted" -prune -mmin +1)" ]; then
    rm -rf -- "$wanted" # of one that was killed before it wrote its number
  fi
  ignore_signals
  if mkdir -- "$wanted" 2>/dev/null; then
    lock=$wanted
    printf '%s\n' "$$" >"$lock/pid"
  fi
  heed_signals
  [ -n "$lock" ] || fail "Another installation is going on, or cannot be made: $wanted" \
    'If none is, remove that directory.'
  for left in "$parent"/.mcp-bash.stage.*; do
    if [ -f "$left/pid" ] && ! alive "$left/pid" && mended "$left"; then
      rm -rf -- "$left"
    fi
  done
  stage=$(mktemp -d "$parent/.mcp-bash.stage.XXXXXX") || fail "Cannot be written to: $parent"
  printf '%s\n' "$$" >"$stage/pid"
}

# mended STAGE: where a killed run needed two steps (see swap) and did only the first,
# the old installation comes back; where it did both, the old one goes. It is false for
# the stage of another installation beside this one, which is left for its own next run.
mended() {
  [ -f "$1/backup" ] || return 0
  read -r backup <"$1/backup" || :
  case $backup in
    "$dir".backup.*) ;;
    *) return 1 ;;
  esac
  if [ ! -d "$backup" ]; then
    return 0
  elif [ -e "$dir" ]; then
    rm -rf -- "$backup"
  else
    mv -- "$backup" "$dir"
  fi
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
  [ -z "$stage" ] || rm -rf -- "$stage"
  [ -z "$lock" ] || rm -rf -- "$lock"
}

# confirm HOW: goes on if the user says so, at the terminal wherever input comes from.
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

# version_of TREE: its version in $reply; "" where it has none.
version_of() {
  reply=''
  [ ! -f "$1/VERSION" ] || read -r reply <"$1/VERSION" || :
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

look() {
  old='' old_version=''
  [ -e "$dir" ] || [ -L "$dir" ] || return 0
  if [ ! -f "$dir/bin/mcp-bash" ] && [ ! -f "$dir/bin/mcp-bash.exe" ]; then
    fail "Directory $dir exists but doesn't look like an mcp-bash installation" \
      '(missing bin/mcp-bash). Refusing to delete. Remove manually or use a different --dir.'
  fi
  old=1
  version_of "$dir"
  old_version=$reply
}

# --- Where from -----------------------------------------------------------------

# choose sets source (archive, local, git or release) and what belongs to it.
choose() {
  local_dir='' here=''
  case $0 in
    */install.sh | install.sh) here=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd -P) || here='' ;;
  esac
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

# sha256 FILE: its checksum in $reply; "" where nothing can tell.
sha256() {
  if has sha256sum; then
    reply=$(sha256sum <"$1")
  elif has shasum; then
    reply=$(shasum -a 256 <"$1")
  elif has openssl; then
    reply=$(openssl dgst -sha256 -r <"$1")
  else
    reply=''
  fi
  reply=${reply%% *}
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
  base=${MCPBASH_RELEASE_BASE_URL-}
  base=${base%/}
  [ -n "$base" ] ||
    fail 'Where are the releases? Set MCPBASH_RELEASE_BASE_URL, or use --archive FILE' \
      'or run install.sh from a checkout.'
  if [ -z "$os" ] || [ -z "$arch" ]; then
    fail "There are no releases for this system ($kernel, $machine)" 'Run install.sh from a checkout; Go builds it.'
  fi
  if [ -z "$ref" ]; then
    # Which is the latest its SHA256SUMS tells; a forge has it elsewhere than the others.
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
  [ -n "$reply" ] || fail 'No sha256sum, shasum or openssl is here to verify the archive with'
  if [ "$reply" != "$expected" ]; then
    fail "SHA256 checksum verification failed for: $asset" '' \
      'The file is damaged, is not the one that was meant, or was changed by somebody.' '' \
      "Expected: $expected" "Got:      $reply" '' \
      'Compare with SHA256SUMS of the release, and download the archive again.'
  fi
  verified=true
  ok "Archive checksum verified ($how)"
}

# unpack takes $stage/archive apart: only plain files and directories below mcp-bash/.
unpack() {
  case $asset in
    *.zip)
      has unzip || fail 'unzip is needed for this archive'
      unzip -Z1 "$stage/archive" >"$stage/names" 2>/dev/null || fail "Not an archive: $asset"
      unpacker='unzip -q -d'
      : >"$stage/kinds"
      ;;
    *)
      tar -tzf "$stage/archive" >"$stage/names" 2>/dev/null || fail "Not an archive: $asset"
      tar -tvzf "$stage/archive" >"$stage/kinds" 2>/dev/null || fail "Not an archive: $asset"
      unpacker='tar -xzof'
      ;;
  esac
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
  if [ "$unpacker" = 'tar -xzof' ]; then
    (cd -- "$stage/unpacked" && tar -xzof ../archive) || fail "Unpacking failed: $asset"
  else
    unzip -q -d "$stage/unpacked" "$stage/archive" || fail "Unpacking failed: $asset"
  fi
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
  for name in bin sdk lib providers share docs runtimes VERSION LICENSE README.md CHANGELOG.md install.sh; do
    [ ! -e "$1/$name" ] || cp -R -- "$1/$name" "$stage/tree/$name" || fail "Cannot be copied: $1/$name"
  done
  ok 'Copied local source'
}

# build CHECKOUT: has Go build the commands for this machine.
build() {
  has go || fail 'Go is needed to build from a checkout (https://go.dev/dl)' \
    'Or install a release archive: --archive FILE'
  mkdir -- "$stage/programs"
  (
    cd -- "$1"
    unset GOOS GOARCH
    export CGO_ENABLED=0
    [ -z "$offline" ] || export GOPROXY=off GOTOOLCHAIN=local
    exec go build -trimpath -ldflags='-s -w' -o "$stage/programs/" ./cmd/...
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
  say '' 'Downloading mcp-bash framework...'
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
  chmod -R u+rwX,go+rX,go-w "$tree"
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
  if [ -z "$downgrade" ] && [ -n "$old_version" ] && older "$version" "$old_version"; then
    refuse "Refusing to replace version $old_version with the older $version" 'If that is meant: --allow-downgrade'
  fi
  for file in "$tree"/bin/mcp-*; do
    place=$bin/${file##*/}
    place=${place%.exe}
    if [ "${place##*/}" = mcp-jq ] || [ ! -e "$place" ] || is_wrapper "$place"; then
      continue
    fi
    if [ ! -L "$place" ] || [ -d "$place" ]; then
      fail "In the way of a command, and not a link: $place" 'Move it away, then run this again. Nothing was changed.'
    fi
  done
}

is_wrapper() { [ -f "$1" ] && [ ! -L "$1" ] && grep -q 'mcp-bash managed shim' "$1" 2>/dev/null; }

mark() {
  printf '{"managed":true,"installedAt":"%s","source":"%s","ref":"%s","version":"%s","commit":"%s","verified":%s}\n' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$source" "$ref" "$version" "$commit" "$verified" >"$tree/INSTALLER.json"
}

# swap puts the new tree into the place of the old one, which ends up in $stage. The
# new mcp-bash has the system exchange both names at once, where it can (Linux, macOS);
# elsewhere a run that is killed between two steps is ended by the next one (begin).
swap() {
  if [ -z "$old" ]; then
    mv -- "$tree" "$dir" || fail "Cannot be put in place: $dir"
  elif [ "$os" = windows ] || ! "$tree/bin/mcp-bash$exe" --helper exchange "$tree" "$dir" </dev/null 2>/dev/null; then
    backup=$dir.backup.$(date +%s).$$
    ignore_signals
    printf '%s\n' "$backup" >"$stage/backup"
    mv -- "$dir" "$backup" || fail "Cannot be moved: $dir"
    if ! mv -- "$tree" "$dir"; then
      mv -- "$backup" "$dir"
      fail "Cannot be put in place: $dir" 'The old installation is back.'
    fi
    heed_signals
    rm -rf -- "$backup"
  fi
}

# --- Links ----------------------------------------------------------------------

# What the name of a file ends with until it takes the place of another one. A run that
# is killed may leave one, which the next run uses.
fresh=.mcp-bash-new

# link TARGET PLACE: makes a link, in the place of another one.
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

# wrap TARGET PLACE: the script that stands for a link where there are none.
wrap() {
  mkdir -p -- "${2%/*}" || return 1
  making=$2$fresh
  quoted "$1"
  {
    say '#!/bin/sh' '# mcp-bash managed shim; generated by doctor --fix or install.sh'
    say "exec $reply \"\$@\""
  } >"$2$fresh" && chmod 755 "$2$fresh" && mv -f -- "$2$fresh" "$2"
}

# link_all has the commands in $bin, and what shells and man read in $data.
link_all() {
  say 'Creating symlink...'
  for file in "$dir"/bin/mcp-*; do
    place=$bin/${file##*/}
    place=${place%.exe}
    [ "${place##*/}" != mcp-jq ] || continue
    if [ "$os" = windows ]; then
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
    [ -f "$file" ] || continue
    if [ -e "$place" ] && [ ! -L "$place" ]; then
      warn "Left as it is, not a link: $place"
    else
      link "$file" "$place" || warn "Cannot be written: $place"
    fi
  done
  unlink_all dead
}

# unlink_all WHICH: removes links of ours; with "dead" only those that lead nowhere.
unlink_all() {
  for place in "$bin"/mcp-* "$data"/bash-completion/completions/mcp-* "$data"/zsh/site-functions/_mcp-bash \
    "$data"/fish/vendor_completions.d/mcp-*.fish "$data"/man/man1/mcp-*.1; do
    if [ -L "$place" ]; then
      case $(readlink "$place") in
        "$dir"/*) if [ "$1" != dead ] || [ ! -e "$place" ]; then removed "$place"; fi ;;
      esac
    elif is_wrapper "$place"; then
      target=$(sed -n "s/^exec '\(.*\)' .*/\1/p" "$place")
      case $target in
        "$dir"/*) if [ "$1" != dead ] || [ ! -e "$target" ]; then removed "$place"; fi ;;
      esac
    fi
  done
}

removed() {
  rm -f -- "$1" || fail "Cannot be removed: $1"
  ok "Removed $1"
}

# --- PATH -----------------------------------------------------------------------

path_note='# Added by the mcp-bash installer'

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

add_path() {
  physical "$HOME" && physical_home=$reply
  path_line
  changed=''
  shell=${SHELL-} shell=${shell##*/}
  [ -z "$shell" ] || ok "Detected shell: $shell"
  if on_path; then
    ok "$shown already in PATH"
    return 0
  fi
  rc=''
  case $shell in
    zsh) rc=$HOME/.zshrc ;;
    bash)
      rc=$HOME/.bashrc
      if [ ! -f "$rc" ] && [ -f "$HOME/.bash_profile" ]; then rc=$HOME/.bash_profile; fi
      ;;
  esac
  if [ -f "$rc" ] && grep -qF -- "$line" "$rc" 2>/dev/null; then
    say "$shown already in $rc (will take effect in new shells)"
  elif [ -z "$modify_path" ] || [ -z "$rc" ]; then
    warn "Not on PATH: $bin"
    say "  Add this to the start file of your shell: $line"
  elif {
    # One write, after the end of a last line that has none.
    text="$path_note
$line"
    if [ -s "$rc" ] && [ -n "$(tail -c 1 "$rc")" ]; then
      text="
$text"
    fi
    printf '%s\n' "$text" >>"$rc"
  } 2>/dev/null; then
    changed=$rc
    case $shown in "\$HOME"/*) shown="~${shown#\$HOME}" ;; esac
    ok "Added $shown to PATH in $rc"
  else
    warn "Cannot be written: $rc"
    say "  Add this to the start file of your shell: $line"
  fi
}

# remove_path takes our two lines out of the start files, which may be links.
remove_path() {
  physical "$HOME" && physical_home=$reply
  path_line
  for rc in "$HOME/.zshrc" "$HOME/.bashrc" "$HOME/.bash_profile"; do
    if [ ! -f "$rc" ] || ! grep -qF -- "$path_note" "$rc" 2>/dev/null; then
      continue
    fi
    NOTE=$path_note LINE=$line awk '
      held { held = 0; if ($0 == ENVIRON["LINE"]) next; print ENVIRON["NOTE"] }
      $0 == ENVIRON["NOTE"] { held = 1; next }
      { print }
      END { if (held) print ENVIRON["NOTE"] }' "$rc" >"$stage/rc" || fail "Cannot be read: $rc"
    if cmp -s "$stage/rc" "$rc"; then
      continue
    fi
    file=$rc
    while [ -L "$file" ]; do
      target=$(readlink "$file")
      case $target in
        /*) file=$target ;;
        *) file=${file%/*}/$target ;;
      esac
    done
    if [ -s "$stage/rc" ]; then
      making=$file$fresh
      rm -f -- "$file$fresh"
      { cp -p -- "$file" "$file$fresh" && cat "$stage/rc" >"$file$fresh"; } || fail "Cannot be written: $file"
      mv -f -- "$file$fresh" "$file" || fail "Cannot be written: $file"
    else
      rm -f -- "$file"
    fi
    ok "Removed the lines on PATH from $rc"
  done
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
      physical "$entry"
      [ "$reply" != "$bin" ] || return 0
      warn "Another mcp-bash comes first on PATH: $entry/mcp-bash"
      return 0
    fi
  done
}

# --- The two jobs ---------------------------------------------------------------

install() {
  say '' 'mcp-bash Installer' '==================' ''
  say "Detecting system... $kernel ($machine)" "Install location: $dir"
  look
  choose
  if [ -n "$old" ]; then
    warn "mcp-bash is installed there already${old_version:+, version $old_version}"
    warn 'It will be replaced.'
    confirm Overwriting 'Overwrite? [y/N] ' 'Installation cancelled by user.'
  fi
  begin
  look
  obtain
  check_tree
  mark
  swap
  case $source in
    archive | release) ok 'Installed from archive' ;;
    *) ok 'Installed' ;;
  esac
  link_all
  add_path
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
    say '' "Open a new shell, or: source $changed"
  fi
  say '' 'A first project:' '  mcp-bash new my-server && cd my-server' \
    '  mcp-bash run-tool hello --allow-self' 'Look at it with the Inspector:' \
    '  npx @modelcontextprotocol/inspector mcp-bash'
}

is_managed() {
  [ -f "$dir/INSTALLER.json" ] || fail "Not installed by install.sh (no INSTALLER.json), so left alone: $dir"
}

uninstall() {
  if [ -d "$dir" ]; then
    is_managed
    say "mcp-bash will be removed: $dir"
    confirm Removing 'Remove? [y/N] ' 'Cancelled by user.'
  elif [ ! -d "$parent" ]; then
    ok "Nothing is installed: $dir"
    return 0
  fi
  begin
  # First the whole tree goes, in one step. What is left then leads nowhere, and goes
  # with another run if this one is stopped.
  if [ -d "$dir" ]; then
    is_managed
    mv -- "$dir" "$stage/tree" || fail "Cannot be removed: $dir"
    ok "Removed $dir"
  fi
  unlink_all all
  remove_path
  rm -rf -- "$stage"
  ok 'mcp-bash is not installed there any more'
}

main() {
  colours
  parse "$@"
  umask 022
  system
  places
  if [ -n "$uninstall" ]; then
    uninstall
  else
    install
  fi
}

# At the end, so that a script that arrived in part does nothing.
main "$@"
