#!/usr/bin/env bash
# The first process of a host, started by hosts.sh in its namespaces: host-init.sh NAME FOLDER. Gives the host its own
# /proc, /sys, /run, /var/log and /var/lib/cni, then collects the processes that nobody waits for. What it mounts goes
# with it.
set -euo pipefail
name=$1 folder=$2

hostname "$name"
mount -t proc proc /proc
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir -p /run/netns /run/lock
# /sys shows the links of the network namespace that it was mounted in; the cgroups stay those of the machine.
cgroups=/run/cgroups
mkdir "$cgroups"
mount --rbind /sys/fs/cgroup "$cgroups"
mount -t sysfs sysfs /sys
mount --rbind "$cgroups" /sys/fs/cgroup
umount -l "$cgroups"
rmdir "$cgroups"
for path in /var/log /var/lib/cni; do
  mkdir -p "$folder$path"
  mount --bind "$folder$path" "$path"
done
# As on a machine with systemd: pods may ask for mounts that show up on the host.
mount --make-rshared /
ulimit -n 65536 2>/dev/null || true
touch "$folder/started"

# A shell collects every child that ends, adopted ones too.
while :; do
  sleep 3600 &
  wait $! || true
done
