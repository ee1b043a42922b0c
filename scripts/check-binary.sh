#!/usr/bin/env bash
# Usage: check-binary.sh FILE [BYTES]. Fails if the program does not start, is no static file, or
# has more bytes.
set -euo pipefail
binary=$1 most=${2-}
"$binary" --version
kind=$(ldd "$binary" 2>&1 || true)
case "$kind" in
*"statically linked"* | *"not a dynamic executable"*) ;;
*)
  echo "hopbench: $binary is not static: $kind" >&2
  exit 1
  ;;
esac
size=$(stat -c %s "$binary")
[ -z "$most" ] || [ "$size" -le "$most" ] || {
  echo "hopbench: $binary has $size bytes, expected at most $most; see CONTRIBUTING.md, Profiles" >&2
  exit 1
}
echo "$binary: $size bytes, static"
