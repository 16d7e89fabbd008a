#!/usr/bin/env bash
printf 'done'
