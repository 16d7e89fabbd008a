#!/usr/bin/env bash
# Fetches the programs of the held-out test set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_HOLDOUT_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_HOLDOUT_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-holdout-programs}

# Each program with its requirements, without Python and the C library.
debian=(
  findutils coreutils git git-man openssl libssl3 ripgrep libpcre2-8-0 rclone
  wget libgnutls30 libidn2-0 libnettle8 libhogweed6 libpsl5 libuuid1 libunistring2 libp11-kit0 libtasn1-6 libffi8
  bat libgit2-1.5 libhttp-parser2.9 libmbedcrypto7 libmbedtls14 libmbedx509-1 libssh2-1
  codespell python3-chardet
  rstcheck python3-rstcheck python3-typer python3-click python3-colorama python3-docutils python3-pydantic
  python3-typing-extensions python3-roman python3-pygments python3-rich python3-commonmark python3-markdown-it
  python3-mdurl
  datamash libxml2-utils libxml2 libicu72 liblzma5 qrencode libqrencode4 libpng16-16 ncal
)
npm=(prettier@3.3.3 svgo@3.3.2 markdownlint-cli@0.41.0 esbuild@0.21.5 @ffmpeg-installer/linux-x64@4.1.0)
go=(github.com/mikefarah/yq/v4@v4.44.3 github.com/tomwright/dasel/v2/cmd/dasel@v2.8.1
  github.com/client9/misspell/cmd/misspell@v0.3.4)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/fetch.sh"
fetch_debian
fetch_others
ln -s ../npm/node_modules/@ffmpeg-installer/linux-x64/ffmpeg "$folder/bin/ffmpeg"
chmod +x "$folder/npm/node_modules/@ffmpeg-installer/linux-x64/ffmpeg"
finish
