#!/usr/bin/env bash
# Prints the programs that make test needs and that are missing, on one line. Their packages in Debian have the same
# names.
set -euo pipefail
missing=()
for program in fish shellcheck tmux zsh; do
  command -v "$program" >/dev/null 2>&1 || missing+=("$program")
done
for browser in "${CHROMIUM:-chromium}" chromium-browser google-chrome missing; do
  command -v "$browser" >/dev/null 2>&1 && break
done
[ "$browser" != missing ] || missing+=(chromium)
echo "${missing[*]-}"
