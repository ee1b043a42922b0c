#!/usr/bin/env bash
# Whether the running cluster does what the tests expect of a cluster: pods reach each other in all pod networks,
# through a Service and through a NodePort; exec, port-forward and the nodes' figures work; Pod Security is enforced.
# Leaves nothing behind. Fails at the first that does not hold.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source "$cluster/hosts.sh"
source "$cluster/pod-networks.sh"

need_root
space="cluster-check"
work=$(mktemp -d)
clean() {
  [ -z "${forward:-}" ] || kill "$forward" 2>/dev/null || true
  rm -rf "$work"
  kubectl delete namespace "$space" "$space-restricted" --ignore-not-found >/dev/null
}
trap clean EXIT

# One that serves its own name, or keeps a CPU busy up to its limit: pod NAME NODE RUNTIME-CLASS COMMAND
pod() {
  kubectl apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: $space, labels: {app: $1}}
spec:
  nodeName: $2
  ${3:+runtimeClassName: $3}
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: hopbench.test/busybox:1
      imagePullPolicy: Never
      command: [sh, -c, "$4"]
      resources: {limits: {cpu: 100m, memory: 64Mi}}
YAML
}
SERVE='mkdir /tmp/srv; hostname >/tmp/srv/index.html; exec httpd -f -p 8080 -h /tmp/srv'

in_pod() { kubectl -n "$space" exec "$1" -- "${@:2}"; }
# The address of POD by IPv4, whether that is its first one or not; by IPv6.
ip_of() { ips_of "$1" 'contains(":") | not'; }
ip6_of() { ips_of "$1" 'contains(":")'; }
ips_of() { kubectl -n "$space" get pod "$1" -o json | jq -r ".status.podIPs[].ip | select($2)"; }
expect() { # WHAT FOUND EXPECTED
  [ "$2" = "$3" ] || fail "$1: found '$2', expected '$3'"
  say "$1"
}
at_least() { # WHAT FOUND LEAST
  [ "$2" -ge "$3" ] || fail "$1: found $2, expected $3 or more"
  say "$1: $2"
}

kubectl create namespace "$space" >/dev/null
wait_for "the service account" 30 "$STATE/cp/kube-controller-manager.log" \
  kubectl -n "$space" get serviceaccount default
pod near n1 "" "$SERVE"
pod far n3 "" "$SERVE"
pod busy n2 "" "while :; do :; done"
! has_gvisor || pod sandboxed n2 gvisor "$SERVE"
for network in "${POD_NETWORKS[@]:1}"; do
  pod "$network-near" n1 "$network" "$SERVE"
  pod "$network-far" n3 "$network" "$SERVE"
done
kubectl -n "$space" expose pod near --port 80 --target-port 8080 --type NodePort \
  --overrides '{"spec": {"ipFamilies": ["IPv4"]}}' >/dev/null
kubectl -n "$space" wait --for=condition=Ready pod --all --timeout=60s >/dev/null

get() { in_pod "$1" timeout 5 wget -q -O - "$2"; }
expect "pod on n3 reaches pod on n1" "$(get far "$(ip_of near):8080")" near
expect "pod on n1 reaches pod on n3" "$(get near "$(ip_of far):8080")" far
service() { kubectl -n "$space" get service near -o jsonpath="$1"; }
expect "pod reaches ClusterIP" "$(get far "$(service '{.spec.clusterIP}')")" near
expect "pod reaches itself through ClusterIP" "$(get near "$(service '{.spec.clusterIP}')")" near
port=$(service '{.spec.ports[0].nodePort}')
for node in "${NODES[@]}"; do
  expect "NodePort at $node, entered from this machine" "$(curl -sm 5 "$(address "$node"):$port")" near
done

if has_ipv6; then
  kubectl -n "$space" patch service near --patch '{"spec": {"ipFamilyPolicy": "RequireDualStack"}}' >/dev/null
  expect "pods have the cluster's first family first" \
    "$(kubectl -n "$space" get pod near -o jsonpath='{.status.podIP}')" "$(first "$(ip_of near)" "$(ip6_of near)")"
  reaches6() { get far "[$(service '{.spec.clusterIPs[1]}')]"; }
  wait_for "Service by IPv6" 20 /dev/null reaches6 || true
  expect "pod on n3 reaches pod on n1 by IPv6" "$(get far "[$(ip6_of near)]:8080")" near
  expect "pod reaches ClusterIP by IPv6" "$(get far "[$(service '{.spec.clusterIPs[1]}')]")" near
  expect "NodePort at n2 by IPv6" "$(get far "[$(address6 n2)]:$port")" near
fi

vxlan_packets() { on n3 cat /sys/class/net/vxlan0/statistics/rx_packets; }
before=$(vxlan_packets)
get far "$(ip_of near):8080" >/dev/null
expect "the routed network does not use the VXLAN" "$(vxlan_packets)" "$before"
expect "overlay pod on n1 reaches overlay pod on n3" "$(get overlay-near "$(ip_of overlay-far):8080")" overlay-far
at_least "packets through the VXLAN" $(($(vxlan_packets) - before)) 4
expect "routed pod reaches overlay pod" "$(get far "$(ip_of overlay-near):8080")" overlay-near

# Each kind with each, between the nodes and on one of them.
near=(near) far=(far)
for network in "${POD_NETWORKS[@]:1}"; do near+=("$network-near") far+=("$network-far"); done
ips() { for pod in "$@"; do ip_of "$pod" && echo; done | xargs; }
near_ips=$(ips "${near[@]}") far_ips=$(ips "${far[@]}")
get_all() { echo "for ip in $*; do timeout 5 $GET \$ip:8080 || echo \$ip is silent; done"; }
GET="wget -q -O -"
for pod in "${near[@]}"; do
  expect "$pod reaches every pod on n3" "$(in_pod "$pod" sh -c "$(get_all "$far_ips")" | xargs)" "${far[*]}"
  expect "$pod reaches every pod on its node" "$(in_pod "$pod" sh -c "$(get_all "$near_ips")" | xargs)" "${near[*]}"
  expect "$pod reaches ClusterIP" "$(get "$pod" "$(service '{.spec.clusterIP}')")" near
done
GET="curl -s"
expect "n1 reaches every pod on n3" "$(on n1 sh -c "$(get_all "$far_ips")" | xargs)" "${far[*]}"
expect "n1 reaches every pod of its own" "$(on n1 sh -c "$(get_all "$near_ips")" | xargs)" "${near[*]}"

expect "a ptp pod has a route of its own" "$(on n1 ip route show "$(ip_of ptp-near)" | cut -d ' ' -f 2,4)" "dev scope"
expect "a macvlan pod is on its node's NIC" "$(in_pod macvlan-near cat /sys/class/net/eth0/iflink)" \
  "$(on n1 cat /sys/class/net/eth0/ifindex)"
nic_packets() { ip netns exec hbc-fabric cat /sys/class/net/n3-eni/statistics/rx_packets; }
before=$(nic_packets)
get eni-near "$(ip_of eni-far):8080" >/dev/null
at_least "packets through the NIC of the eni pod" $(($(nic_packets) - before)) 4
kubectl -n "$space" delete pod eni-near >/dev/null
nic_is_back() { on n1 test -e /sys/class/net/eni0; }
wait_for "the NIC on its node after the eni pod" 10 "$STATE/n1/containerd.log" nic_is_back
pod eni-again n1 eni "$SERVE"
kubectl -n "$space" wait --for=condition=Ready pod/eni-again --timeout=60s >/dev/null
expect "the next eni pod has the NIC" "$(get far "$(ip_of eni-again):8080")" eni-again

if has_gvisor; then
  expect "a gVisor pod runs on gVisor's kernel" "$(in_pod sandboxed dmesg | grep -ac "Starting gVisor")" 1
  expect "pod reaches gVisor pod" "$(get near "$(ip_of sandboxed):8080")" sandboxed
fi

kubectl -n "$space" port-forward pod/overlay-far :8080 >"$work/forward" 2>&1 9<&- &
forward=$!
wait_for port-forward 20 "$work/forward" grep -q Forwarding "$work/forward"
local_port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\) .*/\1/p' "$work/forward")
expect "port-forward" "$(curl -sm 5 "127.0.0.1:$local_port")" overlay-far

uid=$(kubectl -n "$space" get pod busy -o jsonpath='{.metadata.uid}')
busy_ns() {
  kubectl get --raw /api/v1/nodes/n2/proxy/stats/summary |
    jq --arg uid "$uid" '.pods[] | select(.podRef.uid == $uid) | .containers[0].cpu.usageCoreNanoSeconds'
}
# A tenth of a CPU: 0.3 s in 3 s, of which half must show.
first=$(busy_ns)
for ((i = 0; i < 15; i++)); do
  sleep 1
  second=$(busy_ns)
  [ $((second - first)) -lt 150000000 ] || break
done
at_least "CPU of a container in the summary, ns" $((second - first)) 150000000
cadvisor=$(kubectl get --raw /api/v1/nodes/n2/proxy/metrics/cadvisor |
  grep -c "^container_cpu_usage_seconds_total{container=\"main\".*namespace=\"$space\",pod=\"busy\"" || true)
expect "CPU of a container in /metrics/cadvisor" "$cadvisor" 1
if [ -e /sys/fs/cgroup/cpu ]; then
  quota=$(cat "/sys/fs/cgroup/cpu/hbc/n2/kubepods/pod$uid/cpu.cfs_quota_us")
  expect "CPU limit of a Guaranteed pod, us in 100 ms" "$quota" 10000
fi

kubectl create namespace "$space-restricted" >/dev/null
kubectl label namespace "$space-restricted" pod-security.kubernetes.io/enforce=restricted >/dev/null
wait_for "the service account" 30 "$STATE/cp/kube-controller-manager.log" \
  kubectl -n "$space-restricted" get serviceaccount default
refusal=$(kubectl -n "$space-restricted" run x --image=hopbench.test/busybox:1 \
  --overrides='{"spec": {"hostNetwork": true}}' 2>&1 || true)
case "$refusal" in
*"violates PodSecurity"*"host namespaces"*) say "Pod Security refuses a hostNetwork pod" ;;
*) fail "Pod Security: found '$refusal', expected a refusal" ;;
esac
say "all of it holds"
