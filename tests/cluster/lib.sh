# Words that the scripts of the test cluster share. Sourced, never run.
# shellcheck shell=bash disable=SC2034

cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What is kept between clusters: programs and images. `images.sh` and `addons.sh` use it too.
export CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench"
# What belongs to the one cluster and goes with it. Not below /run, of which every host has its own.
STATE=$(realpath -m "${HOPBENCH_CLUSTER:-/tmp/hopbench-cluster}")
export STATE
export KUBECONFIG="$STATE/kubeconfig"
# Where go-part.sh puts the programs of Kubernetes.
kubernetes=$("$cluster/../../scripts/go-part.sh" --folder kubernetes)
# kubectl of this version before any other; Debian keeps servers in sbin.
export PATH="$kubernetes:$PATH:/usr/sbin:/sbin"

# The hosts. Namespaces, links and cgroups of the cluster are called `hbc...`, so that `down.sh` knows its own.
nodes_asked=${HOPBENCH_CLUSTER_NODES:-3}
if ! [[ "$nodes_asked" =~ ^[345]$ ]]; then
  echo "cluster: HOPBENCH_CLUSTER_NODES: found $nodes_asked, expected 3, 4 or 5" >&2
  exit 2
fi
# Takes the first COUNT nodes: take_nodes COUNT
take_nodes() {
  NODES=(n1 n2 n3 n4 n5)
  NODES=("${NODES[@]:0:$1}")
  HOSTS=(cp "${NODES[@]}")
}
# A cluster that is there has as many as it was made with, whatever is asked for now.
take_nodes "$(cat "$STATE/nodes" 2>/dev/null || echo "$nodes_asked")"
declare -A ZONE=([n1]=z1 [n2]=z1 [n3]=z2 [n4]=z2 [n5]=z2)
declare -A NUMBER=([cp]=0 [n1]=1 [n2]=2 [n3]=3 [n4]=4 [n5]=5)
FABRIC=10.199.0
API_SERVER=$FABRIC.10
SERVICES=10.96.0.0/16
# The pod networks that are not on the hosts' wire, for kube-proxy.
PODS=10.244.0.0/14

# IPv6, where the kernel has it: for the hosts, the pods of the networks `routed` and `overlay`, and Services that ask
# for it.
FABRIC6=fd68:199:
SERVICES6=fd68:96::/112
PODS6=fd68:244::/31
has_ipv6() { [ -e /proc/sys/net/ipv6 ]; }
# Whether IPv6 is this cluster's first family: up.sh decides it.
ipv6_first() { [ -e "$STATE/ipv6-first" ]; }
# What there is of both families with a comma between them, that of the first family first: both IPV4 IPV6
both() {
  if ! has_ipv6; then
    echo "$1"
  elif ipv6_first; then
    echo "$2,$1"
  else
    echo "$1,$2"
  fi
}
# That of the first family alone: first IPV4 IPV6
first() {
  local all
  all=$(both "$@")
  echo "${all%%,*}"
}

# Whether this cluster has the RuntimeClass `gvisor`: up.sh decides it.
has_gvisor() { [ -e "$STATE/gvisor" ]; }

address() { echo "$FABRIC.$((10 + NUMBER[$1]))"; }
address6() { echo "$FABRIC6:$((10 + NUMBER[$1]))"; }
routed_pods6() { echo "fd68:244:${NUMBER[$1]}::/64"; }
overlay_pods6() { echo "fd68:245:${NUMBER[$1]}::/64"; }
routed_pods() { echo "10.244.${NUMBER[$1]}.0/24"; }
overlay_pods() { echo "10.245.${NUMBER[$1]}.0/24"; }
ptp_pods() { echo "10.246.${NUMBER[$1]}.0/24"; }
# Pods on the hosts' wire: the one with a NIC of its own, and those that share the node's.
eni_address() { echo "$FABRIC.$((20 + NUMBER[$1]))"; }
macvlan_pods() { echo "$FABRIC.$((32 + 32 * NUMBER[$1]))/27"; }
first_macvlan() { echo "$FABRIC.$((33 + 32 * NUMBER[$1]))"; }
last_macvlan() { echo "$FABRIC.$((62 + 32 * NUMBER[$1]))"; }
# By which the node reaches those, and they it.
macvlan_way() { echo "$FABRIC.$((30 + NUMBER[$1]))"; }

# The Envoy of the image and of the Gateway; nothing where there is none.
envoy_program() {
  if [ -x "$CACHE/bin/envoy" ]; then echo "$CACHE/bin/envoy"; else command -v envoy || true; fi
}

say() { echo "cluster: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

need_root() {
  [ "$(id -u)" -eq 0 ] && return
  say "found user $(id -un), expected root: the cluster makes network namespaces, cgroups and mounts. Run it with sudo -E"
  exit 3
}

# One cluster at a time, and one script on it.
lock() {
  exec 9<"$cluster/lib.sh"
  flock --timeout 900 9 || fail "another script has been at work on the cluster for long"
}

# Whether COMMAND succeeds within SECONDS; shows the end of LOG when not: wait_for WHAT SECONDS LOG COMMAND...
wait_for() {
  local what=$1 seconds=$2 log=$3
  shift 3
  local until=$((SECONDS + seconds))
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$until" ]; then
      say "$what: not there after $seconds s; the end of $log:"
      tail -n 20 "$log" >&2
      return 1
    fi
    sleep 0.2
  done
}
