//! `bridge`: a cable to a bridge of the node; a subnet a node, routed between the nodes.

use std::io;

use super::blocks;
use crate::topology::addresses::Subnets;
use crate::topology::kind::{NetworkKind, Reach, Site};
use crate::topology::node::Node;

#[derive(Debug)]
pub(super) struct Bridge;

const BRIDGE: &str = "br0";

impl NetworkKind for Bridge {
    fn name(&self) -> &'static str {
        "bridge"
    }

    fn summary(&self) -> &'static str {
        "veth to a bridge of the node, routed between nodes"
    }

    fn reach(&self) -> Reach {
        Reach::Routed { segment: Some(BRIDGE), tunnel: None }
    }

    fn prepare(&self, nodes: &mut [Node], subnets: Subnets) -> io::Result<()> {
        nodes.iter_mut().try_for_each(|node| {
            let mtu = node.mtu;
            blocks::bridge(node, BRIDGE, subnets.behind(node.number), mtu)
        })
    }

    fn attach(&self, site: &mut Site<'_>) -> io::Result<()> {
        blocks::on_bridge(site, BRIDGE, 'b', site.node.mtu)
    }
}
