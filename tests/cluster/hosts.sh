# Hosts: each is a network, mount, PID and host name namespace with a cgroup of its own. Sourced, needs lib.sh.
# shellcheck shell=bash disable=SC2154

# Every cgroup hierarchy of this machine: the controllers of version 1, or the one of version 2.
hierarchies() {
  local folder
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    echo /sys/fs/cgroup
    return
  fi
  for folder in /sys/fs/cgroup/*/; do
    # `unified` beside version 1 has no controllers; links like cpu,cpuacct show the same twice.
    [ -L "${folder%/}" ] || [ -e "$folder/cgroup.controllers" ] || echo "${folder%/}"
  done
}

# A cgroup for HOST in every hierarchy: `daemons` for what this script starts; kubelet makes those of pods beside it.
make_cgroups() {
  local top folder part
  while read -r top; do
    folder=$top
    for part in hbc "$1" daemons; do
      if [ -e "$folder/cgroup.subtree_control" ]; then
        echo "+cpu +cpuset +memory +pids +io" >"$folder/cgroup.subtree_control"
      fi
      mkdir -p "$folder/$part"
      if [ -e "$folder/cpuset.cpus" ] && [ ! -e "$folder/cgroup.controllers" ]; then
        # In version 1 a cpuset without CPUs takes no process.
        cat "$folder/cpuset.cpus" >"$folder/$part/cpuset.cpus"
        cat "$folder/cpuset.mems" >"$folder/$part/cpuset.mems"
      fi
      folder=$folder/$part
    done
    # Or the whole cluster would have as much as any one process of a busy machine, and nodes would miss their leases.
    [ ! -e "$folder/cpu.shares" ] || echo 4096 | tee "$top/hbc/cpu.shares" "$folder/cpu.shares" >/dev/null
  done < <(hierarchies)
}

# Puts this shell, and what it starts, into HOST's cgroup.
join_cgroups() {
  local top
  while read -r top; do echo "$BASHPID" >"$top/hbc/$1/daemons/cgroup.procs"; done < <(hierarchies)
}

# The process that HOST stands and falls with: number 1 in its PID namespace.
init_of() {
  local top pid
  top=$(hierarchies | head -n 1)
  while read -r pid; do
    # Two numbers: what has a PID namespace of its own on the host, as gVisor's sandboxes, has three.
    if grep -Eq "^NSpid:[[:space:]]+[0-9]+[[:space:]]+1$" "/proc/$pid/status" 2>/dev/null; then
      echo "$pid"
      return
    fi
  done < <(cat "$top/hbc/$1/daemons/cgroup.procs" 2>/dev/null)
  return 1
}

start_host() {
  make_cgroups "$1"
  mkdir -p "$STATE/$1"
  (
    join_cgroups "$1"
    exec 9<&-
    # Not `ip netns exec`, which mounts another /sys without cgroups.
    exec setsid nsenter --net="/run/netns/hbc-$1" unshare --mount --uts --pid --fork \
      "$cluster/host-init.sh" "$1" "$STATE/$1" >"$STATE/$1/init.log" 2>&1 </dev/null
  ) &
  wait_for "host $1" 10 "$STATE/$1/init.log" test -e "$STATE/$1/started"
}

# Runs COMMAND on HOST: on HOST COMMAND...
on() {
  local pid
  pid=$(init_of "$1") || fail "host $1 is not there"
  shift
  nsenter --target "$pid" --net --mount --uts --pid -- "$@"
}

# Starts COMMAND on HOST for good; its output goes to $STATE/HOST/NAME.log: daemon HOST NAME COMMAND...
daemon() {
  local host=$1 log=$STATE/$1/$2.log
  shift 2
  (
    join_cgroups "$host"
    exec 9<&-
    # The shell ends at once, so that the host's init becomes the parent.
    # shellcheck disable=SC2016
    on "$host" bash -c 'log=$1; shift; cd /; setsid "$@" >"$log" 2>&1 </dev/null &' - "$log" "$@"
  )
}
