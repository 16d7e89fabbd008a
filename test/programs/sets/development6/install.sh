#!/usr/bin/env bash
# Fetches the programs of the sixth development set: packages of Debian, unpacked and not installed, of npm and of Go.
# Prints their folder. MCPBASH_DEVELOPMENT6_PROGRAMS replaces the folder in the cache.
# shellcheck disable=SC2034 # fetch.sh uses the arrays
set -euo pipefail
folder=${MCPBASH_DEVELOPMENT6_PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-development6-programs}

# Each program with its requirements, without Python, Perl, Node, Go, git, and the C and C++ libraries.
debian=(
  coreutils libacl1 libattr1 libselinux1 libpcre2-8-0 libgmp10 zip fd-find libbz2-1.0 libgcc-s1 git-man
  iproute2 libbpf1 libcap2 libbsd0 libmd0 libdb5.3 libelf1 libmnl0 libtirpc3 libxtables12 libgssapi-krb5-2 libkrb5-3
  libkrb5support0 libk5crypto3 libcom-err2 libkeyutils1 zlib1g
  nmap nmap-common lua-lpeg libblas3 liblinear4 liblua5.3-0 libpcap0.8 libpcre3 libdbus-1-3 libsystemd0 libgfortran5
  libgomp1 liblz4-1 libgcrypt20 libgpg-error0
  cargo rustc libstd-rust-1.63 libllvm14 libcurl3-gnutls libgit2-1.5 libhttp-parser2.9 libssh2-1
  libssl3 libmbedcrypto7 libmbedtls14 libmbedx509-1 libedit2 libxml2 libicu72 libz3-4 libffi8
  libbrotli1 libgnutls30 libnettle8 libhogweed6 libp11-kit0 libtasn1-6 libidn2-0 libunistring2 libnghttp2-14 libpsl5
  librtmp1 libldap-2.5-0 libsasl2-2 libzstd1 liblzma5 libtinfo6
  openssl
  vulture python3-toml python3-pkg-resources
  python3-httpx python3-httpcore python3-h11 python3-h2 python3-hpack python3-hyperframe python3-anyio python3-sniffio
  python3-certifi python3-idna python3-rfc3986 python3-click python3-colorama python3-rich python3-pygments
  python3-markdown-it python3-mdurl python3-typing-extensions
  b3sum wdiff unifdef xsltproc libxslt1.1 pngquant libimagequant0 liblcms2-2 libpng16-16 rename
)
npm=(npm@10.9.2 purgecss@6.0.0 @apidevtools/swagger-cli@4.0.4 @bufbuild/buf@1.47.2)
go=(github.com/fzipp/gocyclo/cmd/gocyclo@v0.6.0)

# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../fetch.sh"
fetch_debian

# Some programs have another name, a folder that is not in PATH, or look for their data only where they were installed.
libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu)
ln -s ../root/usr/bin/fdfind "$folder/bin/fd"
ln -s fdfind.1.gz "$folder/root/usr/share/man/man1/fd.1.gz"
ln -s file-rename.1p.gz "$folder/root/usr/share/man/man1/rename.1.gz"
cat >"$folder/bin/rename" <<END
#!/bin/sh
export PERL5LIB='$folder/root/usr/share/perl5'
exec '$folder/root/usr/bin/file-rename' "\$@"
END
cat >"$folder/bin/nmap" <<END
#!/bin/sh
export NMAPDIR='$folder/root/usr/share/nmap'
exec '$folder/root/usr/bin/nmap' "\$@"
END
chmod +x "$folder/bin/nmap" "$folder/bin/rename"
for blas in "$libraries"/blas/*.so.*; do
  [[ ! -e $blas ]] || ln -sf "blas/${blas##*/}" "$libraries/"
done

fetch_others
finish
