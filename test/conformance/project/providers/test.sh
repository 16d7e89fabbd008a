#!/usr/bin/env bash
# test:// URIs: the files of resources/, and data made for an id.
set -euo pipefail

case ${1-} in
  test://static-text) exec cat "${MCPBASH_PROJECT_ROOT:?}/resources/static-text.txt" ;;
  test://static-binary) exec cat "${MCPBASH_PROJECT_ROOT:?}/resources/static-binary.png" ;;
  test://watched-resource) exec cat "${MCPBASH_PROJECT_ROOT:?}/resources/watched-resource.txt" ;;
  test://template/*/data)
    id=${1#test://template/}
    id=${id%/data}
    if [[ $id =~ ^[A-Za-z0-9._-]+$ ]]; then
      printf '{"id":"%s","templateTest":true,"data":"Data for ID: %s"}' "$id" "$id"
      exit
    fi
    ;;
esac
echo "there is no ${1-}" >&2
exit 3 # not found (RES-60)
