# The control plane on host cp: etcd, API server, controller manager, scheduler. Sourced, needs lib.sh and hosts.sh.
# shellcheck shell=bash disable=SC2154

start_api_server() {
  local certs=$STATE/certs
  daemon cp kube-apiserver "$kubernetes/kube-apiserver" \
    --etcd-servers=http://127.0.0.1:2379 \
    --advertise-address="$(first "$API_SERVER" "$(address6 cp)")" \
    --service-cluster-ip-range="$(both "$SERVICES" "$SERVICES6")" \
    --authorization-mode=Node,RBAC \
    --enable-admission-plugins=NodeRestriction \
    --allow-privileged=true \
    --tls-cert-file="$certs/api-server.crt" --tls-private-key-file="$certs/api-server.key" \
    --client-ca-file="$certs/ca.crt" \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$certs/service-accounts.pub" \
    --service-account-signing-key-file="$certs/service-accounts.key" \
    --kubelet-client-certificate="$certs/to-kubelets.crt" --kubelet-client-key="$certs/to-kubelets.key" \
    --kubelet-certificate-authority="$certs/ca.crt" \
    --kubelet-preferred-address-types=InternalIP \
    --enable-aggregator-routing=true \
    --default-not-ready-toleration-seconds=10 --default-unreachable-toleration-seconds=10
  # Webhooks above: the API server goes to their pods itself, since no kube-proxy runs on this host.
  wait_for "API server" 60 "$STATE/cp/kube-apiserver.log" kubectl get --raw /readyz || exit 1
}

start_control_plane() {
  local certs=$STATE/certs
  start_host cp
  # In memory: the cluster does not outlive the machine, and etcd waits for disks.
  daemon cp etcd etcd --data-dir /run/etcd --listen-client-urls http://127.0.0.1:2379 \
    --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
  start_api_server

  daemon cp kube-controller-manager "$kubernetes/kube-controller-manager" \
    --kubeconfig="$certs/controller-manager.kubeconfig" --leader-elect=false \
    --use-service-account-credentials=true --root-ca-file="$certs/ca.crt" \
    --service-account-private-key-file="$certs/service-accounts.key" \
    --flex-volume-plugin-dir="$STATE/cp/volume-plugins" \
    --kube-api-qps=200 --kube-api-burst=400 \
    --node-monitor-period=2s --node-monitor-grace-period=15s --node-eviction-rate=1
  daemon cp kube-scheduler "$kubernetes/kube-scheduler" \
    --kubeconfig="$certs/scheduler.kubeconfig" --leader-elect=false --kube-api-qps=200 --kube-api-burst=400
}
