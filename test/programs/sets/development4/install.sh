#!/usr/bin/env bash
# Fetches the programs of the fourth development set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT4_PROGRAMS replaces the folder in the cache.
# go vet, go doc and go list are the machine's own.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT4_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development4-programs}

# Each program with its requirements, without Python, Perl, a C compiler, and the C and C++ libraries.
debian=(
  unzip libbz2-1.0 sed libacl1 libselinux1 libpcre2-8-0 coreutils zip
  cargo rustc libstd-rust-1.63 libstd-rust-dev libllvm14 libcurl3-gnutls libgit2-1.5 libhttp-parser2.9 libssh2-1
  libssl3 libmbedcrypto7 libmbedtls14 libmbedx509-1 libedit2 libbsd0 libmd0 libxml2 libicu72 libz3-4 libffi8
  libbrotli1 libgnutls30 libnettle8 libhogweed6 libgmp10 libp11-kit0 libtasn1-6 libidn2-0 libunistring2 libnghttp2-14
  libpsl5 librtmp1 libldap-2.5-0 libsasl2-2 libgssapi-krb5-2 libkrb5-3 libkrb5support0 libk5crypto3 libcom-err2
  libkeyutils1 libzstd1 libdb5.3 liblzma5 zlib1g libtinfo6
  yt-dlp python3-brotli python3-certifi python3-mutagen python3-pycryptodome python3-websockets python3-pkg-resources
  git git-man rclone
  rsync libpopt0 libxxhash0 liblz4-1
  openssh-client libfido2-1 libcbor0.8 libudev1 libcap-ng0
  img2pdf python3-img2pdf python3-pikepdf libqpdf29 libjpeg62-turbo python3-lxml libxslt1.1 python3-deprecation
  python3-packaging python3-pil libfreetype6 libpng16-16 libimagequant0 liblcms2-2 libopenjp2-7 libraqm0 libfribidi0
  libharfbuzz0b libglib2.0-0 libgraphite2-3 libtiff6 liblerc4 libjbig0 libdeflate0 libwebp7 libwebpdemux2 libwebpmux3
  libxcb1 libxau6 libxdmcp6
  towncrier python3-click python3-click-default-group python3-incremental python3-jinja2 python3-markupsafe
  python3-tomli python3-colorama python3-importlib-metadata python3-more-itertools python3-zipp
  python3-typing-extensions
  lsd athena-jot fdupes libncursesw6 libpcre2-32-0
  graphviz libann0 libcdt5 libcgraph6 libgd3 libgts-0.7-5 libgvc6 libgvpr2 liblab-gamut1 libpathplan4 libexpat1 libltdl7
  libcairo2 libpango-1.0-0 libpangocairo-1.0-0 libpangoft2-1.0-0 libpixman-1-0 libthai0 libthai-data libdatrie1
  libfontconfig1 fontconfig-config fonts-dejavu-core libx11-6 libxcb-render0 libxcb-shm0 libxext6 libxrender1 libxpm4
  libavif15 libheif1 libabsl20220623 libaom3 libdav1d6 libde265-0 libgav1-1 libnuma1 librav1e0 libsvtav1enc1
  libx265-199 libyuv0
  webp libgif7
)
npm=(madge@8.0.0 typescript-json-schema@0.65.1 clang-format@1.8.0)
go=(helm.sh/helm/v3/cmd/helm@v3.16.4 cuelang.org/go/cmd/cue@v0.14.1 github.com/fatih/gomodifytags@v1.17.0)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# Graphviz looks for its plugins only where it was installed, and they are listed at installation.
libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu)
cat >"$folder/bin/dot" <<END
#!/bin/sh
export GVBINDIR='$libraries/graphviz'
exec '$folder/root/usr/bin/dot' "\$@"
END
chmod +x "$folder/bin/dot"
mkdir -p "$folder/share/man/man1" # the page counts only next to the program
ln -s ../../../root/usr/share/man/man1/dot.1.gz "$folder/share/man/man1/dot.1.gz"
LD_LIBRARY_PATH=$libraries "$folder/bin/dot" -c

fetch_others
finish
