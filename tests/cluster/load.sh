#!/usr/bin/env bash
# Gives images to every node, since none can be pulled: load.sh TAR..., docker-archives; without any, those of images.sh.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source "$cluster/hosts.sh"

need_root
[ $# -gt 0 ] || set -- "$CACHE"/images/*.tar
images=()
for image in "$@"; do
  [ -e "$image" ] || fail "there is no image $image"
  images+=("$(realpath "$image")")
done

load() { # NODE
  local image
  for image in "${images[@]}"; do
    on "$1" ctr -n k8s.io images import "$image" >/dev/null || fail "containerd on $1 does not take $image"
  done
}

pids=()
for node in "${NODES[@]}"; do
  load "$node" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || exit 1; done
