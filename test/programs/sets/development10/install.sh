#!/usr/bin/env bash
# Fetches the programs of this test set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT10_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT10_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development10-programs}

# Each program with its requirements, without Python, Perl, Node, Go, and the C and C++ libraries.
debian=(
  tar sed libacl1 libselinux1 libpcre2-8-0 git git-man zlib1g
  pandoc pandoc-data libffi8 libgmp10 liblua5.3-0 libyaml-0-2
  ripgrep
  poppler-utils libpoppler126 libcairo2 libpixman-1-0 libnspr4 libnss3 libopenjp2-7 libbrotli1 libbsd0 libdeflate0
  libexpat1 libfontconfig1 fontconfig-config libfreetype6 libjbig0 libjpeg62-turbo liblcms2-2 liblerc4 liblzma5 libmd0
  libpng16-16 libsqlite3-0 libtiff6 libwebp7 libx11-6 libxau6 libxcb-render0 libxcb-shm0 libxcb1 libxdmcp6 libxext6
  libxrender1 libzstd1
  gpg gpgconf libassuan0 libbz2-1.0 libgcrypt20 libgpg-error0 libreadline8 libtinfo6
  python3-pip python3-wheel python3-setuptools python3-pkg-resources python3-distutils python3-lib2to3
  csvkit python3-csvkit python3-agate python3-agatedbf python3-agateexcel python3-agatesql python3-babel
  python-babel-localedata python3-tz python3-dbfread python3-et-xmlfile python3-greenlet python3-importlib-metadata
  python3-isodate python3-jdcal python3-leather python3-lxml python3-more-itertools python3-olefile python3-openpyxl
  python3-parsedatetime python3-pytimeparse python3-six python3-slugify python3-sqlalchemy python3-typing-extensions
  python3-unidecode python3-xlrd python3-zipp
  python3-dotenv python3-click python3-colorama crudini python3-iniparse
  units makefs coreutils libattr1 libssl3 xmlstarlet libxml2 libxslt1.1 libicu72
)
npm=(eslint@9.17.0 @ast-grep/cli@0.31.1 d3-dsv@3.0.1 replace-in-file@8.3.0 ajv-cli@5.0.0)
go=(github.com/pdfcpu/pdfcpu/cmd/pdfcpu@v0.15.0 mvdan.cc/xurls/v2/cmd/xurls@v2.6.0)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# units and pandoc look for their data only where they were installed.
wrapper pandoc usr/bin/pandoc "pandoc_datadir='$folder/root/usr/share/pandoc'"
wrapper units usr/bin/units "UNITSFILE='$folder/root/usr/share/units/definitions.units'"

# The data of units has a link to a folder of the system.
ln -sf "$folder/root/var/lib/units/currency.units" "$folder/root/usr/share/units/currency.units"
# Debian gives dotenv another name, and makefs a folder for administrators.
ln -s ../root/usr/bin/python-dotenv "$folder/bin/dotenv"
ln -s ../root/usr/sbin/makefs "$folder/bin/makefs"

fetch_others
finish
