#!/usr/bin/env bash
# Fails without a word about it to the server.
echo 'half an answer'
echo 'oh dear' >&2
exit 3
