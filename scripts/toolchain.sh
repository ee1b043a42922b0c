#!/usr/bin/env bash
# Says what is missing when there is no Rust to build with.
set -euo pipefail
if ! command -v cargo >/dev/null; then
  echo "hopbench: cargo is not installed; install Rust (rustup) and try again" >&2
  exit 3
fi
