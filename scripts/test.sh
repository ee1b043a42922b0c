#!/usr/bin/env bash
# Runs every check from the cheapest to the dearest, and sums up. `test.sh quick` leaves out what needs a cluster.
set -euo pipefail
cd "$(dirname "$0")/.."
# A test that needs namespaces or an Envoy and cannot have them has failed, here.
export HOPBENCH_REQUIRE_NETNS="${HOPBENCH_REQUIRE_NETNS-1}"
export HOPBENCH_REQUIRE_ENVOY="${HOPBENCH_REQUIRE_ENVOY-1}"

step() { printf '\n== %s\n' "$*"; }

# The last part of a release build keeps one CPU busy: it is made beside what does not measure.
log=$(mktemp)
cargo build --release --locked --quiet -p hopbench >"$log.build" 2>&1 &
build=$!
trap '[ -z "$build" ] || kill "$build" || true; rm -f "$log" "$log.again" "$log.cluster" "$log.build"' EXIT

step "format"
cargo fmt --all --check
step "lints"
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
step "the tests are built"
cargo test --workspace --locked --quiet --no-run
step "the binary is one static file"
built=0
wait "$build" || built=$?
build=
[ "$built" -eq 0 ] || {
  cat "$log.build" >&2
  exit 1
}
host=$(rustc -vV | sed -n 's/^host: //p')
binary="target/$host/release/hopbench"
# What `make dist` makes is smaller, and has a limit of its own.
scripts/check-binary.sh "$binary" 40000000
step "tests"
# Measurements of one machine disturb each other: one test binary's measurements run one after the other.
status=0
HOPBENCH_BINARY="$PWD/$binary" cargo test --workspace --locked --no-fail-fast >"$log" 2>&1 || status=$?
grep -Ev '^(running|test .* ok$|$)' "$log" || true
sum() { awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 } END { print passed + 0, failed + 0, ignored + 0 }' "$1"; }
read -r passed failed ignored < <(sum "$log")
# Tests that measure can meet a stall of a busy machine. What failed is tried once more, and that is said.
mapfile -t again < <(sed -n 's/^ *`\(-p [^`]*\)`$/\1/p' "$log")
if [ "$status" -ne 0 ] && [ ${#again[@]} -gt 0 ] && [ ${#again[@]} -le 3 ]; then
  step "second try of ${again[*]}"
  status=0
  for target in "${again[@]}"; do
    # shellcheck disable=SC2086
    HOPBENCH_BINARY="$PWD/$binary" cargo test $target --locked >"$log.again" 2>&1 || status=$?
    grep -Ev '^(running|$)' "$log.again" || true
    read -r _ still _ < <(sum "$log.again")
    [ "$still" -eq 0 ] || status=1
  done
  [ "$status" -ne 0 ] || {
    echo "failed at first, passed at the second try: $failed"
    passed=$((passed + failed))
    failed=0
  }
fi
# A cluster that only stands there takes CPU: it comes after everything that measures.
if [ "${1-}" != quick ]; then
  step "tests on a cluster"
  if [ "$(id -u)" -eq 0 ]; then
    : >"$log.cluster"
    HOPBENCH_BINARY="$PWD/$binary" scripts/test-cluster.sh "$log.cluster" || status=$?
    read -r more broken _ < <(sum "$log.cluster")
    passed=$((passed + more)) failed=$((failed + broken)) ignored=$((ignored - more - broken))
  else
    echo "SKIP tests on a cluster: only root can start one" | tee -a "$log"
  fi
fi
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$ignored"
grep -h '^SKIP ' "$log" || true
exit "$status"
