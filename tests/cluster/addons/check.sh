#!/usr/bin/env bash
# Whether the running cluster has what addons.sh promises: pods with Istio's label get a sidecar that takes just what
# their annotations say, in gVisor too; Prometheus knows what the sidecars cost. Leaves nothing behind. Fails at the first
# that does not hold.
set -euo pipefail
source "$(dirname "$0")/../lib.sh"

space=addons-check
work=$(mktemp -d)
clean() {
  rm -rf "$work"
  kubectl delete namespace "$space" "$space-restricted" --ignore-not-found >/dev/null
}
trap clean EXIT

expect() { # WHAT FOUND EXPECTED
  [ "$2" = "$3" ] || fail "$1: found '$2', expected '$3'"
  say "$1"
}
namespace() { # NAME PSA
  kubectl create namespace "$1" >/dev/null
  kubectl label namespace "$1" istio-injection=enabled "pod-security.kubernetes.io/enforce=$2" >/dev/null
}
# A web server on 8080, and a shell beside it: pod NAME NODE LABELS ANNOTATIONS [RUNTIME-CLASS]
pod() {
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {$3}, annotations: {$4}}
spec:
  nodeName: $2
  ${5:+runtimeClassName: $5}
  terminationGracePeriodSeconds: 0
  containers:
  - name: web
    image: hopbench.test/nginx:1
    imagePullPolicy: Never
    ports: [{name: http-web, containerPort: 8080}]
  - {name: shell, image: "hopbench.test/busybox:1", imagePullPolicy: Never, command: [sleep, "3600"]}
YAML
}
create() { kubectl -n "$space" apply -f - >/dev/null; }
in_pod() { kubectl -n "$space" exec "$1" -c shell -- "${@:2}"; }
ip_of() { kubectl -n "$space" get pod "$1" -o jsonpath='{.status.podIP}'; }
containers() { kubectl -n "$space" get pod "$1" -o jsonpath='{.spec.initContainers[*].name} {.spec.containers[*].name}'; }
# What POD's Envoy counted of NAME.
counted() { in_pod "$1" wget -q -O - http://127.0.0.1:15000/stats | sed -n "s/^$2: //p"; }
# Five requests from POD to POD; prints the sizes of the answers.
ask() {
  local to
  to=$(ip_of "$2")
  in_pod "$1" sh -c "for i in 1 2 3 4 5; do wget -q -O - http://$to:8080/ | wc -c; done" | xargs
}
FIVE="1024 1024 1024 1024 1024"
IN=http.in-http-8080.downstream_rq_total
OUT=http.any-http-15001.downstream_rq_total

namespace "$space" privileged
wait_for "the service account" 30 "$STATE/cp/kube-controller-manager.log" \
  kubectl -n "$space" get serviceaccount default
off='sidecar.istio.io/inject: "false"'
traffic=traffic.sidecar.istio.io
pod plain n1 "$off" "" | create
pod server n3 "" 'proxy.istio.io/config: "concurrency: 1", sidecar.istio.io/proxyCPULimit: "1"' | create
pod closed n3 "" "$traffic/excludeInboundPorts: \"8080\"" | create
pod client n1 "" "sidecar.istio.io/nativeSidecar: \"true\", $traffic/includeInboundPorts: \"\"" | create
pod leaves n1 "" "$traffic/excludeOutboundPorts: \"8080\"" | create
if has_gvisor; then
  pod sandbox n2 "" "" gvisor | create
  pod bare n2 "$off" "" gvisor | create
fi
kubectl -n "$space" wait --for=condition=Ready pod --all --timeout=120s >/dev/null

expect "a pod that does not want one gets no sidecar" "$(containers plain)" " web shell"
expect "a labelled namespace's pod gets one" "$(containers server)" "istio-init web shell istio-proxy"
expect "which stands first where that is asked" "$(containers client)" "istio-init istio-proxy web shell"
expect "its limit is the annotation's" \
  "$(kubectl -n "$space" get pod server -o jsonpath='{.spec.containers[2].resources.limits}')" '{"cpu":"1"}'
expect "its workers, too" "$(counted server server.concurrency)" 1

expect "requests to the pod are answered" "$(ask plain server)" "$FIVE"
expect "and pass the server's sidecar" "$(counted server $IN)" 5
expect "requests to a port that is left out are answered" "$(ask plain closed)" "$FIVE"
expect "and pass no sidecar" "$(counted closed $IN)" 0
expect "requests from a pod with a sidecar are answered" "$(ask client server)" "$FIVE"
expect "and pass the client's sidecar" "$(counted client $OUT)" 5
expect "and the server's" "$(counted server $IN)" 10
expect "requests to a port that the client leaves out are answered" "$(ask leaves server)" "$FIVE"
expect "and pass the server's sidecar only" "$(counted leaves $OUT) $(counted server $IN)" "0 15"

if has_gvisor; then
  in_pod bare cat /proc/version >"$work/version"
  grep -qi gvisor "$work/version" || fail "RuntimeClass gvisor: found '$(cat "$work/version")' in /proc/version"
  say "RuntimeClass gvisor: $(cut -c -28 "$work/version")"
  expect "requests to a sandboxed pod are answered" "$(ask plain sandbox)" "$FIVE"
  expect "and pass the sidecar in its sandbox" "$(counted sandbox $IN)" 5
fi

pod wrong n1 "" "$traffic/includeInboundPorts: http" >"$work/pod"
if kubectl -n "$space" apply -f "$work/pod" >"$work/said" 2>&1; then fail "a pod with a wrong annotation was let in"; fi
grep -q 'includeInboundPorts: found "http"' "$work/said" || fail "refused for another reason: $(cat "$work/said")"
say "a wrong annotation is refused by its name"
namespace "$space-restricted" restricted
pod strict n1 "" "" >"$work/pod"
if kubectl -n "$space-restricted" apply -f "$work/pod" >"$work/said" 2>&1; then fail "restricted let NET_ADMIN in"; fi
grep -q NET_ADMIN "$work/said" || fail "refused for another reason: $(cat "$work/said")"
say "a restricted namespace refuses the init container of the sidecar"

# What Prometheus knows of the server's sidecar in one of the two forms, CPU seconds.
cpu_s() {
  local query="container_cpu_usage_seconds_total{namespace=\"$space\",pod=\"server\",container=\"istio-proxy\",metrics_path=\"$1\"}"
  kubectl get --raw "/api/v1/namespaces/monitoring/services/prometheus:9090/proxy/api/v1/query?query=$(jq -rn --arg q "$query" '$q | @uri')" |
    jq -r '[.data.result[].value[1]] | if length == 1 then .[0] else empty end'
}
for form in /metrics/cadvisor /metrics/resource; do
  known() { [ -n "$(cpu_s "$form")" ]; }
  wait_for "istio-proxy in Prometheus, from $form" 40 "$STATE/n3/kubelet.log" known || exit 1
  before=$(cpu_s "$form")
  grows() {
    ask plain server >/dev/null
    [ "$(jq -n "$(cpu_s "$form") > $before")" = true ]
  }
  wait_for "more CPU of istio-proxy in Prometheus, from $form" 40 "$STATE/n3/kubelet.log" grows || exit 1
  say "Prometheus, from $form: istio-proxy used $(cpu_s "$form") s"
done
