#!/usr/bin/env bash
# Fetches the programs of the development set: packages of Debian, unpacked and not installed, of npm and of Go. Prints
# their folder. MCPBASH_DEVELOPMENT_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development-programs}

# Each program with its requirements, without Python and the C and C++ libraries.
debian=(
  findutils coreutils git git-man openssl libssl3 ripgrep libpcre2-8-0 rclone wget libgnutls30 libidn2-0 libnettle8
  libhogweed6 libpsl5 libuuid1 libunistring2 libp11-kit0 libtasn1-6 libffi8 bat libgit2-1.5 libhttp-parser2.9
  libmbedcrypto7 libmbedtls14 libmbedx509-1 libssh2-1 codespell python3-chardet rstcheck python3-rstcheck
  python3-typer python3-click python3-colorama python3-docutils python3-pydantic python3-typing-extensions
  python3-roman python3-pygments python3-rich python3-commonmark python3-markdown-it python3-mdurl datamash
  libxml2-utils libxml2 libicu72 liblzma5 qrencode libqrencode4 libpng16-16 ncal libacl1 libselinux1 diffutils patch
  fd-find jq libjq1 libonig5 sqlite3 libsqlite3-0 libreadline8 libtinfo6 python3-pip python3-wheel python3-setuptools
  python3-pkg-resources python3-distutils python3-lib2to3 sqlformat python3-sqlparse sqlite-utils python3-sqlite-fts4
  python3-click-default-group python3-dateutil python3-six python3-tabulate csvkit python3-csvkit python3-agate
  python3-agatedbf python3-agateexcel python3-agatesql python3-babel python-babel-localedata python3-tz
  python3-dbfread python3-et-xmlfile python3-greenlet python3-importlib-metadata python3-isodate python3-jdcal
  python3-leather python3-lxml python3-more-itertools python3-olefile python3-openpyxl python3-parsedatetime
  python3-pytimeparse python3-slugify python3-sqlalchemy python3-unidecode python3-xlrd python3-zipp libarchive-tools
  libarchive13 libbz2-1.0 liblz4-1 libzstd1 poppler-utils libpoppler126 libcairo2 libpixman-1-0 libnspr4 libnss3
  libopenjp2-7 imagemagick-6.q16 imagemagick-6-common libmagickcore-6.q16-6 libmagickwand-6.q16-6 hicolor-icon-theme
  libaom3 libbrotli1 libbsd0 libdav1d6 libde265-0 libdeflate0 libexpat1 libfftw3-double3 libfontconfig1
  fontconfig-config libfontenc1 libfreetype6 libglib2.0-0 libgomp1 libheif1 libjbig0 libjpeg62-turbo liblcms2-2
  liblerc4 liblqr-1-0 libltdl7 libmd0 libnuma1 libtiff6 libwebp7 libwebpdemux2 libwebpmux3 libx11-6 libx265-199
  libxau6 libxcb-render0 libxcb-shm0 libxcb1 libxdmcp6 libxext6 libxrender1 zlib1g
  grep gzip age bsdextrautils libsmartcols1 curl libcurl4 libgssapi-krb5-2 libkrb5-3 libkrb5support0 libk5crypto3
  libcom-err2 libkeyutils1 libldap-2.5-0 libsasl2-2 libnghttp2-14 librtmp1 libgmp10 iproute2 libbpf1 libcap2
  libcap2-bin libdb5.3 libelf1 libmnl0 libtirpc3 libxtables12 procps libproc2-0 libncursesw6 libsystemd0 gpg gpgconf
  libassuan0 libgcrypt20 libgpg-error0 xz-utils qpdf libqpdf29 isort python3-isort python3-toml mkdocs
  fonts-font-awesome libjs-bootstrap4 libjs-jquery libjs-lunr libjs-modernizr libjs-popper.js node-jquery
  python3-livereload python3-tornado python3-lunr sphinx-rtd-theme-common fonts-lato ghp-import python3-jinja2
  python3-markupsafe python3-markdown python3-mergedeep python3-packaging python3-pyyaml-env-tag python3-watchdog
  python3-yaml libyaml-0-2
)
npm=(
  prettier@3.3.3 svgo@3.3.2 markdownlint-cli@0.41.0 esbuild@0.21.5 @ffmpeg-installer/linux-x64@4.1.0
  @ast-grep/cli@0.31.1 html-minifier-terser@7.2.0 depcheck@1.4.7
  cspell@8.17.5 mocha@10.8.2 lightningcss-cli@1.29.1 @ffprobe-installer/linux-x64@5.2.0
)
go=(
  github.com/mikefarah/yq/v4@v4.44.3 github.com/tomwright/dasel/v2/cmd/dasel@v2.8.1
  github.com/client9/misspell/cmd/misspell@v0.3.4 github.com/homeport/dyff/cmd/dyff@v1.10.2
  github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 github.com/zricethezav/gitleaks/v8@v8.30.1
  sigs.k8s.io/kustomize/kustomize/v5@v5.4.3 github.com/mgechev/revive@v1.3.9
)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# Debian gives two programs other names. One of them looks for its modules and settings only where it was installed.
man=$folder/root/usr/share/man/man1
ln -s ../root/usr/bin/fdfind "$folder/bin/fd"
ln -s fdfind.1.gz "$man/fd.1.gz"
modules=$(echo "$folder"/root/usr/lib/*-linux-gnu/ImageMagick-*/modules-Q16)
cat >"$folder/bin/identify" <<END
#!/bin/sh
export MAGICK_CODER_MODULE_PATH='$modules/coders' MAGICK_CONFIGURE_PATH='$folder/root/etc/ImageMagick-6'
exec '$folder/root/usr/bin/identify-im6.q16' "\$@"
END
chmod +x "$folder/bin/identify"
mkdir -p "$folder/share/man/man1" # the page counts only next to the program
ln -s ../../../root/usr/share/man/man1/identify-im6.q16.1.gz "$folder/share/man/man1/identify.1.gz"

fetch_others
ffmpeg=../npm/node_modules/@ffmpeg-installer/linux-x64/ffmpeg
ln -s "$ffmpeg" "$folder/bin/ffmpeg"
chmod +x "$folder/bin/$ffmpeg"
ln -s ../npm/node_modules/@ffprobe-installer/linux-x64/ffprobe "$folder/bin/ffprobe"
chmod +x "$folder/npm/node_modules/@ffprobe-installer/linux-x64/ffprobe"
finish
