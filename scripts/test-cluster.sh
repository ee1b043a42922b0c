#!/usr/bin/env bash
# Starts the test cluster, runs the tests that need one, and takes it down again, unless it was there before. Usage:
# test-cluster.sh LOG; what cargo says of the tests is added to LOG. HOPBENCH_BINARY is the binary under test.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$1

was_up=0
tests/cluster/up.sh >"$log.up" 2> >(tee "$log.why" >&2) || {
  echo "no cluster: $(tail -n 1 "$log.why")" >&2
  rm -f "$log.up" "$log.why"
  exit 1
}
grep -q 'already up' "$log.why" && was_up=1
eval "$(tail -n 1 "$log.up")"
rm -f "$log.up" "$log.why"
down() { [ "$was_up" -eq 1 ] || tests/cluster/down.sh; }
trap down EXIT

# The image of the binary under test, on every node.
image=$(mktemp --suffix .tar)
"$HOPBENCH_BINARY" kube image --output "$image" >/dev/null
tests/cluster/load.sh "$image"
rm -f "$image"

status=0
export HOPBENCH_CLUSTER_KUBECONFIG="$KUBECONFIG" HOPBENCH_REQUIRE_CLUSTER=1
cargo test --locked --no-fail-fast -p hopbench-kube -p hopbench --test cluster --test cluster_mesh --test cluster_entrances --test cluster_disturbed -- --ignored >"$log" 2>&1 || status=$?
# Those that stand beside what they test.
cargo test --locked --no-fail-fast -p hopbench-kube --lib -- --ignored >>"$log" 2>&1 || status=$?
grep -Ev '^(running|test .* ok$|$)' "$log" || true
exit "$status"
