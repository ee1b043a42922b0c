//! `overlay`: a cable to a bridge of the node, and a VXLAN tunnel between the nodes.
//!
//! Every node knows every other node's route through the tunnel, its MAC address there, and its
//! address below the tunnel. Nothing is learned and nothing is flooded.

use std::io;

use super::blocks;
use crate::topology::addresses::{self, Subnets};
use crate::topology::kind::{NetworkKind, Reach, Site};
use crate::topology::node::Node;

#[derive(Debug)]
pub(super) struct Overlay;

const BRIDGE: &str = "ov0";
const TUNNEL: &str = "vxlan0";
const NETWORK: u32 = 1;
/// The port that IANA gave to VXLAN.
const PORT: u16 = 4789;
/// Outer IPv4 (20), UDP (8) and VXLAN (8) headers and the inner Ethernet header (14).
const HEADER_BYTES: u32 = 50;

impl NetworkKind for Overlay {
    fn name(&self) -> &'static str {
        "overlay"
    }

    fn summary(&self) -> &'static str {
        "veth to a bridge of the node, through VXLAN between nodes"
    }

    fn reach(&self) -> Reach {
        Reach::Routed { segment: Some(BRIDGE), tunnel: Some(TUNNEL) }
    }

    fn header_bytes(&self) -> u32 {
        HEADER_BYTES
    }

    fn prepare(&self, nodes: &mut [Node], subnets: Subnets) -> io::Result<()> {
        for node in &mut *nodes {
            let inner = node.mtu - HEADER_BYTES;
            let pods = subnets.behind(node.number);
            blocks::bridge(node, BRIDGE, pods, inner)?;
            let netlink = &mut node.stack.netlink;
            netlink.add_vxlan(TUNNEL, NETWORK, addresses::node(node.number), "eth0", PORT)?;
            netlink.set_mtu(TUNNEL, inner)?;
            netlink.set_up(TUNNEL)?;
            node.add_address(TUNNEL, pods.tunnel(), 32)?;
        }
        let ends = nodes
            .iter_mut()
            .map(|node| Ok((node.number, node.stack.netlink.mac(TUNNEL)?)))
            .collect::<io::Result<Vec<_>>>()?;
        for node in nodes {
            let stack = &mut node.stack;
            for (other, mac) in ends.iter().filter(|(other, _)| *other != node.number) {
                let pods = subnets.behind(*other);
                stack.add_neighbour(TUNNEL, pods.tunnel(), *mac)?;
                stack.netlink.add_fdb(TUNNEL, *mac, addresses::node(*other))?;
                stack.add_route((pods.tunnel(), 32), None, Some(TUNNEL))?;
                stack.add_route((pods.base, pods.prefix), Some(pods.tunnel()), Some(TUNNEL))?;
            }
        }
        Ok(())
    }

    fn attach(&self, site: &mut Site<'_>) -> io::Result<()> {
        blocks::on_bridge(site, BRIDGE, 'o', site.node.mtu - HEADER_BYTES)
    }
}
