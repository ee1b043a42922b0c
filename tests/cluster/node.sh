# A node: containerd with its pod networks and runtimes, kubelet, kube-proxy. Sourced, needs lib.sh, hosts.sh and
# pod-networks.sh.
# shellcheck shell=bash disable=SC2154

# The part of a node that needs no API server.
start_containerd() {
  local folder=$STATE/$1
  write_pod_networks "$1" "$folder/cni"
  containerd_config "$folder" >"$folder/containerd.toml"
  cp "$cluster/addons/runsc.toml" "$folder/runsc.toml"
  start_host "$1"
  # gVisor's shim is found in PATH.
  daemon "$1" containerd env PATH="$CACHE/bin:$PATH" containerd --config "$folder/containerd.toml"
  wait_for "containerd on $1" 20 "$folder/containerd.log" on "$1" ctr version || exit 1
}

# The part that does.
start_kubelet() {
  local folder=$STATE/$1
  kubelet_config "$1" >"$folder/kubelet.yaml"
  proxy_config "$1" >"$folder/kube-proxy.yaml"
  # No server, since there is no DNS here; but something, or containerd would give pods the machine's.
  echo "options attempts:1" >"$folder/resolv.conf"
  daemon "$1" kubelet "$kubernetes/kubelet" --config="$folder/kubelet.yaml" \
    --kubeconfig="$STATE/certs/$1.kubeconfig" --root-dir="$folder/kubelet" \
    --hostname-override="$1" --node-ip="$(both "$(address "$1")" "$(address6 "$1")")" \
    --node-labels="topology.kubernetes.io/zone=${ZONE[$1]}" \
    --housekeeping-interval=1s
  daemon "$1" kube-proxy "$kubernetes/kube-proxy" --config="$folder/kube-proxy.yaml"
}

containerd_config() {
  local network
  cat <<TOML
version = 2
# It would leave /opt/containerd on the machine.
disabled_plugins = ["io.containerd.internal.v1.opt"]
root = "$1/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "hopbench.test/pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$1/cni/${POD_NETWORKS[0]}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
TOML
  ! has_gvisor || cat <<TOML
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runsc]
    runtime_type = "io.containerd.runsc.v1"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runsc.options]
      TypeUrl = "io.containerd.runsc.v1.options"
      ConfigPath = "$1/runsc.toml"
TOML
  for network in "${POD_NETWORKS[@]:1}"; do
    cat <<TOML
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.$network]
    runtime_type = "io.containerd.runc.v2"
    cni_conf_dir = "$1/cni/$network"
    cni_max_conf_num = 1
TOML
  done
}

kubelet_config() {
  cat <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $STATE/certs/ca.crt}
authorization: {mode: Webhook}
tlsCertFile: $STATE/certs/$1.crt
tlsPrivateKeyFile: $STATE/certs/$1.key
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /hbc/$1
enforceNodeAllocatable: []
failSwapOn: false
# The next Kubernetes would refuse cgroups of version 1.
failCgroupV1: false
oomScoreAdj: 0
maxPods: 200
maxOpenFiles: $(ulimit -Hn)
volumePluginDir: $STATE/$1/volume-plugins
resolvConf: $STATE/$1/resolv.conf
# Images cannot be pulled again, and the disk is the machine's.
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard:
  memory.available: 50Mi
  nodefs.available: 1%
  nodefs.inodesFree: 1%
  imagefs.available: 1%
  imagefs.inodesFree: 1%
# A hundred pods at once.
kubeAPIQPS: 200
kubeAPIBurst: 400
eventRecordQPS: 0
# A lost node is noticed after 15 s (the controller manager's grace): five renewals.
nodeLeaseDurationSeconds: 12
YAML
}

proxy_config() {
  cat <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: $(both "$PODS" "$PODS6")
hostnameOverride: $1
clientConnection: {kubeconfig: $STATE/certs/proxy.kubeconfig}
nodePortAddresses: [primary]
iptables: {minSyncPeriod: 200ms}
conntrack: {maxPerCore: 0}
YAML
}
