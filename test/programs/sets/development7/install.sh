#!/usr/bin/env bash
# Fetches the programs of the set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT7_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT7_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development7-programs}

# Each program with its requirements, without Python, Perl, Node, Go, a C compiler, and the C and C++ libraries.
debian=(
  calendar cargo coreutils cpp cpp-12 csvkit ffmpeg fontconfig fontconfig-config git git-man jo libacl1
  libaom3 libarchive13 libaribb24-0 libasound2 libasound2-data libass9 libasyncns0 libattr1 libaudit1
  libavahi-client3 libavahi-common-data libavahi-common3 libavc1394-0 libavcodec59 libavdevice59 libavfilter8
  libavformat59 libavutil57 libblas3 libblkid1 libbluray2 libbrotli1 libbs2b0 libbsd0 libbz2-1.0 libcaca0
  libcairo-gobject2 libcairo2 libcap-ng0 libcap2 libcdio-cdda2 libcdio-paranoia2 libcdio19 libchromaprint1 libcjson1
  libcodec2-1.0 libcom-err2 libcurl3-gnutls libcurl4 libdatrie1 libdav1d6 libdb5.3 libdbus-1-3 libdc1394-25
  libdecor-0-0 libdeflate0 libdrm-common libdrm-nouveau2 libdrm-radeon1 libdrm2 libedit2 libelf1 libepoxy0
  liberror-perl libexpat1 libffi8 libflac12 libflite1 libfontconfig1 libfontenc1 libfreetype6 libfribidi0 libgbm1
  libgcrypt20 libgdbm-compat4 libgdbm6 libgdk-pixbuf-2.0-0 libgdk-pixbuf2.0-common libgfortran5 libgif7 libgit2-1.5
  libgl1 libglapi-mesa libglib2.0-0 libglvnd0 libglx-mesa0 libglx0 libgme0 libgmp10 libgnutls30 libgomp1
  libgpg-error0 libgraphite2-3 libgsm1 libgssapi-krb5-2 libharfbuzz0b libhogweed6 libhttp-parser2.9 libhwy1 libicu72
  libidn2-0 libiec61883-0 libisl23 libjack-jackd2-0 libjansson4 libjbig0 libjpeg62-turbo libjxl0.7 libk5crypto3
  libkeyutils1 libkrb5-3 libkrb5support0 liblapack3 liblcms2-2 libldap-2.5-0 libldb2 liblept5 liblerc4 liblilv-0-0
  libllvm14 liblmdb0 liblua5.3-0 liblz4-1 liblzma5 libmbedcrypto7 libmbedtls14 libmbedx509-1 libmd0 libmfx1
  libmount1 libmp3lame0 libmpc3 libmpfr6 libmpg123-0 libmysofa1 libncursesw6 libnettle8 libnghttp2-14 libnorm1
  libnsl2 libnspr4 libnss3 libnuma1 libogg0 libopenal-data libopenal1 libopencore-amrnb0 libopencore-amrwb0
  libopenjp2-7 libopenmpt0 libopus0 libp11-kit0 libpam0g libpango-1.0-0 libpangocairo-1.0-0 libpangoft2-1.0-0
  libpciaccess0 libpcre2-8-0 libpcre3 libpgm-5.3-0 libpixman-1-0 libplacebo208 libpng16-16 libpocketsphinx3
  libpoppler-cpp0v5 libpoppler126 libpopt0 libpostproc56 libpsl5 libpulse0 libquadmath0 librabbitmq4 librav1e0
  libraw1394-11 libreadline8 librist4 librsvg2-2 librtmp1 librubberband2 libsamplerate0 libsasl2-2
  libsasl2-modules-db libsdl2-2.0-0 libselinux1 libserd-0-0 libshine3 libslang2 libsmbclient libsnappy1v5
  libsndfile1 libsndio7.0 libsodium23 libsord-0-0 libsoxr0 libspeex1 libsphinxbase3 libsqlite3-0 libsratom-0-0
  libsrt1.5-gnutls libssh-gcrypt-4 libssh2-1 libssl3 libstd-rust-1.63 libstd-rust-dev libsvtav1enc1 libswresample4
  libswscale6 libsystemd0 libtalloc2 libtasn1-6 libtdb1 libtesseract5 libtevent0 libthai-data libthai0 libtheora0
  libtiff6 libtinfo6 libtirpc-common libtirpc3 libtwolame0 libudev1 libudfread0 libunistring2 libusb-1.0-0 libuuid1
  libva-drm2 libva-x11-2 libva2 libvdpau1 libvidstab1.1 libvo-amrwbenc0 libvorbis0a libvorbisenc2 libvorbisfile3
  libvpx7 libvulkan1 libwayland-client0 libwayland-cursor0 libwayland-egl1 libwayland-server0 libwbclient0 libwebp7
  libwebpmux3 libx11-6 libx11-data libx11-xcb1 libx264-164 libx265-199 libxau6 libxcb-dri2-0 libxcb-dri3-0
  libxcb-glx0 libxcb-present0 libxcb-randr0 libxcb-render0 libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0
  libxcb1 libxcursor1 libxdmcp6 libxext6 libxfixes3 libxi6 libxkbcommon0 libxml2 libxrandr2 libxrender1
  libxshmfence1 libxslt1.1 libxss1 libxv1 libxvidcore4 libxxf86vm1 libyaml-0-2 libz3-4 libzimg2 libzmq5 libzstd1
  libzvbi-common libzvbi0 ocl-icd-libopencl1 pandoc pandoc-data pdfgrep poppler-utils python-babel-localedata
  python3-agate python3-agatedbf python3-agateexcel python3-agatesql python3-babel python3-click
  python3-click-default-group python3-colorama python3-csvkit python3-dateutil python3-dbfread python3-distutils
  python3-et-xmlfile python3-greenlet python3-importlib-metadata python3-isodate python3-jdcal python3-leather
  python3-lib2to3 python3-lxml python3-more-itertools python3-olefile python3-openpyxl python3-parsedatetime
  python3-pip python3-pkg-resources python3-pytimeparse python3-setuptools python3-six python3-slugify
  python3-sqlalchemy python3-sqlite-fts4 python3-tabulate python3-typing-extensions python3-tz python3-unidecode
  python3-wheel python3-xlrd python3-zipp rustc samba-libs shfmt sqlite-utils sqlite3 tree zip zlib1g
)
npm=(prettier@3.4.2 rust-just@1.40.0 uglify-js@3.19.3 replace@1.2.2 js-beautify@1.15.1 katex@0.16.11)
go=(github.com/editorconfig-checker/editorconfig-checker/v3/cmd/editorconfig-checker@v3.7.0)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# Pandoc looks for its data only where it was installed. So do the programs for some of their libraries.
printf '#!/bin/sh\nexport pandoc_datadir=%q\nexec %q "$@"\n' "$folder/root/usr/share/pandoc" \
  "$folder/root/usr/bin/pandoc" >"$folder/bin/pandoc"
chmod +x "$folder/bin/pandoc"
libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu)
for library in blas/libblas.so.3 lapack/liblapack.so.3 pulseaudio/libpulsecommon-16.1.so; do
  ln -sf "$library" "$libraries/$(basename "$library")"
done

# "go install" wants the list of the versions of scc, which the Go proxy does not give. A module does not need it.
module=$folder/scc
mkdir "$module"
printf 'module scc\n\ngo 1.22\n\nrequire github.com/boyter/scc/v3 v3.4.0\n' >"$module/go.mod"
(cd "$module" && GOFLAGS='' CGO_ENABLED=0 go build -mod=mod -o "$folder/bin/scc" github.com/boyter/scc/v3) \
  >"$folder/go.log" 2>&1 || fail 'go could not build scc.' "$(tail -n 5 "$folder/go.log")"
rm -r "$module"

fetch_others
finish
