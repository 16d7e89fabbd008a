#!/bin/sh
# Lays out the tree of an installation in a new directory (CLI-1702): what is in a
# release archive, and what install.sh installs from a checkout.
#
#   release/tree.sh PROGRAMS DIRECTORY [MANUALS]
#
# PROGRAMS is a directory with the commands, built for any system. MANUALS is a directory with the
# commands for this system, which print the manual pages (default: PROGRAMS).
set -eu
umask 022
[ $# -ge 2 ] || { echo 'usage: release/tree.sh PROGRAMS DIRECTORY [MANUALS]' >&2; exit 2; }
programs=$(CDPATH='' cd -- "$1" && pwd)
manuals=$(CDPATH='' cd -- "${3:-$1}" && pwd)
mkdir -- "$2"
tree=$(CDPATH='' cd -- "$2" && pwd)
cd -- "$(dirname -- "$0")/.."

mkdir "$tree/bin" "$tree/sdk" "$tree/lib" "$tree/providers" "$tree/schemas" "$tree/share"
cp sdk/*.sh "$tree/sdk"
cp lib/*.sh "$tree/lib"
cp providers/*.sh "$tree/providers"
cp schemas/*.json "$tree/schemas"
cp pkg/bundle/runtimes/launch/mcp-jq.sh "$tree/bin/mcp-jq"
cp -R docs "$tree/docs"
cp LICENSE README.md CHANGELOG.md install.sh "$tree"
sed -n 's/^const Version = "\(.*\)"$/\1/p' pkg/cli/version.go >"$tree/VERSION"
[ -s "$tree/VERSION" ] || { echo 'release/tree.sh: no version in pkg/cli/version.go' >&2; exit 1; }

bash=share/bash-completion/completions zsh=share/zsh/site-functions fish=share/fish/vendor_completions.d
mkdir -p "$tree/$bash" "$tree/$zsh" "$tree/$fish" "$tree/share/man/man1"
cp share/completions/_mcp-bash "$tree/$zsh/_mcp-bash"
mkdir -p "$tree/share/skills/mcp-bash" "$tree/share/monitoring" # as in the sources, because pages link to them
cp share/llms.txt "$tree/share"
cp share/monitoring/* "$tree/share/monitoring"
cp share/skills/mcp-bash/SKILL.md "$tree/share/skills/mcp-bash"
for name in cmd/*/; do
  name=$(basename -- "$name")
  if [ -f "$programs/$name.exe" ]; then
    cp "$programs/$name.exe" "$tree/bin"
  else
    cp "$programs/$name" "$tree/bin"
  fi
  cp share/completions/mcp-bash.bash "$tree/$bash/$name"
  cp share/completions/mcp-bash.fish "$tree/$fish/$name.fish"
  "$manuals/$name" __manual >"$tree/share/man/man1/$name.1"
done

# The modes do not depend on those of the checkout.
find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -exec chmod 644 {} +
chmod 755 "$tree"/bin/* "$tree"/providers/*.sh "$tree/install.sh"
