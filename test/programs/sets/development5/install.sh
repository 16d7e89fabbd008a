#!/usr/bin/env bash
# Fetches the programs of the fifth development set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT5_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT5_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development5-programs}

# Each program with its requirements, without Python, Perl, Node, Go, git, and the C and C++ libraries. The page of
# git status is in git-man.
debian=(
  git-man openssl libssl3 libimage-exiftool-perl xz-utils liblzma5 tree jq libjq1 libonig5 rsync libpopt0 liblz4-1
  libxxhash0 libzstd1 zlib1g coreutils libacl1 libattr1 libselinux1 libpcre2-8-0 libgmp10 shellcheck libffi8 restic
  zip unzip libbz2-1.0 tar
  xlsx2csv python3-importlib-metadata python3-more-itertools python3-zipp python3-typing-extensions
  gitlint python3-arrow python3-click python3-colorama python3-dateutil python3-sh python3-six
  yapf3 python3-yapf python3-pkg-resources python3-lib2to3
  optipng libpng16-16 zstd libarchive-tools libarchive13 libnettle8 libicu72 libxml2
)
npm=(jscpd@4.0.5 @stoplight/spectral-cli@6.14.2 git-cliff@2.7.0 less@4.2.1)
go=(github.com/norwoodj/helm-docs/cmd/helm-docs@v1.14.2 github.com/google/addlicense@v1.1.1)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# This program looks for its modules only where it was installed.
cat >"$folder/bin/exiftool" <<END
#!/bin/sh
export PERL5LIB='$folder/root/usr/share/perl5'
exec '$folder/root/usr/bin/exiftool' "\$@"
END
chmod +x "$folder/bin/exiftool"

fetch_others
finish
