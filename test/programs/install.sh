#!/usr/bin/env bash
# Fetches the programs that wrap is measured with: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints the folder they are in. MCPBASH_TEST_PROGRAMS names another one than that in the cache. Programs that are there
# already stay.
#
# The packages for a recipe are in the first lines of its tasks: "debian NAME...", "npm NAME@VERSION..." and
# "go PATH@VERSION...".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
folder=${MCPBASH_TEST_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-programs}

# Each program with its requirements, without Python and the C library.
debian=(
  coreutils grep diffutils findutils git git-man
  yamllint python3-yaml python3-pathspec python3-pygments python3-autopep8 python3-pycodestyle python3-setuptools
  python3-pkg-resources
  black python3-packaging python3-click python3-platformdirs python3-mypy-extensions python3-userpath python3-proselint
  gh fd-find hyperfine hexyl
  python3-docopt python3-num2words python3-stomp python3-websocket isbg
  netcat-openbsd signify-openbsd mandoc libbsd0 libmd0
  busybox
)
npm=(terser@5.19.2 js-yaml@4.1.0 semver@7.5.4 rust-just@1.57.0)
go=(golang.org/x/tools/cmd/stringer@v0.42.0 golang.org/x/tools/cmd/goimports@v0.42.0
  github.com/go-task/task/v3/cmd/task@v3.40.1)

fail() {
  printf 'test/programs: %s\n' "$@" >&2
  exit 1
}

# missing KIND PACKAGE...: the packages that are not there yet, among them those of tasks.
missing() {
  local kind=$1
  shift
  {
    printf '%s\n' "$@"
    awk -v kind="$kind" 'FNR == 1 { head = 1 } /^-- / { head = 0 }
      head && $1 == kind { for (i = 2; i <= NF; i++) print $i }' tasks/*.txtar 2>/dev/null
  } | sort -u | sed "s/^/$kind /" | grep -vxFf "$folder/installed" | cut -d' ' -f2-
}

mkdir -p "$folder/bin" "$folder/npm"
exec 9>>"$folder/lock"
! command -v flock >/dev/null || flock 9
touch "$folder/installed"
todo=$(missing debian "${debian[@]}") || true
# shellcheck disable=SC2086 # a list of names
if [[ -n $todo ]]; then
  echo "test/programs: fetching packages of Debian into $folder" >&2
  rm -rf "$folder/debs"
  mkdir "$folder/debs"
  (cd "$folder/debs" && apt-get download $todo >../apt.log 2>&1) ||
    fail 'apt-get could not download the packages.' "$(tail -n 5 "$folder/apt.log")"
  for deb in "$folder/debs"/*.deb; do
    dpkg-deb -x "$deb" "$folder/root"
  done
  rm -r "$folder/debs"
  printf 'debian %s\n' $todo >>"$folder/installed"
fi
for libraries in "$folder"/root/lib/*-linux-gnu; do # a confined program reads those of its own folder only
  [[ ! -d $libraries ]] || cp -an "$libraries" "$folder/root/usr/lib/"
done
for program in "$folder/root"/usr/lib/postgresql/*/bin/*; do # Debian starts them by a script
  [[ ! -e $program ]] || ln -sf "$program" "$folder/bin/"
done
todo=$(missing npm "${npm[@]}") || true
# shellcheck disable=SC2086
if [[ -n $todo ]]; then
  npm install --prefix "$folder/npm" --no-audit --no-fund --no-update-notifier --loglevel=error $todo \
    >"$folder/npm.log" 2>&1 || fail 'npm could not install the packages.' "$(tail -n 5 "$folder/npm.log")"
  printf 'npm %s\n' $todo >>"$folder/installed"
fi
for program in "$folder"/npm/node_modules/@ff*-installer/linux-x64/ff{mpeg,probe}; do # they have no links
  [[ ! -f $program ]] || { chmod +x "$program" && ln -sf "$program" "$folder/bin/"; }
done
for program in "$folder"/root/usr/bin/*-im6.q16; do # Debian's alternatives
  name=${program##*/}
  [[ ! -e $program ]] || ln -sf "$program" "$folder/bin/${name%%-im6.q16}"
done
for library in "$folder"/root/usr/lib/*-linux-gnu/blas/*.so.3; do
  [[ ! -e $library ]] || ln -sf "blas/${library##*/}" "${library%/blas/*}/"
done
for library in "$folder"/root/usr/lib/*-linux-gnu/systemd/libsystemd-shared-*.so; do
  [[ ! -e $library ]] || ln -sf "systemd/${library##*/}" "${library%/systemd/*}/"
done
[[ ! -d $folder/root/usr/share/perl5 ]] || ln -sfn ../share/perl5 "$folder/root/usr/bin/lib" # for exiftool
todo=$(missing go "${go[@]}") || true
for package in $todo; do
  GOBIN=$folder/bin GOFLAGS='' CGO_ENABLED=0 go install "$package" >"$folder/go.log" 2>&1 ||
    fail "go could not install $package." "$(tail -n 5 "$folder/go.log")"
  printf 'go %s\n' "$package" >>"$folder/installed"
done
printf '%s\n' "$folder"
