#!/usr/bin/env bash
# Writes the images that the test cluster runs as docker-archives into the cache: pause, busybox, init, envoy, contour,
# nginx, prometheus, peers, webhook. What is there already and made from the same is left alone.
set -euo pipefail
umask 022
source "$(dirname "$0")/lib.sh"
# shellcheck source=images/archive.sh
source "$cluster/images/archive.sh"

images=$CACHE/images
root=$(cd "$cluster/../.." && pwd)
mkdir -p "$images"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/scripts/install-envoy.sh" || say "going on without the image envoy: no pod can have a sidecar"
envoy=$(envoy_program)

# --- what of Debian is needed, unpacked and not installed: no service starts, nothing of this machine changes
packages=(nginx prometheus busybox-static iptables libip4tc2 libip6tc2 libxtables12 libmnl0 libnetfilter-conntrack3
  libnfnetlink0 libnftnl11 libpcre2-8-0 libssl3)
unpacked=$CACHE/debian
if [ "$(cat "$unpacked/whole" 2>/dev/null)" != "${packages[*]}" ]; then
  say "fetching ${packages[*]}"
  mkdir "$work/debs"
  get() { (cd "$work/debs" && apt-get download -qq -o APT::Sandbox::User=root "${packages[@]}") 2>"$work/log"; }
  get || { apt-get update -qq >/dev/null 2>&1 && get; } || fail "apt-get could not fetch: $(tail -n 1 "$work/log")"
  rm -rf "$unpacked"
  mkdir -p "$unpacked"
  for package in "$work"/debs/*.deb; do dpkg --extract "$package" "$unpacked"; done
  echo "${packages[*]}" >"$unpacked/whole"
fi

# What an image depends on beside its own sources: how archives are written, and when Debian's parts were fetched.
common=$(cat "$0" "$cluster/images/archive.sh" | sha256sum)$(stat -c %Y "$unpacked/whole")
key() { { echo "$common"; cat "$@"; } | sha256sum; }

key=$(key "$cluster/images/pause.c")
if ! made pause "$key"; then
  into=$work/pause
  mkdir "$into"
  gcc -Os -static -s -o "$into/pause" "$cluster/images/pause.c"
  archive pause "$key" "$into" "$NONROOT" /pause
fi

busybox=$unpacked/bin/busybox
# Every command of it by its name, in PATH behind what an image brings itself.
add_busybox() {
  local command
  add "$1" "$busybox" /bin/busybox
  for command in $("$busybox" --list); do
    [ -e "$1/bin/$command" ] || ln -s busybox "$1/bin/$command"
  done
}

key=$(key /dev/null)
if ! made busybox "$key"; then
  into=$(new_root busybox)
  add_busybox "$into"
  archive busybox "$key" "$into" "$NONROOT" /bin/sh
fi

# What sets a pod's redirect, as root with NET_ADMIN. The older iptables: gVisor knows that, and no nftables.
if ! made init "$key"; then
  into=$(new_root init)
  add "$into" "$unpacked/usr/sbin/xtables-legacy-multi" /usr/sbin/xtables-legacy-multi
  for command in iptables iptables-save iptables-restore; do ln -s xtables-legacy-multi "$into/usr/sbin/$command"; done
  extensions=usr/lib/$(gcc -print-multiarch)/xtables
  for extension in libxt_tcp libxt_udp libxt_standard libxt_owner libxt_multiport libxt_REDIRECT libipt_REDIRECT; do
    library=$unpacked/$extensions/$extension.so
    [ ! -e "$library" ] || add "$into" "$library" "/$extensions/$extension.so" 0644
  done
  add_busybox "$into"
  archive init "$key" "$into" 0 /bin/sh
fi

[ -z "$envoy" ] || key=$(key <(stat -L -c '%s %Y' "$envoy"))
if [ -n "$envoy" ] && ! made envoy "$key"; then
  into=$(new_root envoy)
  add "$into" "$envoy" /usr/bin/envoy
  # The second is for runs that compare proxies.
  TAGS="1 2" archive envoy "$key" "$into" "$NONROOT" /usr/bin/envoy
fi

contour=$("$root/scripts/go-part.sh" --folder contour)/contour
if [ -n "$envoy" ] && [ -x "$contour" ]; then
  key=$(key "$cluster/images/contour.sh" <(stat -L -c '%s %Y' "$contour"))
  if ! made contour "$key"; then
    into=$(new_root contour)
    add_busybox "$into"
    install -D -m 0755 "$contour" "$into/usr/lib/contour"
    install -D -m 0755 "$cluster/images/contour.sh" "$into/bin/contour"
    archive contour "$key" "$into" "$NONROOT" /bin/contour
  fi
fi

key=$(key "$cluster/images/nginx.conf")
if ! made nginx "$key"; then
  into=$(new_root nginx)
  add "$into" "$unpacked/usr/sbin/nginx" /usr/sbin/nginx
  install -D -m 0644 "$cluster/images/nginx.conf" "$into/etc/nginx/nginx.conf"
  # The kubelet looks whether it listens at the first address of its pod.
  ! has_ipv6 || sed -i 's/listen 8080/listen [::]:8080 ipv6only=off/' "$into/etc/nginx/nginx.conf"
  mkdir -p "$into/srv/bytes"
  letters() { head -c "$1" /dev/zero | tr '\0' h; }
  letters 1024 >"$into/srv/index.html"
  for size in 0 1 10 100 1000 1024 4096 10000 16384 65536 100000 262144 1000000 1048576; do
    letters "$size" >"$into/srv/bytes/$size"
  done
  archive nginx "$key" "$into" "$NONROOT" /usr/sbin/nginx -e stderr -c /etc/nginx/nginx.conf
fi

key=$(key /dev/null)
if ! made prometheus "$key"; then
  into=$(new_root prometheus)
  add "$into" "$unpacked/usr/bin/prometheus" /usr/bin/prometheus
  archive prometheus "$key" "$into" "$NONROOT" /usr/bin/prometheus
fi

# The tools that measure beside hopbench, with a shell to start them.
tools=("$(command -v iperf3)" "$(command -v ping)")
key=$(key <(stat -L -c '%n %s %Y' "${tools[@]}"))
if ! made peers "$key"; then
  into=$(new_root peers)
  for tool in "${tools[@]}"; do add "$into" "$tool" "/usr/bin/$(basename "$tool")"; done
  add_busybox "$into"
  archive peers "$key" "$into" "$NONROOT" /bin/sh
fi

# Whether cargo has something to do takes it long where others build, so that it is asked only when these change.
mapfile -t sources < <(find "$cluster/webhook" "$root/crates/mesh/src" -type f | sort)
key=$(key "${sources[@]}" "$root/crates/model/src/plan/mesh.rs")
if ! made webhook "$key"; then
  built=$(cd "$root" && cargo build --locked --quiet -p hopbench-test-webhook --message-format=json-render-diagnostics |
    jq -r 'select(.executable != null) | .executable')
  [ -x "$built" ] || fail "cargo did not build hopbench-test-webhook"
  into=$(new_root webhook)
  install -D -m 0755 "$built" "$into/webhook"
  strip "$into/webhook"
  archive webhook "$key" "$into" "$NONROOT" /webhook
fi
