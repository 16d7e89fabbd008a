#!/usr/bin/env bash
# Packs a folder into an archive.
#   -o DIR   where the archive goes
#   -n       only list what would be packed
set -euo pipefail
out=. list=
while getopts o:n option; do
  case $option in
    o) out=$OPTARG ;;
    n) list=yes ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
folder=${1:?which folder?}
if [[ $list ]]; then
  find "$folder" -type f
else
  tar -czf "$out/${folder##*/}.tar.gz" "$folder"
fi
