#!/usr/bin/env bash
# Fetches the programs of the set for everyday tasks: packages of Debian, unpacked and not installed, and of Go.
# Prints their folder. MCPBASH_DAILY_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DAILY_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-daily-programs}

# Each program with its requirements, without Python, a C compiler, and the C and C++ libraries.
debian=(
  bind9-dnsutils bind9-host bind9-libs liblmdb0 libuv1 libfstrm0 libjemalloc2 libmaxminddb0 libprotobuf-c1 libjson-c5
  libidn2-0 libunistring2 libedit2 libbsd0 libmd0 libcap2 libkeyutils1 libicu72 libxml2 libgssapi-krb5-2 libkrb5-3
  libkrb5support0 libk5crypto3 libnghttp2-14
  cargo rustc libstd-rust-1.63 libstd-rust-dev libllvm14 libcurl3-gnutls libgit2-1.5 libhttp-parser2.9 libssh2-1
  libmbedcrypto7 libmbedtls14 libmbedx509-1 libz3-4 libffi8 libbrotli1 libgnutls30 libnettle8 libhogweed6 libp11-kit0
  libtasn1-6 libpsl5 librtmp1 libldap-2.5-0 libsasl2-2 libdb5.3 libssl3 libtinfo6 libgmp10
  git git-man sed openssh-client rclone unzip libbz2-1.0
  rsync libpopt0 libxxhash0 liblz4-1 libzstd1 libacl1
  nmap nmap-common libpcre3 libpcap0.8 liblinear4 libblas3 lua-lpeg liblua5.3-0 tcpdump
  yt-dlp python3-mutagen python3-pycryptodome python3-websockets python3-certifi python3-brotli
)
npm=()
go=(helm.sh/helm/v3/cmd/helm@v3.16.4)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# Nmap looks for its data only where it was installed. tcpdump of root changes to a user that may not exist.
printf '#!/bin/sh\nexport NMAPDIR=%q\nexec %q "$@"\n' "$folder/root/usr/share/nmap" "$folder/root/usr/bin/nmap" \
  >"$folder/bin/nmap"
printf '#!/bin/sh\nexec %q -Z root "$@"\n' "$folder/root/usr/bin/tcpdump" >"$folder/bin/tcpdump"
chmod +x "$folder/bin/nmap" "$folder/bin/tcpdump"
libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu)
ln -s blas/libblas.so.3 "$libraries/libblas.so.3"

fetch_others
finish
