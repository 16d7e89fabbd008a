#!/usr/bin/env bash
# Fetches the programs of the second development set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT2_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT2_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development2-programs}

# Each program with its requirements, without Python, Perl, a C compiler, and the C and C++ libraries.
debian=(
  file libmagic1 libmagic-mgc libbz2-1.0 liblzma5 zlib1g zip unzip tar libacl1 libselinux1 libpcre2-8-0
  libimage-exiftool-perl coreutils
  gawk libgmp10 libmpfr6 libreadline8 libtinfo6 libsigsegv2
  cargo rustc libstd-rust-1.63 libstd-rust-dev libllvm14 libcurl3-gnutls libgit2-1.5 libhttp-parser2.9 libssh2-1
  libssl3 libmbedcrypto7 libmbedtls14 libmbedx509-1 libedit2 libbsd0 libmd0 libxml2 libicu72 libz3-4 libffi8
  libbrotli1 libgnutls30 libnettle8 libhogweed6 libp11-kit0 libtasn1-6 libidn2-0 libunistring2 libnghttp2-14 libpsl5
  librtmp1 libldap-2.5-0 libsasl2-2 libgssapi-krb5-2 libkrb5-3 libkrb5support0 libk5crypto3 libcom-err2 libkeyutils1
  libzstd1 libdb5.3
  systemd systemd-journal-remote libsystemd-shared libsystemd0 libmicrohttpd12 libcurl4 liblz4-1 libcap2 libgcrypt20
  libgpg-error0 libkmod2 libmount1 libblkid1 libseccomp2 libcrypt1 libapparmor1 libip4tc2 libaudit1 libcap-ng0 libpam0g
  libcryptsetup12 libjson-c5 libargon2-1 libdevmapper1.02.1 libudev1 libuuid1 libfdisk1
  pandoc pandoc-data liblua5.3-0 libyaml-0-2
  python3-pip python3-wheel python3-setuptools python3-pkg-resources python3-distutils python3-lib2to3
  imagemagick-6.q16 imagemagick-6-common libmagickcore-6.q16-6 libmagickwand-6.q16-6 hicolor-icon-theme libaom3
  libdav1d6 libde265-0 libdeflate0 libexpat1 libfftw3-double3 libfontconfig1 fontconfig-config libfontenc1 libfreetype6
  libglib2.0-0 libgomp1 libheif1 libjbig0 libjpeg62-turbo liblcms2-2 liblerc4 liblqr-1-0 libltdl7 libnuma1 libopenjp2-7
  libpng16-16 libtiff6 libwebp7 libwebpdemux2 libwebpmux3 libx11-6 libx265-199 libxau6 libxcb1 libxdmcp6 libxext6
  cookiecutter python3-cookiecutter python3-binaryornot python3-certifi python3-chardet python3-charset-normalizer
  python3-click python3-colorama python3-dateutil python3-idna python3-importlib-metadata python3-jinja2
  python3-jinja2-time python3-markupsafe python3-more-itertools python3-requests python3-ruamel.yaml
  python3-ruamel.yaml.clib python3-six python3-slugify python3-typing-extensions python3-unidecode python3-urllib3
  python3-whichcraft python3-yaml python3-zipp python3-arrow
  flake8 python3-flake8 python3-mccabe python3-pycodestyle python3-pyflakes
  hugo libsass1 mtree-netbsd tidy libtidy5deb1 jpegoptim xxd
)
npm=(@taplo/cli@0.7.0 sass@1.77.8 htmlhint@1.1.4 @asciidoctor/cli@3.5.0 @asciidoctor/core@2.2.6)
go=(github.com/hashicorp/terraform@v1.5.7 github.com/google/yamlfmt/cmd/yamlfmt@v0.17.2)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# Some programs look for their data, modules or libraries only where they were installed. One has another name.
libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu)
modules=$(echo "$libraries"/ImageMagick-*/modules-Q16)
wrapper convert usr/bin/convert-im6.q16 "MAGICK_CODER_MODULE_PATH='$modules/coders'" \
  "MAGICK_FILTER_MODULE_PATH='$modules/filters'" "MAGICK_CONFIGURE_PATH='$folder/root/etc/ImageMagick-6'"
ln -s convert-im6.q16.1.gz "$folder/root/usr/share/man/man1/convert.1.gz"
wrapper file usr/bin/file "MAGIC='$folder/root/usr/lib/file/magic.mgc'"
wrapper pandoc usr/bin/pandoc "pandoc_datadir='$folder/root/usr/share/pandoc'"
wrapper exiftool usr/bin/exiftool "PERL5LIB='$folder/root/usr/share/perl5'"
ln -s systemd/"$(basename "$libraries"/systemd/libsystemd-shared-*.so)" "$libraries/"
ln -s ../root/lib/systemd/systemd-journal-remote "$folder/bin/systemd-journal-remote"

fetch_others
finish
