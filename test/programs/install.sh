#!/usr/bin/env bash
# Fetches the programs that wrap is measured with: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints the folder they are in. MCPBASH_TEST_PROGRAMS names another one than that in the cache.
set -euo pipefail
folder=${MCPBASH_TEST_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-test-programs}

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
npm=(terser@5.19.2 js-yaml@4.1.0 semver@7.5.4)
go=(golang.org/x/tools/cmd/stringer@v0.42.0 golang.org/x/tools/cmd/goimports@v0.42.0)

fail() {
  printf 'test/programs: %s\n' "$@" >&2
  exit 1
}

wanted=$(printf '%s\n' "${debian[@]}" "${npm[@]}" "${go[@]}")
if [[ -f $folder/installed && $(<"$folder/installed") == "$wanted" ]]; then
  printf '%s\n' "$folder"
  exit
fi
for program in apt-get dpkg-deb npm go; do
  command -v "$program" >/dev/null || fail "$program is needed to fetch programs, and is not here."
done
echo "test/programs: fetching into $folder" >&2
rm -rf "$folder"
mkdir -p "$folder/debs" "$folder/bin" "$folder/npm"
(cd "$folder/debs" && apt-get download "${debian[@]}" >../apt.log 2>&1) ||
  fail 'apt-get could not download the packages.' "$(tail -n 5 "$folder/apt.log")"
for deb in "$folder/debs"/*.deb; do
  dpkg-deb -x "$deb" "$folder/root"
done
rm -r "$folder/debs"
npm install --prefix "$folder/npm" --no-audit --no-fund --no-update-notifier --loglevel=error "${npm[@]}" \
  >"$folder/npm.log" 2>&1 || fail 'npm could not install the packages.' "$(tail -n 5 "$folder/npm.log")"
for package in "${go[@]}"; do
  GOBIN=$folder/bin GOFLAGS='' CGO_ENABLED=0 go install "$package" >"$folder/go.log" 2>&1 ||
    fail "go could not install $package." "$(tail -n 5 "$folder/go.log")"
done
printf '%s\n' "$wanted" >"$folder/installed"
printf '%s\n' "$folder"
