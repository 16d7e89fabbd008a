#!/usr/bin/env bash
# Runs every fuzz target of the project for FUZZTIME (3s). A finding fails, and
# leaves its input under the package's testdata/fuzz. When time is up while an
# input is tried, Go's fuzzer calls that a failure too ("context deadline
# exceeded", without an input): that is none. Inputs that reach new code are kept in
# the cache of Go, and the next run starts with them.
#
# FUZZTARGETS (a regular expression) chooses among the targets.
set -euo pipefail
cd "$(dirname "$0")/.."
time="${FUZZTIME:-3s}"
corpora="$(go env GOCACHE)/fuzz/mcp-bash" # what was found is kept; go clean -fuzzcache removes it
grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' pkg sdk lib cmd 2>/dev/null | xargs -n1 dirname | sort -u |
while read -r dir; do
  targets="$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u |
    grep -E "${FUZZTARGETS:-.}")" || continue
  binary="$(mktemp)"
  go test -c -fuzz=Fuzz -o "$binary" "./$dir" # with -fuzz, or mutations are blind
  while read -r target; do
    printf 'fuzz %-16s %-24s ' "$dir" "$target"
    if ! out="$(cd "$dir" && "$binary" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime="$time" \
      -test.fuzzcachedir="$corpora/$dir" -test.parallel=2 2>&1)" &&
      { [[ $out != *'context deadline exceeded'* ]] ||
        [[ $out == *'Failing input'* || $out == *'hung or terminated'* ]]; }; then
      printf 'FAILED\n%s\n' "$out"
      exit 1
    fi
    if [[ $out == *'not built with coverage instrumentation'* ]]; then
      printf 'FAILED: the fuzzer sees no coverage\n'
      exit 1
    fi
    printf '%s\n' "$out" | sed -n 's/.*execs: \([0-9]*\).*/\1 inputs/p' | tail -n 1
  done <<<"$targets"
  rm -f "$binary"
done
