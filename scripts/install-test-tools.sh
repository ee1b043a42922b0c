#!/usr/bin/env bash
# Installs what the tests use besides Rust: namespaces and shaping (iproute2, nftables), a real web server (nginx),
# a browser that opens reports (chromium) with a font.
# Does nothing where all of it is there.
set -euo pipefail

declare -A package=([ip]=iproute2 [tc]=iproute2 [nft]=nftables [nginx]=nginx-light [unshare]=util-linux
  [chromium]=chromium)
missing=()
for tool in "${!package[@]}"; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$tool" >/dev/null || missing+=("${package[$tool]}")
done
# A browser without a font draws no text.
case " ${missing[*]} " in *" chromium "*) missing+=(fonts-dejavu-core) ;; esac
[ ${#missing[@]} -eq 0 ] && exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "hopbench: the tests need ${missing[*]}; install them (apt-get install ${missing[*]}) and try again" >&2
  exit 3
fi
# A server that is installed for the tests is not to be started by its package.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
