# Kubernetes: the programs of the test cluster, each 60 to 100 MB. Sourced by go-part.sh.
# shellcheck shell=bash disable=SC2034
main=k8s.io/kubernetes
packages=(k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubelet,kube-proxy,kubectl})

# Without a version the programs say v0.0.0, and clients refuse to work with them: link_flags
# VERSION
link_flags() {
  local package minor=${1#v*.}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    echo "-X $package.gitVersion=$1 -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*}"
  done
}
