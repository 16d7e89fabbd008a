#!/usr/bin/env bash
# Serves stock://ARTICLE, one row of a table, and stock://all, the whole table.
# The URI is the only argument, the project is the working directory, the
# content goes to standard output and the outcome is the exit status.
set -euo pipefail
article="${1#stock://}"
case "$article" in
all) exec cat data/stock.csv ;;
'' | *[!a-z-]*)
	echo "An article is written in small letters, as in stock://nails." >&2
	exit 4 # wrong: the client is told what standard error says
	;;
esac
awk -F, -v article="$article" '
	NR > 1 && $1 == article {
		printf "{\"article\":\"%s\",\"pieces\":%d,\"shelf\":\"%s\"}\n", $1, $2, $3
		found = 1
	}
	END { exit found ? 0 : 3 } # 3: there is no such resource
' data/stock.csv
