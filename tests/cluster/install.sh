#!/usr/bin/env bash
# Installs what the test cluster takes from Debian, without its services.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

declare -A package=([etcd]=etcd-server [containerd]=containerd [ctr]=containerd [runc]=runc [iptables]=iptables
  [conntrack]=conntrack [curl]=curl [openssl]=openssl [jq]=jq [ip]=iproute2 [nsenter]=util-linux [sysctl]=procps
  [iperf3]=iperf3 [ping]=iputils-ping)
wanted=()
for program in "${!package[@]}"; do
  command -v "$program" >/dev/null || wanted+=("${package[$program]}")
done
[ -x /usr/lib/cni/bridge ] || wanted+=(containernetworking-plugins)
[ "${#wanted[@]}" -gt 0 ] || exit 0
command -v apt-get >/dev/null || fail "no apt-get here; install by hand: ${wanted[*]}"

say "installing ${wanted[*]}"
log=$(mktemp)
# They must not come up as services of this machine; this is how Debian lets one say so.
policy=/usr/sbin/policy-rc.d
if [ -e "$policy" ]; then
  trap 'rm -f "$log"' EXIT
else
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$log" "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update >"$log" 2>&1 || say "apt-get update failed; trying with the lists that are there"
apt-get -qq install -y --no-install-recommends "${wanted[@]}" >"$log" 2>&1 ||
  fail "apt-get could not install ${wanted[*]}: $(tail -n 1 "$log")"
