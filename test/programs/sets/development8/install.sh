#!/usr/bin/env bash
# Fetches the programs of the set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT8_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT8_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development8-programs}

# Each program with its requirements, without Python, Perl, Node, Go, git, a C compiler, and the C and C++ libraries.
debian=(
  ffmpeg shfmt tar shellcheck jq coreutils imagemagick-6.q16 restic cargo rustc procps mypy litecli skopeo mkcert make
  lowdown jsonnet libjpeg-turbo-progs git-man libc-bin
  fontconfig fontconfig-config hicolor-icon-theme imagemagick-6-common libacl1 libaom3 libarchive13 libaribb24-0
  libasound2 libass9 libasyncns0 libatomic1 libattr1 libaudit-common libaudit1 libavahi-client3 libavahi-common-data
  libavahi-common3 libavc1394-0 libavcodec59 libavdevice59 libavfilter8 libavformat59 libavutil57 libblas3 libblkid1
  libbluray2 libbrotli1 libbs2b0 libbsd0 libbz2-1.0 libcaca0 libcairo-gobject2 libcairo2 libcap-ng0 libcap2
  libcdio-cdda2 libcdio-paranoia2 libcdio19 libchromaprint1 libcjson1 libcodec2-1.0 libcom-err2 libcrypt1
  libcurl3-gnutls libcurl4 libdatrie1 libdav1d6 libdb5.3 libdbus-1-3 libdc1394-25 libde265-0 libdecor-0-0 libdeflate0
  libdrm-common libdrm2 libedit2 libelf1 libepoxy0 libexpat1 libffi8 libfftw3-double3 libflac12 libflite1
  libfontconfig1 libfontenc1 libfreetype6 libfribidi0 libgbm1 libgcrypt20 libgdk-pixbuf-2.0-0 libgfortran5 libgif7
  libgit2-1.5 libgl1 libglapi-mesa libglib2.0-0 libglvnd0 libglx-mesa0 libglx0 libgme0 libgmp10 libgnutls30 libgomp1
  libgpg-error0 libgraphite2-3 libgsm1 libgssapi-krb5-2 libharfbuzz0b libheif1 libhogweed6 libhttp-parser2.9 libhwy1
  libicu72 libidn2-0 libiec61883-0 libjack-jackd2-0 libjansson4 libjbig0 libjpeg62-turbo libjq1 libjxl0.7 libk5crypto3
  libkeyutils1 libkrb5-3 libkrb5support0 liblapack3 liblcms2-2 libldap-2.5-0 libldb2 liblept5 liblerc4 liblilv-0-0
  libllvm14 liblmdb0 liblqr-1-0 libltdl7 liblz4-1 liblzma5 libmagickcore-6.q16-6 libmagickwand-6.q16-6 libmbedcrypto7
  libmbedtls14 libmbedx509-1 libmd0 libmfx1 libmount1 libmp3lame0 libmpfr6 libmpg123-0 libmysofa1 libncursesw6
  libnettle8 libnghttp2-14 libnorm1 libnsl2 libnuma1 libogg0 libonig5 libopenal-data libopenal1 libopencore-amrnb0
  libopencore-amrwb0 libopenjp2-7 libopenmpt0 libopus0 libp11-kit0 libpam0g libpango-1.0-0 libpangocairo-1.0-0
  libpangoft2-1.0-0 libpciaccess0 libpcre2-8-0 libpgm-5.3-0 libpixman-1-0 libplacebo208 libpng16-16 libpocketsphinx3
  libpopt0 libpostproc56 libproc2-0 libpsl5 libpulse0 libquadmath0 librabbitmq4 librav1e0 libraw1394-11 libreadline8
  librist4 librsvg2-2 librtmp1 librubberband2 libsamplerate0 libsasl2-2 libsasl2-modules-db libsdl2-2.0-0 libselinux1
  libsensors-config libsensors5 libserd-0-0 libshine3 libsmbclient libsnappy1v5 libsndfile1 libsndio7.0 libsodium23
  libsord-0-0 libsoxr0 libspeex1 libsphinxbase3 libsqlite3-0 libsratom-0-0 libsrt1.5-gnutls libssh-gcrypt-4 libssh2-1
  libssl3 libstd-rust-1.63 libstd-rust-dev libsvtav1enc1 libswresample4 libswscale6 libsystemd0 libtalloc2 libtasn1-6
  libtdb1 libtesseract5 libtevent0 libthai-data libthai0 libtheora0 libtiff6 libtinfo6 libtinyxml2-9 libtirpc-common
  libtirpc3 libtwolame0 libudev1 libudfread0 libunistring2 libusb-1.0-0 libuuid1 libva-drm2 libva-x11-2 libva2
  libvdpau1 libvidstab1.1 libvo-amrwbenc0 libvorbis0a libvorbisenc2 libvorbisfile3 libvpx7 libvulkan1
  libwayland-client0 libwayland-cursor0 libwayland-egl1 libwayland-server0 libwbclient0 libwebp7 libwebpdemux2
  libwebpmux3 libx11-6 libx11-data libx11-xcb1 libx264-164 libx265-199 libxau6 libxcb-dri2-0 libxcb-dri3-0 libxcb-glx0
  libxcb-present0 libxcb-randr0 libxcb-render0 libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb1
  libxcursor1 libxdmcp6 libxext6 libxfixes3 libxi6 libxkbcommon0 libxml2 libxrandr2 libxrender1 libxshmfence1 libxss1
  libxv1 libxvidcore4 libxxf86vm1 libz3-4 libzimg2 libzmq5 libzstd1 libzvbi-common libzvbi0 ocl-icd-libopencl1
  python3-mypy python3-mypy-extensions python3-psutil python3-tomli python3-typing-extensions samba-libs
  shared-mime-info zlib1g libopenblas0-pthread libgpgme11 libassuan0 libdevmapper1.02.1 python3-cli-helpers
  python3-click python3-configobj python3-prompt-toolkit python3-pygments python3-six python3-sqlparse
  python3-tabulate python3-wcwidth python3-pkg-resources python3-importlib-metadata python3-zipp
  python3-more-itertools python3-colorama
)
npm=(npm@10.9.2 @babel/cli@7.26.4 @babel/core@7.26.0 handlebars@4.7.8 pagefind@1.3.0)
go=()

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# These programs look for their data or modules only where they were installed, or have another name.
libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu)
modules=$(echo "$libraries"/ImageMagick-*/modules-Q16)
for name in convert identify; do
  wrapper "$name" "usr/bin/$name-im6.q16" "MAGICK_CODER_MODULE_PATH='$modules/coders'" \
    "MAGICK_FILTER_MODULE_PATH='$modules/filters'" "MAGICK_CONFIGURE_PATH='$folder/root/etc/ImageMagick-6'"
  ln -s "$name-im6.q16.1.gz" "$folder/root/usr/share/man/man1/$name.1.gz"
done
# ffmpeg is linked with libraries in other folders.
for part in pulseaudio blas lapack openblas-pthread; do
  for lib in "$libraries/$part"/*.so*; do
    [[ ! -e $lib ]] || ln -sf "$lib" "$libraries/"
  done
done

fetch_others
finish
