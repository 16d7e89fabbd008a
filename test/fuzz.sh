#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME: 3s is a time, 300x a number of inputs. It runs as many packages
# at a time as there are processors.
#
# A failing input is saved in testdata/fuzz of the package. Inputs that reach new code stay in the
# cache of Go, and the next run starts with them.
#
# When the time ends during an input, Go's fuzzer reports "context deadline exceeded" without an
# input. This is not a failure.
#
# Go would spend up to a minute to minimize one input that reaches new code, and would not try others
# in that time. Here it gets a hundred attempts.
#
# FUZZTARGETS (a regular expression) selects targets.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -eq 0 ]; then
  # go clean -fuzzcache removes the saved inputs.
  corpora="$(go env GOCACHE)/fuzz/mcp-bash"
  export corpora
  grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' pkg sdk lib cmd schemas 2>/dev/null | xargs -n1 dirname | sort -u |
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
