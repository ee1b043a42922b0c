# The pod networks of a node, as CNI describes them: one folder each, since containerd takes a folder for a runtime.
# Sourced, needs lib.sh.
# shellcheck shell=bash

# The first is what pods get that ask for none; each other one has a RuntimeClass of its name.
POD_NETWORKS=(routed overlay ptp macvlan eni)

# Writes them below FOLDER: write_pod_networks NODE FOLDER
write_pod_networks() {
  local network
  for network in "${POD_NETWORKS[@]}"; do
    mkdir -p "$2/$network"
    "$network" "$1" >"$2/$network/10-$network.conflist"
  done
}

# Of this node only: a bridge, whose other ports are the node's other pods.
routed() { bridged routed cni0 1500 "$(routed_pods "$1")" "$(routed_pods6 "$1")"; }
# The same with room for what the VXLAN adds to a packet.
overlay() { bridged overlay cni1 1450 "$(overlay_pods "$1")" "$(overlay_pods6 "$1")"; }
# No bridge: the node has a veth and a route for each pod.
ptp() { network ptp '"type": "ptp", "mtu": 1500' "$(range "$(ptp_pods "$1")")" "$(default_route)" portmap; }
# Many on the node's own NIC, and on the hosts' wire.
macvlan() {
  local range way
  range=$(range "$FABRIC.0/24" "$(first_macvlan "$1")" "$(last_macvlan "$1")")
  way=$(macvlan_way "$1")
  network macvlan '"type": "macvlan", "master": "eth0", "mode": "bridge"' "$range" "$(routes "$1" "$way")"
}
# A NIC of its own on that wire, for one pod of the node at a time.
eni() {
  local range
  range=$(range "$FABRIC.0/24" "$(eni_address "$1")" "$(eni_address "$1")")
  network eni '"type": "host-device", "device": "eni0"' "$range" "$(routes "$1" "$(address "$1")")"
}

network() { # NAME PLUGIN RANGES ROUTES [portmap]
  local more=""
  [ -z "${5:-}" ] || more=', {"type": "portmap", "capabilities": {"portMappings": true}}'
  cat <<JSON
{
  "cniVersion": "0.4.0",
  "name": "$1",
  "plugins": [
    {
      $2,
      "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[$3]], "routes": [$4]}
    }$more
  ]
}
JSON
}

bridged() { # NAME BRIDGE MTU PODS PODS6
  local ranges routes
  ranges=$(range "$4") routes=$(default_route)
  if has_ipv6; then
    # A second set of ranges: an address of each.
    ranges+="], [$(range "$5")" routes+=', {"dst": "::/0"}'
  fi
  network "$1" "$(on_bridge "$2" "$3")" "$ranges" "$routes" portmap
}

on_bridge() { echo "\"type\": \"bridge\", \"bridge\": \"$1\", \"mtu\": $2, \"isGateway\": true, \"hairpinMode\": true"; }
range() { echo "{\"subnet\": \"$1\"${2:+, \"rangeStart\": \"$2\", \"rangeEnd\": \"$3\"}}"; }
default_route() { echo '{"dst": "0.0.0.0/0"}'; }
one_route() { echo "{\"dst\": \"$1\", \"gw\": \"$2\"}"; }

# From the hosts' wire to everybody who is not on it; to Services and to pods of NODE itself by way of WAY:
# routes NODE WAY
routes() {
  local node way pods list
  list="$(one_route "$SERVICES" "$2")"
  # The node itself.
  [ "$2" = "$(address "$1")" ] || list+=", $(one_route "$(address "$1")/32" "$2")"
  for node in "${NODES[@]}"; do
    way=$(address "$node")
    [ "$node" != "$1" ] || way=$2
    for pods in "$(routed_pods "$node")" "$(overlay_pods "$node")" "$(ptp_pods "$node")"; do
      list+=", $(one_route "$pods" "$way")"
    done
  done
  echo "$list"
}
