#!/usr/bin/env bash
# Runs the tests of the Go packages.
#
#   unit.sh short   uses -short, and the race detector where goroutines share memory.
#   unit.sh long    runs all tests with the race detector.
#   unit.sh cover   prints the coverage of each package by the tests of pkg/, cmd/, lib/ and sdk/.
#
# Many tests wait for a script. So six of a package run at a time, and two packages for each processor. make lint has
# already run vet. make endurance runs the endurance test.
set -euo pipefail
cd "$(dirname "$0")/.."

# A program with the race detector sleeps a second before it exits. Many tests start such programs.
export GORACE=atexit_sleep_ms=0

run() { go test -vet=off -p "$((2 * $(getconf _NPROCESSORS_ONLN)))" -parallel=6 "$@"; }
as_shipped() { CGO_ENABLED=0 run -trimpath "$@"; }

# Packages in test/ take longest and start first.
packages="$(go list ./... | grep -v '/test/endurance$' | sort -r)"
case "${1-}" in
  short) ;;
  long)
    # shellcheck disable=SC2086 # one word a package
    run -race -timeout=60m $packages
    exit
    ;;
  cover)
    data="$PWD/dist/coverage"
    rm -rf "$data"
    mkdir -p "$data"
    export MCPBASH_TEST_COVER="$data" # for the sessions of cmd/, with each command alone in a folder
    for command in cmd/*; do
      CGO_ENABLED=0 go build -trimpath -cover -coverpkg=mcp-bash/pkg/...,mcp-bash/cmd/... \
        -o "$data/bin/${command#cmd/}/" "./$command"
    done
    # go test gives each package a folder for the data of the programs that its tests start, and deletes it.
    # shellcheck disable=SC2046 # one word a package
    as_shipped -short -timeout=30m -cover -coverpkg=mcp-bash/pkg/... -exec="env 'GOCOVERDIR=$data'" \
      $(grep -E '^mcp-bash/(cmd|pkg|lib|sdk)(/|$)' <<<"$packages") -args -test.gocoverdir="$data" >"$data.log" ||
      { cat "$data.log"; exit 1; }
    go tool covdata percent -i="$data" -pkg="$(go list ./pkg/... | paste -sd, -)" | awk '{ print $3, $1 }' | sort -n
    exit
    ;;
  *)
    sed -n 's/^#   unit/unit/p' "$0" >&2
    exit 2
    ;;
esac

# The race detector makes compiling and running two to five times slower. It finds nothing in a
# package that starts no goroutines, nor in a test that only starts programs.
shared=()
others=()
for package in $packages; do
  if [[ $package == mcp-bash/pkg/* ]] &&
    grep -qE '^[[:space:]]*go [a-z]|\.Go\(' "${package#mcp-bash/}"/*.go; then
    shared+=("$package")
  else
    others+=("$package")
  fi
done
as_shipped -short -timeout=15m "${others[@]}"
run -race -short -timeout=15m "${shared[@]}"
