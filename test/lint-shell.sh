#!/usr/bin/env bash
# Lints the shell code that ships, where shellcheck (a Debian package, or
# github.com/koalaman/shellcheck) is installed. CI installs it.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v shellcheck >/dev/null 2>&1; then
  echo "shellcheck is not installed: shell code is not linted (apt-get install shellcheck)" >&2
  exit 0
fi
find install.sh release sdk lib providers examples test pkg share \
  \( -name '*.sh' -o -name '*.bash' \) -not -path '*/testdata/*' -print0 |
  xargs -0 -r shellcheck --severity=warning
