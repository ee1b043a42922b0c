#!/usr/bin/env bash
# Ends and removes everything of the test cluster, whatever state it is in; fails where something is left.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

if [ -e "$STATE" ] && [ ! -e "$STATE/.hopbench-cluster" ]; then
  # Somebody's own folder, unless it is empty.
  rmdir "$STATE" 2>/dev/null || fail "$STATE is not the folder of a cluster: HOPBENCH_CLUSTER has to name another"
fi

# Every process of the cluster is in its cgroups, pods and shims too, and nothing else is. Runtimes make some in the
# hierarchy `unified` beside those of version 1.
shopt -s nullglob
cgroups=(/sys/fs/cgroup/hbc /sys/fs/cgroup/*/hbc)
processes() { find "${cgroups[@]}" -name cgroup.procs -exec cat {} + 2>/dev/null || true; }

for ((round = 0; round < 100; round++)); do
  mapfile -t left < <(processes | sort -un)
  [ "${#left[@]}" -gt 0 ] || break
  # 0 is one that this namespace cannot see, which goes with its host.
  for pid in "${left[@]}"; do [ "$pid" -eq 0 ] || kill -KILL "$pid" 2>/dev/null || true; done
  sleep 0.1
done
[ "${#left[@]}" -eq 0 ] || fail "processes do not end: ${left[*]}"

for top in "${cgroups[@]}"; do
  [ ! -d "$top" ] || find "$top" -depth -type d -exec rmdir {} +
done
# Those of a cluster with more nodes than this one, too.
for space in /run/netns/hbc-*; do ip netns delete "${space##*/}"; done
# It goes with the fabric, though not at once.
[ ! -e /sys/class/net/hbc0 ] || ip link delete hbc0 2>/dev/null || true

[ ! -e "$STATE/made-var-lib-cni" ] || rmdir /var/lib/cni
if grep -qF " $STATE/" /proc/self/mountinfo; then fail "something is still mounted below $STATE"; fi
rm -rf "$STATE"
