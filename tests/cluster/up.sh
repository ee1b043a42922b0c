#!/usr/bin/env bash
# Starts the test cluster, or says that it is there; the last line on standard output is the `export KUBECONFIG=...`
# that makes kubectl and hopbench use it.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source "$cluster/hosts.sh"
source "$cluster/network.sh"
source "$cluster/certs.sh"
source "$cluster/control-plane.sh"
source "$cluster/pod-networks.sh"
source "$cluster/node.sh"
source "$cluster/gateway.sh"

node_ready() {
  local status='{.status.conditions[?(@.type=="Ready")].status}'
  [ "$(kubectl get node "$1" --request-timeout=5s -o jsonpath="$status")" = True ]
}

ready() {
  local node
  for node in "${NODES[@]}"; do node_ready "$node" || return 1; done
}

# Whether service accounts exist, without which the API server refuses pods.
accounts() { kubectl get serviceaccount default; }

each_node() { # COMMAND: on all nodes at once; fails where one fails
  local node pid pids=()
  for node in "${NODES[@]}"; do
    "$1" "$node" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || exit 1; done
}

start_nodes() {
  each_node start_containerd
  "$cluster/load.sh"
}

add_rest() {
  kubectl apply -f "$cluster/objects.yaml" >/dev/null
  ! has_gvisor || kubectl apply -f "$cluster/gvisor.yaml" >/dev/null
  "$cluster/addons.sh"
  has_gateway || start_gateway
  touch "$STATE/whole"
}

need_root
families=${HOPBENCH_CLUSTER_FAMILIES:-}
case "$families" in
"") ;;
ipv4,ipv6 | ipv6,ipv4) has_ipv6 || fail "HOPBENCH_CLUSTER_FAMILIES: found $families, but this kernel has no IPv6" ;;
*) fail "HOPBENCH_CLUSTER_FAMILIES: found '$families', expected ipv4,ipv6 or ipv6,ipv4" ;;
esac
lock
if [ -e "$KUBECONFIG" ] && ready 2>/dev/null; then
  there=$(both ipv4 ipv6)
  [ "${families:-$there}" = "$there" ] ||
    fail "found a cluster with the families $there: take that down first (make cluster-down)"
  [ "${HOPBENCH_CLUSTER_NODES:-${#NODES[@]}}" = "${#NODES[@]}" ] ||
    fail "found a cluster of ${#NODES[@]} nodes: take that down first (make cluster-down)"
  # One that was not finished.
  [ -e "$STATE/whole" ] || add_rest
  say "already up"
  echo "export KUBECONFIG=$KUBECONFIG"
  exit 0
fi
if [ ! -e "$STATE" ] && [ -e /run/netns/hbc-fabric ]; then
  fail "found another cluster, whose folder is not $STATE: take that down first (HOPBENCH_CLUSTER=... make cluster-down)"
fi
"$cluster/install.sh"
"$cluster/../../scripts/go-part.sh" kubernetes >/dev/null || exit 1
"$cluster/../../scripts/go-part.sh" contour >/dev/null || exit 1
gvisor=1
"$cluster/../../scripts/install-runsc.sh" shim || {
  say "going on without the RuntimeClass gvisor"
  gvisor=""
}
"$cluster/images.sh"

began=$SECONDS
# What is left of one that was not taken down.
"$cluster/clean.sh"
take_nodes "$nodes_asked"
mkdir -p "$STATE"
chmod 0700 "$STATE"
touch "$STATE/.hopbench-cluster"
echo "$nodes_asked" >"$STATE/nodes"
[ -z "$gvisor" ] || touch "$STATE/gvisor"
[ "$families" != ipv6,ipv4 ] || touch "$STATE/ipv6-first"
make_certs
kubeconfig admin >"$KUBECONFIG"
# A place to mount on, which the machine may not have.
[ -e /var/lib/cni ] || { touch "$STATE/made-var-lib-cni" && mkdir /var/lib/cni; }
make_network
start_nodes &
nodes=$!
start_control_plane
wait "$nodes" || exit 1
for node in "${NODES[@]}"; do start_kubelet "$node"; done
wait_for "service accounts" 30 "$STATE/cp/kube-controller-manager.log" accounts || exit 1
for node in "${NODES[@]}"; do
  wait_for "node $node Ready" 60 "$STATE/$node/kubelet.log" node_ready "$node" || exit 1
done
say "Ready after $((SECONDS - began)) s"
add_rest
echo "export KUBECONFIG=$KUBECONFIG"
