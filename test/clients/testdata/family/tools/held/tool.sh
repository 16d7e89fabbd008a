#!/usr/bin/env bash
# Starts processes at once, and ends before them.
sleep 600 &
(sleep 600; :) &
