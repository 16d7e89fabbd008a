#!/usr/bin/env bash
# Does not heed TERM, and would go on for ever.
trap '' TERM
echo 'still at it' >&2
while :; do sleep 60; done
