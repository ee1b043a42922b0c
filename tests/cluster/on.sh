#!/usr/bin/env bash
# Runs a command on a host of the test cluster: on.sh n1 ip route; on.sh cp bash
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source "$cluster/hosts.sh"

need_root
[ $# -ge 2 ] || fail "usage: on.sh HOST COMMAND..., HOST being one of ${HOSTS[*]}"
on "$@"
