#!/usr/bin/env bash
# Brings what the tests need into the test cluster: Prometheus, and a stand-in for Istio's injector. Waits until they
# are ready. Does nothing to what is there already.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each node's kubelet at its first address, as Prometheus lists targets.
nodes=$(kubectl get nodes -o json | jq -c '[.items[] | {
  targets: [first(.status.addresses[] | select(.type == "InternalIP").address) |
    (if contains(":") then "[\(.)]" else . end) + ":10250"],
  labels: {node: .metadata.name}
}]')
sed "s|NODES|$nodes|" "$cluster/addons/prometheus.yaml" | kubectl apply -f - >/dev/null

# The injector's certificate is its own authority, made once for each cluster.
namespace=istio-system
kubectl apply -f - >/dev/null <<YAML
{apiVersion: v1, kind: Namespace, metadata: {name: $namespace, labels: {pod-security.kubernetes.io/enforce: restricted}}}
YAML
secret() { kubectl -n "$namespace" get secret sidecar-injector -o jsonpath='{.data.tls\.crt}' --ignore-not-found; }
if [ -z "$(secret)" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=sidecar-injector \
    -addext "subjectAltName=DNS:sidecar-injector.$namespace.svc" \
    -keyout "$work/tls.key" -out "$work/tls.crt" 2>"$work/log" || fail "no certificate: $(tail -n 1 "$work/log")"
  kubectl -n "$namespace" create secret tls sidecar-injector --cert="$work/tls.crt" --key="$work/tls.key" >/dev/null
fi
sed "s|CA_BUNDLE|$(secret)|" "$cluster/addons/injector.yaml" | kubectl apply -f - >/dev/null

for one in monitoring/prometheus "$namespace/sidecar-injector"; do
  kubectl -n "${one%/*}" rollout status "deployment/${one#*/}" --timeout=60s >/dev/null || {
    kubectl -n "${one%/*}" get pods,events >&2
    fail "$one is not ready after a minute"
  }
done
