#!/usr/bin/env bash
# Takes the test cluster down; nothing of it is left but the cache.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

need_root
lock
"$cluster/clean.sh"
say "down"
