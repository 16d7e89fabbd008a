#!/usr/bin/env bash
# Fetches the programs of the hold-out set: packages of Debian, unpacked and not installed, of npm and of Go. Prints
# their folder. MCPBASH_HOLDOUT_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_HOLDOUT_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-holdout-programs}

# Each program with its requirements, without Python and the C library.
debian=(
  coreutils grep gzip git git-man age bsdextrautils libsmartcols1
  curl libcurl4 zlib1g libbrotli1 libgssapi-krb5-2 libkrb5-3 libkrb5support0 libk5crypto3 libcom-err2 libkeyutils1
  libldap-2.5-0 libsasl2-2 libnghttp2-14 libpsl5 librtmp1 libssh2-1 libssl3 libzstd1 libidn2-0 libunistring2
  libgnutls30 libnettle8 libhogweed6 libp11-kit0 libtasn1-6 libffi8 libgmp10
  iproute2 libbpf1 libbsd0 libmd0 libcap2 libcap2-bin libdb5.3 libelf1 libmnl0 libselinux1 libtirpc3 libxtables12
  libpcre2-8-0
  procps libproc2-0 libncursesw6 libtinfo6 libsystemd0
  gpg gpgconf libassuan0 libbz2-1.0 libgcrypt20 libgpg-error0 libreadline8 libsqlite3-0
  xz-utils liblzma5 qpdf libqpdf29 libjpeg62-turbo
  isort python3-isort python3-toml python3-colorama python3-pkg-resources
  mkdocs fonts-font-awesome libjs-bootstrap4 libjs-jquery libjs-lunr libjs-modernizr libjs-popper.js node-jquery
  python3-livereload python3-tornado python3-lunr sphinx-rtd-theme-common fonts-lato ghp-import python3-dateutil
  python3-six python3-click python3-jinja2 python3-markupsafe python3-markdown python3-mergedeep python3-packaging
  python3-pyyaml-env-tag python3-watchdog python3-yaml libyaml-0-2 python3-importlib-metadata python3-zipp
  python3-more-itertools python3-typing-extensions
)
npm=(cspell@8.17.5 mocha@10.8.2 lightningcss-cli@1.29.1 @ffprobe-installer/linux-x64@5.2.0)
go=(sigs.k8s.io/kustomize/kustomize/v5@v5.4.3 github.com/mgechev/revive@v1.3.9)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian
fetch_others
ln -s ../npm/node_modules/@ffprobe-installer/linux-x64/ffprobe "$folder/bin/ffprobe"
chmod +x "$folder/npm/node_modules/@ffprobe-installer/linux-x64/ffprobe"
finish
