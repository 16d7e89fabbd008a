#!/usr/bin/env bash
# Runs every fuzz target of the project for FUZZTIME (3s; 300x: so many inputs), as many packages at
# a time as there are processors. A finding fails, and leaves its input under the package's
# testdata/fuzz. When time is up while an input is tried, Go's fuzzer calls that a failure
# too ("context deadline exceeded", without an input): that is none. Inputs that reach new
# code are kept in the cache of Go, and the next run starts with them.
#
# Go would spend up to a minute on making one input smaller that reaches new code, and try no
# other one meanwhile: it gets a hundred tries.
#
# FUZZTARGETS (a regular expression) chooses among the targets.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -eq 0 ]; then
  # What was found is kept; go clean -fuzzcache removes it.
  corpora="$(go env GOCACHE)/fuzz/mcp-bash"
  export corpora
  grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' pkg sdk lib cmd 2>/dev/null | xargs -n1 dirname | sort -u |
    xargs -n1 -P "$(getconf _NPROCESSORS_ONLN)" "test/${0##*/}"
  exit
fi

dir=$1
targets="$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u |
  grep -E "${FUZZTARGETS:-.}")" || exit 0
binary="$(mktemp)"
trap 'rm -f "$binary"' EXIT
go test -c -fuzz=Fuzz -o "$binary" "./$dir" # with -fuzz, or mutations are blind
while read -r target; do
  title="$(printf 'fuzz %-16s %-24s' "$dir" "$target")"
  if ! out="$(cd "$dir" && "$binary" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime="${FUZZTIME:-3s}" \
    -test.fuzzminimizetime=100x -test.fuzzcachedir="$corpora/$dir" -test.parallel=1 2>&1)" &&
    { [[ $out != *'context deadline exceeded'* ]] ||
      [[ $out == *'Failing input'* || $out == *'hung or terminated'* ]]; }; then
    printf '%s FAILED\n%s\n' "$title" "$out"
    exit 1
  fi
  if [[ $out == *'not built with coverage instrumentation'* ]]; then
    printf '%s FAILED: the fuzzer sees no coverage\n' "$title"
    exit 1
  fi
  printf '%s %s\n' "$title" "$(printf '%s\n' "$out" | sed -n 's/.*execs: \([0-9]*\).*/\1 inputs/p' | tail -n 1)"
done <<<"$targets"
