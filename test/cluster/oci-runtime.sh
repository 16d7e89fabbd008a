#!/usr/bin/env bash
# runc, on machines that may neither raise limits of processes nor lower oom_score_adj. Engines ask for both in
# the configuration of a container, and in that of a process for exec. So this program removes them first. It needs
# jq and runc.
strip() {
  jq "del($2.rlimits, $2.oomScoreAdj)" "$1" >"$1.new" && mv "$1.new" "$1"
}
for ((i = 1; i <= $#; i++)); do
  next=$((i + 1))
  case ${!i} in
    --bundle | -b) bundle=${!next} ;;
    --bundle=*) bundle=${!i#*=} ;;
    --process | -p) strip "${!next}" '' ;;
    --process=*) file=${!i#*=} && strip "$file" '' ;;
  esac
done
if [ -n "${bundle-}" ] && [ -f "$bundle/config.json" ]; then strip "$bundle/config.json" .process; fi
exec runc "$@"
