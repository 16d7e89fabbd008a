#!/bin/sh
# Lists the largest files of a folder.
# Usage: largest.sh [FOLDER] [COUNT]
folder=${1:-.}
count=${2:-10}
find "$folder" -type f -exec wc -c {} \; | sort -rn | head -n "$count"
