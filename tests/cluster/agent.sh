#!/usr/bin/env bash
# Gives every node hopbench.test/agent:1, an image of a hopbench on another base than that of `hopbench kube image`:
# agent.sh PROGRAM. It has a shell beside the program, so that runs can compare agents of two images.
set -euo pipefail
umask 022
source "$(dirname "$0")/lib.sh"
# shellcheck source=images/archive.sh
source "$cluster/images/archive.sh"

if [ $# -ne 1 ] || [ ! -x "$1" ]; then fail "usage: agent.sh PROGRAM, a hopbench for the nodes"; fi
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
images=$work/images
mkdir "$images"
unpacked=$CACHE/debian

into=$(new_root agent)
install -D -m 0755 "$program" "$into/hopbench"
add "$into" "$unpacked/bin/busybox" /bin/busybox
ln -s busybox "$into/bin/sh"
archive agent "" "$into" "$NONROOT" /hopbench
"$cluster/load.sh" "$images/agent.tar"
