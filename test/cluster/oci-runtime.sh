#!/usr/bin/env bash
# runc, on machines that may neither raise limits of processes nor lower oom_score_adj. Engines ask for both in
# the configuration of a container, so this program removes them first. It needs jq and runc.
bundle=
for ((i = 1; i <= $#; i++)); do
  case ${!i} in
    --bundle | -b) next=$((i + 1)) bundle=${!next} ;;
    --bundle=*) bundle=${!i#*=} ;;
  esac
done
if [ -n "$bundle" ] && [ -f "$bundle/config.json" ]; then
  jq 'del(.process.rlimits, .process.oomScoreAdj)' "$bundle/config.json" >"$bundle/config.new" &&
    mv "$bundle/config.new" "$bundle/config.json"
fi
exec runc "$@"
