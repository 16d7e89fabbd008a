#!/usr/bin/env bash
# Fetches the programs of the third development set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT3_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT3_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development3-programs}

# Each program with its requirements, without Python, Perl, Node, Go, git, and the C and C++ libraries.
debian=(
  restic shfmt shellcheck tree coreutils libacl1 libattr1 libselinux1 libpcre2-8-0 libgmp10 libffi8
  ansible-core python3-jinja2 python3-markupsafe python3-packaging python3-pyparsing python3-resolvelib python3-yaml
  libyaml-0-2 python3-cryptography python3-cffi-backend libssl3
  python3-pip python3-wheel python3-setuptools python3-pkg-resources python3-distutils python3-lib2to3
  iproute2 libbpf1 libcap2 libbsd0 libmd0 libdb5.3 libelf1 libmnl0 libtirpc3 libxtables12 libgssapi-krb5-2 libkrb5-3
  libkrb5support0 libk5crypto3 libcom-err2 libkeyutils1 zlib1g
  bandit python3-bandit python3-git python3-gitdb python3-smmap python3-stevedore python3-pbr python3-six
  sqlfluff python3-appdirs python3-attr python3-chardet python3-click python3-colorama python3-exceptiongroup
  python3-importlib-metadata python3-importlib-resources python3-iniconfig python3-more-itertools python3-pathspec
  python3-pluggy python3-py python3-pytest python3-regex python3-tblib python3-toml python3-tomli python3-tqdm
  python3-typing-extensions python3-zipp
  sd gron pax dos2unix git-lfs
  cloc libalgorithm-diff-perl libparallel-forkmanager-perl libregexp-common-perl libmoo-perl
  libclass-method-modifiers-perl libdevel-callchecker-perl libimport-into-perl libmodule-runtime-perl
  libparams-classify-perl librole-tiny-perl libsub-quote-perl libdynaloader-functions-perl libb-hooks-op-check-perl
  poppler-utils libpoppler126 libcairo2 libpixman-1-0 libnspr4 libnss3 libopenjp2-7 libbrotli1 libdeflate0 libexpat1
  libfontconfig1 fontconfig-config libfreetype6 libjbig0 libjpeg62-turbo liblcms2-2 liblerc4 liblzma5 libpng16-16
  libsqlite3-0 libtiff6 libwebp7 libx11-6 libxau6 libxcb-render0 libxcb-shm0 libxcb1 libxdmcp6 libxext6 libxrender1
  libzstd1
)
npm=(eslint@9.17.0 npm@10.9.2 @json2csv/cli@7.0.6 @commitlint/cli@19.6.1 marked@15.0.4)
go=()

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# This program looks for its modules only where it was installed.
cat >"$folder/bin/cloc" <<END
#!/bin/sh
libraries=\$(echo '$folder'/root/usr/lib/*-linux-gnu/perl5/5.*)
export PERL5LIB='$folder/root/usr/share/perl5':"\$libraries"
exec '$folder/root/usr/bin/cloc' "\$@"
END
chmod +x "$folder/bin/cloc"

fetch_others
finish
