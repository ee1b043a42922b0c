#!/usr/bin/env bash
# Builds gVisor's `runsc`, which the lab puts around pods of places like `bridge+runsc@a`, into the
# user's cache, where hopbench finds it. Optional: without it those paths are left out, and say so.
# Two minutes or three, once. `install-runsc.sh shim` builds what containerd starts it with, too.
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
bin=${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/bin
mkdir -p "$bin"

# A program in PATH wins over ours.
there() { PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" type -aP "$1" | grep -qvF "$bin/"; }
# Whoever starts it meanwhile has the old one or the new one: put FILE NAME
put() {
  ! cmp -s "$1" "$bin/$2" || return 0
  cp "$1" "$bin/$2.$$"
  mv -f "$bin/$2.$$" "$bin/$2"
}

if ! there runsc; then
  built=$("$scripts/go-part.sh" gvisor runsc)
  put "$built/runsc" runsc
fi
if [ "${1-}" = shim ] && ! there containerd-shim-runsc-v1; then
  built=$("$scripts/go-part.sh" gvisor shim)
  put "$built/shim" gvisor-shim
  put "$scripts/go/gvisor/containerd-shim-runsc-v1" containerd-shim-runsc-v1
fi
