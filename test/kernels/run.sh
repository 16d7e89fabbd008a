#!/usr/bin/env bash
# Tests confinement and observation of scripts under kernels of Debian, on an emulated ARM64 machine. Kernel
# 5.10 has no Landlock, 6.1 cannot confine truncating and signals, and 6.12 is newer. It downloads
# the kernels into a cache folder and installs nothing. It needs Go and the programs that are
# listed below.
#
#   test/kernels/run.sh [release...]     releases of Debian, by name
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-test-kernels
mirrors=(https://deb.debian.org/debian https://archive.debian.org/debian)
packages=(run/confine run/script run/observe sandbox)
[ $# -gt 0 ] || set -- bullseye bookworm trixie

for program in qemu-system-aarch64 debootstrap fakeroot cpio curl dpkg-deb xz; do
  command -v "$program" >/dev/null || {
    echo "test/kernels: $program is needed; on Debian:" >&2
    echo "  apt-get install qemu-system-arm debootstrap fakeroot cpio curl xz-utils" >&2
    exit 1
  }
done

# fetch_kernel downloads the newest kernel of a release, and prints its path.
fetch_kernel() {
  local dir=$cache/$1 mirror file
  if ! [ -e "$dir/vmlinuz" ]; then
    mkdir -p "$dir"
    for mirror in "${mirrors[@]}"; do
      file=$(curl -fsSL "$mirror/dists/$1/main/binary-arm64/Packages.xz" | xz -dc |
        sed -n 's/^Filename: \(.*\/linux-image-[0-9][^/]*[0-9a-z]-arm64-unsigned_[^/]*\)$/\1/p' |
        grep -vE -- '-(rt|cloud|16k)-' | sort -V | tail -n 1) && [ -n "$file" ] && break
    done
    [ -n "$file" ] || { echo "test/kernels: there is no kernel of $1 at ${mirrors[*]}" >&2 && return 1; }
    curl -fsSL -o "$dir/kernel.deb" "$mirror/$file"
    dpkg-deb --fsys-tarfile "$dir/kernel.deb" | tar -x -C "$dir" --wildcards './boot/vmlinuz-*'
    mv "$dir"/boot/vmlinuz-* "$dir/vmlinuz"
    rm -r "${dir:?}/boot" "$dir/kernel.deb"
  fi
  printf '%s\n' "$dir/vmlinuz"
}

# The kernels boot into a small Debian, which is unpacked but not set up, with our tests and init.
root=$cache/root
if ! [ -e "$cache/root.complete" ]; then
  mkdir -p "$cache"
  rm -rf "$root"
  fakeroot debootstrap --arch=arm64 --foreign --variant=minbase bookworm "$root" "${mirrors[0]}" \
    >"$cache/debootstrap.log" || { tail -n 5 "$cache/debootstrap.log" >&2 && exit 1; }
  rm -rf "$root"/var/cache/apt "$root"/usr/share/{doc,man,locale,i18n,zoneinfo,perl*} \
    "$root"/usr/lib/aarch64-linux-gnu/{gconv,perl*} "${root:?}"/{proc,sys,dev}
  mkdir "$root"/{proc,sys,dev}
  : >"$root/etc/shadow"
  touch "$cache/root.complete"
fi
chmod 640 "$root/etc/shadow" # as on a real system: TestAsOrdinaryUser reads it
tests=$root/tests
rm -rf "$tests"
mkdir "$tests"
export GOOS=linux GOARCH=arm64 CGO_ENABLED=0
cd "$here/../.."
for package in "${packages[@]}"; do
  to=$tests/${package##*/}
  mkdir "$to"
  go test -c -trimpath -o "$to/" "./pkg/$package"
  [ ! -d "pkg/$package/testdata" ] || cp -r "pkg/$package/testdata" "$to/"
done
go build -trimpath -o "$tests/try" ./pkg/sandbox/testdata/try
go build -trimpath -o "$tests/loopback" "$here/loopback.go"
cp "$here/init.sh" "$root/init"
(cd "$root" && find . | fakeroot cpio -o -H newc --quiet | gzip -1 >"$cache/root.cpio.gz")

failed=()
for release in "$@"; do
  kernel=$(fetch_kernel "$release")
  echo "== $release"
  timeout 3600 qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -smp 2 -m 2500 -nic none -nographic -no-reboot \
    -kernel "$kernel" -initrd "$cache/root.cpio.gz" -append "console=ttyAMA0 quiet rdinit=/init panic=1" \
    </dev/null 2>&1 | sed -u 's/\r$//' | tee "$cache/$release.log" || true
  grep -qx 'all tests passed' "$cache/$release.log" || failed+=("$release")
done
[ "${#failed[@]}" -eq 0 ] || { echo "test/kernels: failed under the kernel of ${failed[*]}; see $cache" >&2 && exit 1; }
