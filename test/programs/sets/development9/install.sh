#!/usr/bin/env bash
# Fetches the programs of the set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT9_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT9_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development9-programs}

# Each program with its requirements, without Python, Node, Go, a C compiler, and the C and C++ libraries.
debian=(
  git git-man libpcre2-8-0 zlib1g zip libbz2-1.0 sqlite3 libsqlite3-0 libreadline8 libtinfo6
  nmap nmap-common libpcre3 libpcap0.8 libdbus-1-3 liblinear4 libblas3 lua-lpeg liblua5.3-0
  curl libcurl4 libcurl3-gnutls libssl3 libssh2-1 libbrotli1 libgnutls30 libnettle8 libhogweed6 libp11-kit0 libtasn1-6
  libidn2-0 libunistring2 libnghttp2-14 libpsl5 librtmp1 libldap-2.5-0 libsasl2-2 libgssapi-krb5-2 libkrb5-3
  libkrb5support0 libk5crypto3 libcom-err2 libkeyutils1 libzstd1 libdb5.3 libffi8
  rclone gawk libgmp10 libmpfr6 libsigsegv2 coreutils libacl1 libattr1 libselinux1
  csvkit python3-csvkit python3-agate python3-agatedbf python3-agateexcel python3-agatesql python3-babel
  python-babel-localedata python3-dbfread python3-et-xmlfile python3-greenlet python3-isodate python3-jdcal
  python3-leather python3-lxml python3-olefile python3-openpyxl python3-parsedatetime python3-pytimeparse
  python3-slugify python3-sqlalchemy python3-tz python3-unidecode python3-xlrd python3-pkg-resources python3-six
  libxml2 libxslt1.1 libicu72 liblzma5
  sqlfluff python3-appdirs python3-attr python3-chardet python3-click python3-colorama python3-exceptiongroup
  python3-importlib-metadata python3-importlib-resources python3-iniconfig python3-jinja2 python3-markupsafe
  python3-more-itertools python3-packaging python3-pathspec python3-pluggy python3-py python3-pytest python3-regex
  python3-tblib python3-toml python3-tomli python3-tqdm python3-typing-extensions python3-yaml python3-zipp libyaml-0-2
  cbindgen rs html2text pycodestyle python3-pycodestyle
)
npm=(mjml@4.15.3 pug-cli@1.0.0-alpha6)
go=(github.com/hashicorp/terraform@v1.5.7 github.com/mikefarah/yq/v4@v4.44.3
  golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
  github.com/goreleaser/chglog/cmd/chglog@v0.7.4)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# Nmap looks for its data only where it was installed.
printf '#!/bin/sh\nexport NMAPDIR=%q\nexec %q "$@"\n' "$folder/root/usr/share/nmap" "$folder/root/usr/bin/nmap" \
  >"$folder/bin/nmap"
chmod +x "$folder/bin/nmap"
libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu)
ln -s blas/libblas.so.3 "$libraries/libblas.so.3"

fetch_others
finish
