# Certificates of the cluster's own authority, and the kubeconfigs made of them. Sourced, needs lib.sh.
# shellcheck shell=bash

make_certs() {
  local node
  certs=$STATE/certs
  mkdir -p "$certs"
  new_key ca
  openssl req -x509 -new -key "$certs/ca.key" -sha256 -days 3650 -subj "/CN=hopbench test cluster" -out "$certs/ca.crt"
  new_key service-accounts
  openssl pkey -in "$certs/service-accounts.key" -pubout -out "$certs/service-accounts.pub"

  certificate api-server /CN=kube-apiserver "IP:$API_SERVER,IP:127.0.0.1,IP:${SERVICES%.*}.1,\
IP:$(address6 cp),IP:${SERVICES6%/*}1,DNS:kubernetes,DNS:kubernetes.default,\
DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
  certificate to-kubelets /O=system:masters/CN=kube-apiserver-kubelet-client
  certificate admin /O=system:masters/CN=admin
  certificate controller-manager /CN=system:kube-controller-manager
  certificate scheduler /CN=system:kube-scheduler
  certificate proxy /CN=system:kube-proxy
  for node in "${NODES[@]}"; do
    certificate "$node" "/O=system:nodes/CN=system:node:$node" "IP:$(address "$node"),IP:$(address6 "$node"),DNS:$node"
  done
  for user in controller-manager scheduler proxy "${NODES[@]}"; do
    kubeconfig "$user" >"$certs/$user.kubeconfig"
  done
}

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$certs/$1.key" 2>/dev/null; }

# For a client, and for a server where it has names: certificate NAME SUBJECT [SUBJECT-ALTERNATIVE-NAMES]
certificate() {
  local extensions="extendedKeyUsage=clientAuth"
  [ -z "${3:-}" ] || extensions="extendedKeyUsage=clientAuth,serverAuth"$'\n'"subjectAltName=$3"
  new_key "$1"
  openssl req -new -key "$certs/$1.key" -subj "$2" -out "$certs/$1.csr"
  openssl x509 -req -in "$certs/$1.csr" -CA "$certs/ca.crt" -CAkey "$certs/ca.key" -CAcreateserial -sha256 -days 3650 \
    -extfile <(echo "$extensions") -out "$certs/$1.crt" 2>/dev/null
  rm "$certs/$1.csr"
}

# The kubeconfig of USER, which needs no other file.
kubeconfig() {
  cat <<YAML
apiVersion: v1
kind: Config
current-context: hopbench
clusters:
  - name: hopbench
    cluster:
      server: https://$API_SERVER:6443
      certificate-authority-data: $(base64 -w 0 "$certs/ca.crt")
users:
  - name: $1
    user:
      client-certificate-data: $(base64 -w 0 "$certs/$1.crt")
      client-key-data: $(base64 -w 0 "$certs/$1.key")
contexts:
  - name: hopbench
    context: {cluster: hopbench, user: $1}
YAML
}
