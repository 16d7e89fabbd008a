#!/bin/sh
# Prints the commit of this checkout, with -dirty if its files differ from the commit. It prints nothing without git,
# or if the sources are not a repository: no commit is better than a wrong one (CLI-107).
#
#   release/commit.sh
set -eu
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR GIT_CEILING_DIRECTORIES
cd -- "$(dirname -- "$0")/.."
[ -e .git ] || exit 0
commit=$(git rev-parse -q --verify HEAD 2>/dev/null) || exit 0
changes=$(git --no-optional-locks status --porcelain 2>/dev/null) || exit 0
[ -z "$changes" ] || commit=$commit-dirty
echo "$commit"
