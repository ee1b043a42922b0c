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

# Some of them: what is said goes to the file that is named first. All of the workspace is named, so that what was built for
# the other tests is not built again with fewer features.
run() {
  local said=$1
  shift
  cargo test --workspace --locked --no-fail-fast "$@" >"$said" 2>&1
}
status=0
export HOPBENCH_CLUSTER_KUBECONFIG="$KUBECONFIG" HOPBENCH_REQUIRE_CLUSTER=1
whole=(--test cluster --test cluster_mesh --test cluster_entrances --test cluster_searches --test cluster_disturbed)
# Takes nodes and the API server away: nothing else goes on meanwhile.
run "$log" --test cluster_disturbed -- --ignored || status=$?
# Mostly waits for pods, as the others do: they go on side by side.
run "$log.core" --test cluster -- --ignored &
core=$!
run "$log.binary" --test cluster_entrances --test cluster_searches --test cluster_mesh -- --ignored || status=$?
wait "$core" || status=$?
# Those that stand beside what they test.
run "$log.lib" --lib -- --ignored objects::patch || status=$?
cat "$log.core" "$log.binary" "$log.lib" >>"$log"
rm -f "$log.core" "$log.binary" "$log.lib"
grep -Ev '^(running|test .* ok$|$)' "$log" || true
# A cluster on a busy machine can be late. What failed is tried once more, and that is said.
mapfile -t again < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log")
if [ "$status" -ne 0 ] && [ ${#again[@]} -gt 0 ] && [ ${#again[@]} -le 3 ]; then
  printf '\n== second try of %s\n' "${again[*]}"
  status=0
  run "$log.again" "${whole[@]}" -- --ignored --exact "${again[@]}" || status=$?
  grep -Ev '^(running|$)' "$log.again" || true
  if [ "$status" -eq 0 ]; then
    # They count as what they were at their last try.
    awk '/^test result:/ { $4 += $6; $6 = 0 } { print }' "$log" >"$log.said" && mv "$log.said" "$log"
  fi
  rm -f "$log.again"
fi
exit "$status"
