# gVisor: the sandbox `runsc`, and `shim`, with which containerd starts it. Sourced by go-part.sh.
# shellcheck shell=bash disable=SC2034
main=gvisor.dev/gvisor
packages=(gvisor.dev/gvisor/runsc gvisor.dev/gvisor/shim)

# A build from a module does not know its version: link_flags VERSION
link_flags() { echo "-X gvisor.dev/gvisor/runsc/version.version=$1"; }

# One change to the shim: it asks the kernel to be spared when memory is short, which root in a
# container may not, and gives up then. It asks for what other shims have instead: patch SOURCES
# PROGRAM...
patch() {
  local manager=$1/pkg/shim/v1/manager.go
  case " ${*:2} " in *" shim "*) ;; *) return 0 ;; esac
  grep -q 'oomScoreMax *= -999$' "$manager" ||
    fail "gVisor's shim is not as expected: found no \"oomScoreMax = -999\" in pkg/shim/v1/manager.go"
  sed -i 's/^\(.*oomScoreMax *= \)-999$/\11/' "$manager"
}
