#!/usr/bin/env bash
# Builds what the tests need in Go, one after the other: h2spec, gVisor, and for a cluster
# Kubernetes and Contour, beside which the packages of the cluster are installed. Usage:
# build-go-parts.sh LOGS [quick]; LOGS.PART.log and LOGS.PART.status tell of each. A part that fails
# leaves the others alone, and is no failure here.
set -uo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
logs=$1

# attempt PART COMMAND...
attempt() {
  local part=$1 status=0
  shift
  "$@" >"$logs.$part.log" 2>&1 || status=$?
  echo "$status" >"$logs.$part.status"
}

# Less than a minute of one CPU; the others take more.
attempt h2spec "$scripts/go-part.sh" h2spec
if [ "${2-}" = quick ]; then
  attempt gvisor "$scripts/install-runsc.sh"
  exit 0
fi
attempt gvisor "$scripts/install-runsc.sh" shim
if [ "$(id -u)" -eq 0 ]; then
  # Which has containerd, and the tests use that without a cluster, too.
  attempt packages "$scripts/../tests/cluster/install.sh"
  attempt kubernetes "$scripts/go-part.sh" kubernetes
  attempt contour "$scripts/go-part.sh" contour
fi
