#!/usr/bin/env bash
# Installs programs that hopbench or its tests use, where it can. Usage:
#   install-test-tools.sh              all that the tests use: namespaces and shaping (iproute2, nftables), a real web
#                                      server (nginx), a browser that opens reports (chromium) with a font,
#                                      a registry of images (docker-registry), tools to compare with
#                                      (iperf3, iputils-ping), and Envoy, which goes into the user's
#                                      cache
#   install-test-tools.sh PROGRAM ...  only these
# Does nothing where all of it is there. What could not be had is said, a line each: `hopbench:
# without PROGRAM: WHY`; the rest is installed all the same.
set -euo pipefail

declare -A package=([ip]=iproute2 [tc]=iproute2 [nft]=nftables [nginx]=nginx-light [unshare]=util-linux
  [chromium]=chromium [docker-registry]=docker-registry [iperf3]=iperf3 [ping]=iputils-ping)
status=0
without() {
  echo "hopbench: without $1: $2" >&2
  status=3
}
log=$(mktemp)
policy=/usr/sbin/policy-rc.d
made_policy=""
trap 'rm -f "$log" ${made_policy:+"$policy"}' EXIT

wanted=("$@")
if [ ${#wanted[@]} -eq 0 ]; then
  wanted=("${!package[@]}")
  "$(dirname "$0")/install-envoy.sh" 2>"$log" || without envoy "$(sed -n '$s/^hopbench: no Envoy: //p' "$log")"
  grep -v '^hopbench: no Envoy: ' "$log" >&2 || true
fi
missing=()
for tool in "${wanted[@]}"; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$tool" >/dev/null || missing+=("$tool")
done
[ ${#missing[@]} -gt 0 ] || exit "$status"

# Why packages cannot be installed here at all.
impossible=""
if ! command -v apt-get >/dev/null; then
  impossible="there is no apt-get here to install it with"
elif [ "$(id -u)" -ne 0 ]; then
  impossible="only root installs packages"
fi
if [ -n "$impossible" ]; then
  for tool in "${missing[@]}"; do without "$tool" "$impossible; Debian calls it ${package[$tool]}"; done
  exit "$status"
fi

# A server that is installed here is not to be started by its package.
if [ ! -e "$policy" ]; then
  made_policy=1
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >"$log" 2>&1 || echo "hopbench: apt-get update failed; trying with the lists that are there" >&2
# install PROGRAM...
install() {
  local tool packages=()
  for tool in "$@"; do
    packages+=("${package[$tool]}")
    # A browser without a font draws no text.
    [ "$tool" != chromium ] || packages+=(fonts-dejavu-core)
  done
  apt-get install -y -qq --no-install-recommends "${packages[@]}" >"$log" 2>&1
}
install "${missing[@]}" || for tool in "${missing[@]}"; do
  install "$tool" || without "$tool" "cannot install ${package[$tool]}: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
done
exit "$status"
