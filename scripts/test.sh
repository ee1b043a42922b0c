#!/usr/bin/env bash
# Runs every check, and sums up: what is built first, and the lints beside tests that mostly wait.
# `test.sh quick` leaves out what needs a cluster.
#
# What cannot be installed or built here takes with it the tests that need it, one line each at the
# end. These turn such a skip into a failure (`.ci/run` sets all of them): HOPBENCH_REQUIRE_NETNS
# (namespaces), HOPBENCH_REQUIRE_TOOLS (nginx, a browser), HOPBENCH_REQUIRE_ENVOY,
# HOPBENCH_REQUIRE_GVISOR, HOPBENCH_REQUIRE_H2SPEC, HOPBENCH_REQUIRE_CLUSTER, each =1.
# HOPBENCH_FUZZ_SECONDS=N also fuzzes every target for N seconds. HOPBENCH_DIST=1 tests the binary
# of `make dist`, which has a limit of size, in place of the one of `make build`.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
# shellcheck source=scripts/test-groups.sh
source scripts/test-groups.sh
# shellcheck source=scripts/second-try.sh
source scripts/second-try.sh
# shellcheck source=scripts/untested.sh
source scripts/untested.sh

quick=""
[ "${1-}" != quick ] || quick=1
why_no_cluster=""
[ "$(id -u)" -eq 0 ] || why_no_cluster="only root can start one"

work=$(mktemp -d)
log=$work/tests
: >"$work/untested"
jobs=()
# shellcheck disable=SC2154
trap 'for job in "${jobs[@]}"; do kill -- "-$job" 2>/dev/null || true; done; rm -rf "$work"' EXIT

step "what the tests need"
# Through a pipe, whose end is waited for: all that was said is in the file then.
scripts/install-test-tools.sh 2>&1 | tee "$work/tools" || true
without_tools "$work/tools"

# What takes one CPU for minutes, or waits for a registry, goes on beside what does not measure.
# Each in a group of its own, which can be ended as a whole.
command=(cargo build --profile "$PROFILE" --locked --quiet -p hopbench)
folder=$PROFILE
if [ "${HOPBENCH_DIST-}" = 1 ]; then
  # It checks the size, too.
  command=("${MAKE:-make}" --no-print-directory dist)
  folder=release
fi
set -m
"${command[@]}" >"$work/build" 2>&1 &
build=$!
scripts/build-go-parts.sh "$work/go" ${quick:+quick} &
go=$!
set +m
jobs=("$build" "$go")

step "scripts"
scripts/test-scripts.sh | tee "$work/scripts"
step "format"
cargo fmt --all --check
step "the tests are built"
test_programs >"$work/programs"
stale_lines "$work/programs"
waiting_parts "$work/programs" >"$work/waiting"
waiting_parts "$work/programs" go >"$work/waiting-for-go"
measuring_parts "$work/programs" >"$work/measuring"
# The lints get the CPU time that is left: the last part of the build is one thread.
set -m
nice -n 15 "${MAKE:-make}" --no-print-directory check >"$work/check" 2>&1 &
check=$!
set +m
jobs+=("$check")
step "the binary is one static file"
wait "$build" || {
  cat "$work/build" >&2
  exit 1
}
host=$(rustc -vV | sed -n 's/^host: //p')
binary=$(realpath "${CARGO_TARGET_DIR:-target}")/$host/$folder/hopbench
scripts/check-binary.sh "$binary"
export HOPBENCH_BINARY=$binary
status=0
broken=""
# Keeps how a group of tests ended. 123 is what xargs says of tests that failed, and they may get a
# second try; anything else may not.
ended() {
  status=$1
  [ "$1" -eq 123 ] || broken=1
}

step "tests that wait"
# The parts in Go are built meanwhile, and the lints go on. One program more at once than there are
# CPUs, each with as many tests as CPUs: most of them wait for a window.
at_once=$(($(nproc) + 1))
set -m
cargo test --workspace --locked --no-fail-fast --doc >"$log.doc" 2>&1 &
doc=$!
set +m
jobs+=("$doc")
run_parts "$at_once" "$log.waiting" <"$work/waiting" || ended $?
wait "$doc" || ended 1

step "lints, dependencies, documentation"
# What the tests say is worth knowing then, too.
checked=0
wait "$check" || checked=1 broken=1
cat "$work/check"

step "parts in Go"
wait "$go" || true
cat "$work"/go.*.log
without_go_parts "$work/go"
for part in packages kubernetes contour; do
  [ "$(cat "$work/go.$part.status" 2>/dev/null || echo 0)" -eq 0 ] || why_no_cluster=$(tail -n 1 "$work/go.$part.log")
done
run_parts "$at_once" "$log.go" <"$work/waiting-for-go" || ended $?
jobs=()

step "tests that measure"
# Measurements of one machine disturb each other: one test binary's measurements run one after the
# other, and nothing else runs.
run_parts 1 "$log.measuring" <"$work/measuring" || ended $?
cat "$log".{waiting,doc,go,measuring} >"$log"
grep -Ev '^(running|test .* ok$|$)' "$log" || true
[ "$status" -eq 0 ] || ! second_try "$log" || status=0
[ -z "$broken" ] || status=1
read -r passed failed ignored < <(sum "$log")

# Fuzzers would disturb whatever measures. A cluster mostly waits, and they get what it leaves.
fuzz=""
if [ -n "${HOPBENCH_FUZZ_SECONDS-}" ]; then
  set -m
  nice -n 15 scripts/fuzz.sh "$HOPBENCH_FUZZ_SECONDS" >"$work/fuzz" 2>&1 &
  fuzz=$!
  set +m
  jobs=("$fuzz")
fi
# A cluster that only stands there takes CPU: it comes after everything that measures.
if [ -n "$quick" ]; then
  without_cluster "\`quick\` leaves it out"
else
  step "tests on a cluster"
  : >"$work/cluster"
  if [ -z "$why_no_cluster" ]; then
    scripts/test-cluster.sh "$work/cluster" || {
      [ -e "$work/cluster.why" ] || status=1
      why_no_cluster=$(cat "$work/cluster.why" 2>/dev/null || true)
    }
    read -r more broken _ < <(sum "$work/cluster")
    passed=$((passed + more)) failed=$((failed + broken)) ignored=$((ignored - more - broken))
  fi
  if [ -n "$why_no_cluster" ]; then
    without_cluster "$why_no_cluster"
    [ "${HOPBENCH_REQUIRE_CLUSTER-}" != 1 ] || status=1 failed=$((failed + 1))
  fi
fi

found=0
if [ -n "$fuzz" ]; then
  step "fuzzing, $HOPBENCH_FUZZ_SECONDS s a target"
  wait "$fuzz" || found=1 status=1
  jobs=()
  cat "$work/fuzz"
fi

# A target that ends without a result counts as one failure.
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
printf '\n'
[ "$checked" -eq 0 ] || echo "FAILED lints, dependencies, documentation: see above"
[ "$found" -eq 0 ] || echo "FAILED fuzzing, $HOPBENCH_FUZZ_SECONDS s a target: see above"
[ "$status" -eq 0 ] ||
  { cat "$log" "$work/cluster" 2>/dev/null || true; } | failed_tests - | sed 's/^/FAILED /; s/ -$//; s/ -$//'
cat "$work"/*.retried 2>/dev/null || true
tell_untested "$work/scripts" "$work/check" "$log" "$work/cluster"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$ignored"
exit "$status"
