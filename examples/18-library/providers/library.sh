#!/usr/bin/env bash
# Serves library://SUBJECT/TITLE, one book, and library://books, the list of all.
set -euo pipefail

# The server sets the name of the template that the URI matches, and the values of its variables.
case "${MCP_RESOURCE_TEMPLATE_NAME-}" in
book)
  book=$("$MCPBASH_JSON_TOOL_BIN" -r '"\(.subject)/\(.title)"' <<<"$MCP_RESOURCE_TEMPLATE_VARS")
  if [[ $book == *[!a-z/-]* ]]; then
    echo "Subjects and titles are written in small letters, as in library://gardening/compost." >&2
    exit 4 # wrong: the client receives what standard error contains
  fi
  [[ -f books/$book.md ]] || exit 3 # there is no such resource
  exec cat "books/$book.md"
  ;;
*)
  [[ $1 == library://books ]] || exit 3
  cd books
  for book in */*.md; do
    printf 'library://%s\n' "${book%.md}"
  done
  ;;
esac
