#!/usr/bin/env bash
# Runs the tests of `sys`, which has all of the unsafe code, under AddressSanitizer.
# The toolchain is the stable one: RUSTC_BOOTSTRAP lets it use the sanitizer that it ships.
set -euo pipefail
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
# The sanitizer needs a dynamic C library, so the flags of .cargo/config.toml are replaced.
RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" ASAN_OPTIONS="detect_leaks=1" \
  cargo test --locked -p hopbench-sys --lib --target "$host" --target-dir "${CARGO_TARGET_DIR:-target}/asan"
