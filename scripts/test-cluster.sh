#!/usr/bin/env bash
# Starts the test cluster, runs the tests that need one, and takes it down again, unless it was
# there before. Usage: test-cluster.sh LOG; what cargo says of the tests is added to LOG, the tests
# that were tried again to LOG.retried, and why there is no cluster to LOG.why. HOPBENCH_BINARY is
# the binary under test.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
# shellcheck source=scripts/second-try.sh
source scripts/second-try.sh
log=$1

was_up=0
# Through a pipe, whose end is waited for: all that was said is in the file then.
if ! tests/cluster/up.sh 2>&1 >"$log.up" | tee "$log.said" >&2; then
  tail -n 1 "$log.said" >"$log.why"
  rm -f "$log.up" "$log.said"
  # Half a cluster is in nobody's way; its logs have been told.
  tests/cluster/down.sh || true
  exit 1
fi
grep -q 'already up' "$log.said" && was_up=1
eval "$(tail -n 1 "$log.up")"
rm -f "$log.up" "$log.said"
# shellcheck disable=SC2317
down() { [ "$was_up" -eq 1 ] || tests/cluster/down.sh; }
trap down EXIT

# The image of the binary under test, on every node.
image=$(mktemp --suffix .tar)
"$HOPBENCH_BINARY" kube image --output "$image" >/dev/null
tests/cluster/load.sh "$image"
rm -f "$image"
# The same program in another image.
tests/cluster/agent.sh "$HOPBENCH_BINARY"

# Some of them: what is said goes to the file that is named first. All of the workspace is named, so
# that what was built for the other tests is not built again with fewer features.
run() {
  local said=$1
  shift
  cargo test --workspace --locked --no-fail-fast "$@" >"$said" 2>&1
}
status=0
export HOPBENCH_CLUSTER_KUBECONFIG="$KUBECONFIG" HOPBENCH_REQUIRE_CLUSTER=1
export HOPBENCH_CLUSTER_AGENT=hopbench.test/agent:1
# Takes nodes and the API server away: nothing else goes on meanwhile.
run "$log" --test on_cluster -- --ignored disturbed:: || status=$?
# Mostly waits for pods, as the others do: they go on side by side.
run "$log.core" --test cluster -- --ignored &
core=$!
run "$log.binary" --test on_cluster -- --ignored --skip disturbed:: || status=$?
wait "$core" || status=$?
# Those that stand beside what they test.
run "$log.lib" --lib -- --ignored objects::patch || status=$?
cat "$log.core" "$log.binary" "$log.lib" >>"$log"
rm -f "$log.core" "$log.binary" "$log.lib"
grep -Ev '^(running|test .* ok$|$)' "$log" || true
[ "$status" -eq 0 ] || ! second_try "$log" --ignored || status=0
exit "$status"
