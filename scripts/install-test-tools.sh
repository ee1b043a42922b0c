#!/usr/bin/env bash
# Installs programs that hopbench or its tests use, where it can; says what it could not. Usage:
#   install-test-tools.sh              all that the tests use: namespaces and shaping (iproute2, nftables), a real web
#                                      server (nginx), a browser that opens reports (chromium) with a font,
#                                      and Envoy, which goes into the user's cache
#   install-test-tools.sh PROGRAM ...  only these
# Does nothing where all of it is there.
set -euo pipefail

failed=0
declare -A package=([ip]=iproute2 [tc]=iproute2 [nft]=nftables [nginx]=nginx-light [unshare]=util-linux
  [chromium]=chromium)
wanted=("$@")
if [ ${#wanted[@]} -eq 0 ]; then
  wanted=("${!package[@]}")
  # Where it cannot be had the rest is installed all the same. Where there is none for this machine, that was said, and
  # its tests say so, too.
  if ! "$(dirname "$0")/install-envoy.sh" && [ "$(uname -sm)" = "Linux x86_64" ]; then failed=3; fi
fi
missing=()
for tool in "${wanted[@]}"; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$tool" >/dev/null || missing+=("${package[$tool]}")
done
[ ${#missing[@]} -eq 0 ] && exit "$failed"
# A browser without a font draws no text.
case " ${missing[*]} " in *" chromium "*) missing+=(fonts-dejavu-core) ;; esac
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
if ! command -v apt-get >/dev/null; then
  echo "hopbench: ${missing[*]} (so Debian calls it) is not installed, and there is no apt-get here to install it with" >&2
  exit 3
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "hopbench: ${missing[*]} is not installed; install it with: sudo apt-get install ${missing[*]}" >&2
  exit 3
fi
# A server that is installed here is not to be started by its package.
policy=/usr/sbin/policy-rc.d
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ ! -e "$policy" ]; then
  trap 'rm -f "$log" "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  echo "hopbench: cannot install ${missing[*]}: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")" >&2
  exit 3
fi
exit "$failed"
