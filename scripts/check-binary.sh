#!/usr/bin/env bash
# Checks that the binary is one static file, and how large it is; prints its path.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

fail() {
  echo "hopbench: $*" >&2
  exit 1
}

host=$(rustc -vV | sed -n 's/^host: //p')
binary=$PWD/target/$host/$PROFILE/hopbench
[ -z "${CARGO_TARGET_DIR-}" ] || binary=$(realpath "$CARGO_TARGET_DIR")/$host/$PROFILE/hopbench
size=$(stat -c %s "$binary")
kind=$(ldd "$binary" 2>&1 || true)
case "$kind" in
*"statically linked"* | *"not a dynamic executable"*) ;;
*) fail "$binary is not static: $kind" ;;
esac
# The other profiles trade size for the time of a build.
[ "$PROFILE" != release ] || [ "$size" -le 24000000 ] || fail "$binary has $size bytes, expected at most 24 MB"
echo "$size bytes, static" >&2
echo "$binary"
