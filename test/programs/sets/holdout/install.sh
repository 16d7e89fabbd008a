#!/usr/bin/env bash
# Fetches the programs of the hold-out set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_HOLDOUT_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_HOLDOUT_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-holdout-programs}

# Each program with its requirements, without Python, Perl, Node, Go, a C compiler, and the C and C++ libraries.
debian=(
  coreutils libacl1 libattr1 libselinux1 libpcre2-8-0 libgmp10 libssl3 sqlite3 libsqlite3-0 libreadline8 libtinfo6
  unzip libbz2-1.0 xz-utils liblzma5 gawk libmpfr6 libsigsegv2 git git-man zlib1g libpcre2-posix3 libexpat1
  rclone
  fd-find libjemalloc2 libzstd1
  cargo rustc libstd-rust-1.63 libstd-rust-dev libllvm14 libcurl3-gnutls libgit2-1.5 libhttp-parser2.9
  libmbedcrypto7 libmbedtls14 libmbedx509-1 libedit2 libbsd0 libmd0 libxml2 libicu72 libz3-4 libffi8
  libbrotli1 libgnutls30 libnettle8 libhogweed6 libp11-kit0 libtasn1-6 libidn2-0 libunistring2 libnghttp2-14 libpsl5
  librtmp1 libldap-2.5-0 libsasl2-2 libgssapi-krb5-2 libkrb5-3 libkrb5support0 libk5crypto3 libcom-err2 libkeyutils1
  libdb5.3
  ansible-core python3-jinja2 python3-markupsafe python3-packaging python3-pyparsing python3-resolvelib python3-yaml
  libyaml-0-2 python3-cryptography python3-cffi-backend
  python3-pdfminer python3-charset-normalizer python3-typing-extensions
  librsvg2-bin librsvg2-2 libcairo-gobject2 libcairo2 libpixman-1-0 libfontconfig1 fontconfig-config libfreetype6
  libpng16-16 libx11-6 libxau6 libxcb-render0 libxcb-shm0 libxcb1 libxdmcp6 libxext6 libxrender1 libgdk-pixbuf-2.0-0
  libjpeg62-turbo libtiff6 libdeflate0 libjbig0 liblerc4 libwebp7 libglib2.0-0 libmount1 libblkid1 libpango-1.0-0
  libpangocairo-1.0-0 libpangoft2-1.0-0 libfribidi0 libthai0 libdatrie1 libharfbuzz0b libgraphite2-3
  ministat figlet html-xml-utils dateutils perl
  scriv python3-attr python3-click python3-click-log python3-requests python3-urllib3 python3-idna python3-certifi
  python3-chardet python3-six
)
npm=(swagger2openapi@7.0.8 sloc@0.3.2 json-diff@1.0.6)
go=(github.com/jstemmer/go-junit-report/v2@v2.1.0)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# fd and figlet have other names.
wrapper figlet usr/bin/figlet-figlet "FIGLET_FONTDIR='$folder/root/usr/share/figlet'"
ln -s figlet-figlet.6.gz "$folder/root/usr/share/man/man6/figlet.6.gz"
ln -s ../root/usr/lib/cargo/bin/fd "$folder/bin/fd"
ln -s fdfind.1.gz "$folder/root/usr/share/man/man1/fd.1.gz"

fetch_others
finish
