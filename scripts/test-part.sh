#!/usr/bin/env bash
# Runs a program of tests, or some of its tests, and says what `cargo test` would say. Usage:
# test-part.sh FOLDER PART. A part is a line of `waiting_parts` or `measuring_parts`
# (test-groups.sh). The output goes to a file of its own in FOLDER. With APART=1 the program has a
# network of its own, where that is allowed: nobody else takes a port that was free a moment ago.
set -euo pipefail
IFS=$'\t' read -r package target folder program arguments <<<"$2"
read -ra arguments <<<"$arguments"
apart=()
if [ "${APART-}" = 1 ] && unshare --net ip link set lo up 2>/dev/null; then
  apart=(unshare --net sh -c 'ip link set lo up && exec "$@"' -)
fi
log=$(mktemp "$1/$package.$target.XXXXXX")
status=0
{
  echo "     Running $package $target ($program)"
  (cd "$folder" && exec "${apart[@]}" "$program" "${arguments[@]}") || status=$?
  if [ "$status" -ne 0 ]; then
    [ "$target" = - ] && target=--lib || target="--test $target"
    # What a program that crashed wrote last may be no whole line.
    printf '\nerror: test failed, to rerun pass `-p %s %s`\n' "$package" "$target"
  fi
} >"$log" 2>&1
# xargs gives up at 255.
[ "$status" -eq 0 ]
