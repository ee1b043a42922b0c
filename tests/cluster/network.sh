# The wires: a bridge in a namespace of its own, a link from there to every host and one to this machine, a VXLAN
# between the nodes, and the nodes' further NICs. Sourced, needs lib.sh.
# shellcheck shell=bash

make_network() {
  local host other
  # Where these are modules. Without the first, a pod's packets to its neighbour would bypass kube-proxy.
  modprobe --all --quiet br_netfilter overlay vxlan macvlan 2>/dev/null || true
  ip netns add hbc-fabric
  ip -n hbc-fabric link add fabric type bridge
  # The hosts' default gateway. It forwards nothing, so that no packet leaves the cluster.
  ip -n hbc-fabric address add "$FABRIC.254/24" dev fabric
  ip -n hbc-fabric link set fabric up
  if has_ipv6; then
    nsenter --net=/run/netns/hbc-fabric sysctl -qw net.ipv6.conf.all.disable_ipv6=0
    ip -n hbc-fabric address add "$FABRIC6:254/64" dev fabric nodad
  fi
  for host in "${HOSTS[@]}"; do make_host_network "$host"; done
  for host in "${HOSTS[@]}"; do
    for other in "${NODES[@]}"; do
      [ "$host" = "$other" ] || reach_pods "$host" "$other"
    done
  done
  # This machine's own end, for kubectl and the tests.
  ip link add hbc0 type veth peer name machine netns hbc-fabric
  ip -n hbc-fabric link set machine master fabric up
  ip address add "$FABRIC.1/24" dev hbc0
  ip link set hbc0 up
}

make_host_network() {
  local space=hbc-$1
  ip netns add "$space"
  # Pods of the overlay answer hosts by another way than they were asked. Those on the hosts' wire ask a node for
  # Services, and must not be told that there is a shorter way.
  nsenter --net="/run/netns/$space" sysctl -qw net.ipv4.ip_forward=1 \
    net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
    net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.default.send_redirects=0
  ip -n "$space" link set lo up
  ip -n hbc-fabric link add "$1" type veth peer name eth0 netns "$space"
  ip -n hbc-fabric link set "$1" master fabric up
  ip -n "$space" address add "$(address "$1")/24" dev eth0
  ip -n "$space" link set eth0 up
  ip -n "$space" route add default via "$FABRIC.254"
  ! has_ipv6 || make_host_ipv6 "$1"
  [ "$1" = cp ] || make_node_links "$1"
}

# Addresses are given, and nobody is asked whether somebody has them.
make_host_ipv6() {
  nsenter --net="/run/netns/hbc-$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 \
    net.ipv6.conf.default.disable_ipv6=0 net.ipv6.conf.all.forwarding=1 \
    net.ipv6.conf.default.accept_ra=0 net.ipv6.conf.default.accept_dad=0
  ip -n "hbc-$1" address add "$(address6 "$1")/64" dev eth0 nodad
  ip -n "hbc-$1" route add default via "$FABRIC6:254"
}

make_node_links() {
  make_vxlan "$1"
  make_macvlan "$1"
  make_eni "$1"
}

# The same for everybody, so that each node knows the others' without asking.
vxlan_mac() { printf '02:68:62:63:00:%02x\n' "${NUMBER[$1]}"; }
vxlan_address() { echo "10.245.${NUMBER[$1]}.0"; }
vxlan_address6() { echo "fd68:245:${NUMBER[$1]}::ffff"; }

make_vxlan() {
  ip -n "hbc-$1" link add vxlan0 address "$(vxlan_mac "$1")" mtu 1450 \
    type vxlan id 77 local "$(address "$1")" dstport 4789 nolearning dev eth0
  ip -n "hbc-$1" address add "$(vxlan_address "$1")/32" dev vxlan0
  ! has_ipv6 || ip -n "hbc-$1" address add "$(vxlan_address6 "$1")/128" dev vxlan0 nodad
  ip -n "hbc-$1" link set vxlan0 up
}

# Pods that share the node's NIC cannot talk to it, but to one like theirs, which the node has for that: the kubelet's
# probes need it.
make_macvlan() {
  ip -n "hbc-$1" link add macvlan0 link eth0 type macvlan mode bridge
  # Or it would answer on the wire for the node's other address, too.
  nsenter --net="/run/netns/hbc-$1" sysctl -qw net.ipv4.conf.macvlan0.arp_ignore=1
  ip -n "hbc-$1" address add "$(macvlan_way "$1")/32" dev macvlan0
  ip -n "hbc-$1" link set macvlan0 up
  ip -n "hbc-$1" route add "$(macvlan_pods "$1")" dev macvlan0 src "$(macvlan_way "$1")"
}

# A second NIC, which the node leaves alone: it goes into the pod that asks for it, and comes back from there.
make_eni() {
  ip -n hbc-fabric link add "$1-eni" type veth peer name eni0 netns "hbc-$1"
  ip -n hbc-fabric link set "$1-eni" master fabric up
}

# The way from HOST to the pods on NODE, in every pod network that is not on the hosts' wire.
reach_pods() {
  local space=hbc-$1 node=$2
  ip -n "$space" route add "$(routed_pods "$node")" via "$(address "$node")"
  ! has_ipv6 || ip -n "$space" route add "$(routed_pods6 "$node")" via "$(address6 "$node")"
  ip -n "$space" route add "$(ptp_pods "$node")" via "$(address "$node")"
  if [ "$1" = cp ]; then
    ip -n "$space" route add "$(overlay_pods "$node")" via "$(address "$node")"
    ! has_ipv6 || ip -n "$space" route add "$(overlay_pods6 "$node")" via "$(address6 "$node")"
    return
  fi
  ip -n "$space" neighbour add "$(vxlan_address "$node")" lladdr "$(vxlan_mac "$node")" dev vxlan0 nud permanent
  bridge -n "$space" fdb append "$(vxlan_mac "$node")" dev vxlan0 dst "$(address "$node")"
  ip -n "$space" route add "$(overlay_pods "$node")" via "$(vxlan_address "$node")" dev vxlan0 onlink
  has_ipv6 || return 0
  ip -n "$space" neighbour add "$(vxlan_address6 "$node")" lladdr "$(vxlan_mac "$node")" dev vxlan0 nud permanent
  ip -n "$space" route add "$(overlay_pods6 "$node")" via "$(vxlan_address6 "$node")" dev vxlan0 onlink
}
