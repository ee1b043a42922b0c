//! The building blocks of network kinds.

use std::io;

use crate::topology::addresses::{self, Subnet};
use crate::topology::kind::Site;
use crate::topology::node::Node;

/// A bridge on a node for the pods of a subnet, with the node as their gateway.
pub(super) fn bridge(node: &mut Node, name: &str, subnet: Subnet, mtu: u32) -> io::Result<()> {
    let netlink = &mut node.stack.netlink;
    netlink.add_bridge(name)?;
    netlink.set_mtu(name, mtu)?;
    netlink.set_up(name)?;
    node.add_address(name, subnet.gateway(), subnet.prefix)
}

/// A cable from the node, where it is called `port`, into the pod, where it is called `eth0`; not
/// up yet.
pub(super) fn cable(site: &mut Site<'_>, port: &str, mtu: u32) -> io::Result<()> {
    let netlink = &mut site.node.stack.netlink;
    netlink.add_veth(port, "eth0", &site.pod.namespace)?;
    netlink.set_mtu(port, mtu)?;
    site.pod.netlink.set_mtu("eth0", mtu)
}

/// The pod on a bridge of its node; `letter` begins the name of its port.
pub(super) fn on_bridge(
    site: &mut Site<'_>,
    bridge: &str,
    letter: char,
    mtu: u32,
) -> io::Result<()> {
    let (port, subnet) = (format!("{letter}{}", site.number), site.subnet);
    cable(site, &port, mtu)?;
    let netlink = &mut site.node.stack.netlink;
    netlink.set_master(&port, bridge)?;
    netlink.set_up(&port)?;
    site.pod.netlink.set_up("eth0")?;
    site.pod.add_address("eth0", site.address, subnet.prefix)?;
    site.pod.add_route(DEFAULT, Some(subnet.gateway()), None)
}

/// The pod's address and routes where its `eth0` is on the fabric: pods behind a node are reached
/// through the node.
pub(super) fn on_fabric(site: &mut Site<'_>) -> io::Result<()> {
    let pod = &mut *site.pod;
    pod.netlink.set_mtu("eth0", site.node.mtu)?;
    pod.netlink.set_up("eth0")?;
    pod.add_address("eth0", site.address, addresses::FABRIC.prefix)?;
    for node in 0..site.nodes {
        let pods = addresses::behind(node);
        pod.add_route((pods.base, pods.prefix), Some(addresses::node(node)), None)?;
    }
    Ok(())
}

/// Everything.
pub(super) const DEFAULT: (std::net::Ipv4Addr, u8) = (std::net::Ipv4Addr::UNSPECIFIED, 0);
