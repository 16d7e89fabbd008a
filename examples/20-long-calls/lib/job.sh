#!/usr/bin/env bash
# job.sh DIR FOLDER PAUSE: the work of a job. It knows nothing of MCP.
# The result appears under its name when it is complete, so nobody reads half of it.
set -euo pipefail
dir=$1 folder=$2 pause=$3

for file in "$folder"/*; do
  printf '%s\n' "${file##*/}" >>"${dir}/log"
  (cd "$folder" && cksum "${file##*/}") >>"${dir}/result.part"
  sleep "$pause"
done
mv "${dir}/result.part" "${dir}/result"
